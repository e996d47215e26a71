package diagnose

import (
	"context"

	"github.com/georag/georag/core"
)

// watch remembers what the store answered to the last search. The stage completes the hits of that answer in place
// where it fetches their vectors, so after a selection the answer holds all that competed.
type watch struct {
	core.Store
	found core.SearchResult
}

// Search implements [core.Store].
func (w *watch) Search(ctx context.Context, req core.SearchRequest) (core.SearchResult, error) {
	found, err := w.Store.Search(ctx, req)
	w.found = found
	return found, err
}

// competed returns every candidate with a vector, the main ones first, in the store's order.
func (w *watch) competed(pool core.Pool) []core.Candidate {
	all, seen := []core.Candidate(nil), map[core.ID]bool{}
	add := func(c core.Candidate) {
		if c.Vector != nil && !seen[c.ID] {
			seen[c.ID] = true
			all = append(all, c)
		}
	}
	for _, c := range w.found.Candidates {
		add(c)
	}
	if pool.Union() {
		for _, result := range w.found.SubQueries {
			for _, hit := range result.Hits {
				add(hit)
			}
		}
	}
	return all
}
