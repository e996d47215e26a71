// Package core is the vocabulary of demand-aware passage selection and its one data flow.
//
// A [Stage] takes a [Query] to a [Store], asks which parts of the question need evidence, and returns the
// [Selection] of k passages that together cover them:
//
//	Query → Planner → Store.Search → demand.Build → filter → pick.Select → Selection
//
// Each arrow is one call in stage.go. The numerics live in the sub-packages vec, demand, ot, pick, filter and
// measure, which know nothing of stores or identifiers; the outside is reached only through the ports [Store],
// [Embedder], [SubQueryWriter], [Reranker] and [ConflictScorer].
//
// A fault is either returned as an error that wraps one of the sentinels below, or listed in the trace as a
// [Reason] why the result is degraded; never both, never neither.
package core
