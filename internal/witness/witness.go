// Package witness looks over a stage's shoulder: it remembers which passages the store proposed, so that a report or a
// page can show them beside those that were chosen.
package witness

import (
	"context"

	"github.com/georag/georag/core"
)

// Store remembers what the store behind it answered to the last search. The stage completes the hits of that answer in
// place where it fetches their vectors, so after a selection the answer holds all that competed. A Store serves one
// selection at a time.
type Store struct {
	core.Store
	Found core.SearchResult
}

// Search implements [core.Store].
func (s *Store) Search(ctx context.Context, req core.SearchRequest) (core.SearchResult, error) {
	found, err := s.Store.Search(ctx, req)
	s.Found = found
	return found, err
}

// Competed returns every candidate with a vector, the main ones first, in the store's order.
func (s *Store) Competed(pool core.Pool) []core.Candidate {
	all, seen := []core.Candidate(nil), map[core.ID]bool{}
	add := func(c core.Candidate) {
		if c.Vector != nil && !seen[c.ID] {
			seen[c.ID] = true
			all = append(all, c)
		}
	}
	for _, c := range s.Found.Candidates {
		add(c)
	}
	if pool.Union() {
		for _, result := range s.Found.SubQueries {
			for _, hit := range result.Hits {
				add(hit)
			}
		}
	}
	return all
}
