// Package diagnose tells how well an index serves a sample of questions: how redundant its answers are, which parts
// of the questions they cover and why the others stay uncovered, whether the sub-queries are of use, and whether the
// index itself is sound. What is wrong comes out as [Advice], in words and with the number behind it.
//
//	queries ─► Stage.Select, watched ─► one record each ─► Report ─► Advice
//	index   ─► Scan ─► Health ──────────────────────────┘
//
// Memory does not grow with the dimension of the vectors: of a query only its record's figures and the counts of its
// nearest passages are kept (1 kB), of a passage its norm and a hash of its vector (100 bytes), and some 3 MB in all
// for the exact search. Records can go to a state file, from which an interrupted run goes on; the scan of the index
// that follows the queries starts anew.
package diagnose
