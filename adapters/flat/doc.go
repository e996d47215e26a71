// Package flat is the [core.Store] over a folder of files, searched exactly: every query is compared with every
// passage, as by FAISS IndexFlatIP, so a search never misses a neighbour. It needs no server.
//
// A folder holds
//
//   - passages.jsonl: one JSON object a line with an "id" (integer or string) and any other fields, the payload;
//   - passages.npy: float32 or float16, C order, n × d; row i is the vector of line i+1.
//
// A folder written by a [Loader] holds index.json instead, which names the pairs of such files that make up the
// index. Files it does not name are no part of the index.
//
// The vectors are mapped into memory and the payload is read when it is asked for. The main query and all
// sub-queries share one pass over the vectors. Scores are computed in float64 and equal scores are ordered by ID,
// so the answer is the same on any machine with any number of processors. A stored vector that is not finite
// ranks last, with score −Inf.
//
// # Lexical retrieval
//
// Lexical retrieval ranks by BM25 (k₁ = 1.2, b = 0.75) over the passages' text, hybrid retrieval fuses that ranking with
// the nearest vectors by reciprocal ranks. The index of words is made in memory by the first such search. Word
// frequencies are those of the whole index, whatever the scope; a passage without any word of the question is not found.
//
// # Filters
//
// A filter is a JSON object whose conditions must all hold:
//
//	{"lang": "en", "year": {"gte": 2000, "lt": 2010}, "tag": ["a", "b"], "title": {"ne": "X"}}
//
// A scalar means equal, an array means equal to one of its elements. The operators are eq, ne, gt, gte, lt and lte;
// eq and ne take a scalar or an array, the others a number or a string (compared by bytes, so ISO dates work).
// Where a passage's field is an array, one element that satisfies the condition is enough; "ne" holds where no element is
// equal and where the field is absent. The same conditions in short form are joined by commas:
//
//	lang=en,year>=2000,title!=X,note="a, b"
//
// where a value without quotes is equal to the string as well as to the number, true, false or null it spells.
// A field that no passage has is [core.ErrNotFound], since it is most likely misspelt.
package flat
