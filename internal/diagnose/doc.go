// Package diagnose tells how well an index serves a sample of questions: how redundant its answers are, which parts
// of the questions they cover and why the others stay uncovered, whether the sub-queries are of use, and whether the
// index itself is sound. What is wrong comes out as [Advice], in words and with the number behind it.
//
//	queries ─► Stage.Select, watched ─► one record each ─► Report ─► Advice
//	index   ─► Scan ─► Health ──────────────────────────┘
//
// Memory does not grow with the number of dimensions times the number of queries: of a query only its record's
// figures are kept (some 200 bytes) and the IDs of its nearest passages are counted; of a passage its norm and a hash
// of its vector (some 80 bytes). Records can go to a state file, from which an interrupted run goes on.
package diagnose
