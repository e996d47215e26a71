// Package rerank reaches cross-encoders over HTTP: a [Client] scores passages against a query in the dialect of Cohere,
// Jina, TEI, Voyage or vLLM, and a [ConflictScorer] asks a natural language inference model behind TEI's /predict how
// likely two texts contradict each other.
//
// The dialect is configured, never guessed from an answer. A request holds at most the number of passages that the
// server takes; scores come back in the order of the passages, one each, and an answer that leaves any out is an error.
package rerank
