// Package eino gives georag to programs built with Eino (github.com/cloudwego/eino):
//
//   - [Retriever], a retriever.Retriever: passages of the vector database that together cover what the question needs;
//   - [Transformer], a document.Transformer: the same choice among documents that another retriever found.
//
// Both run Eino's callbacks; the extra value [ExtraTrace] of their end is the trace, which tells why each passage was
// chosen and what was degraded.
package eino

// ExtraTrace is the key of the core.Trace among the extra values of a callback's output.
const ExtraTrace = "georag_trace"

// MetaCovers is the key of a retrieved document's metadata that lists, as []string, the sub-queries it answers.
const MetaCovers = "georag_covers"
