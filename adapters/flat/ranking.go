package flat

import (
	"container/heap"
	"slices"

	"github.com/georag/georag/core"
)

// hit is a row and its score, never NaN.
type hit struct {
	row   int32
	score float64
}

// ranking keeps the best hits: a heap with the worst of them at its root.
type ranking struct {
	ids  []core.ID
	most int
	hits []hit
}

// offer takes h in where it belongs to the best.
func (r *ranking) offer(h hit) {
	switch {
	case len(r.hits) < r.most:
		heap.Push(r, h)
	case r.order(h, r.hits[0]) < 0:
		r.hits[0] = h
		heap.Fix(r, 0)
	}
}

// order is negative where a comes before b: higher scores first, equal ones by ID.
func (r *ranking) order(a, b hit) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	default:
		return core.CompareID(r.ids[a.row], r.ids[b.row])
	}
}

// sorted returns the hits best first.
func (r *ranking) sorted() []hit {
	slices.SortFunc(r.hits, r.order)
	return r.hits
}

// Len, Less, Swap, Push and Pop are those of [heap.Interface].
func (r *ranking) Len() int           { return len(r.hits) }
func (r *ranking) Less(i, j int) bool { return r.order(r.hits[i], r.hits[j]) > 0 }
func (r *ranking) Swap(i, j int)      { r.hits[i], r.hits[j] = r.hits[j], r.hits[i] }
func (r *ranking) Push(h any)         { r.hits = append(r.hits, h.(hit)) }
func (r *ranking) Pop() any           { panic("adapters/flat: a ranking only grows") }
