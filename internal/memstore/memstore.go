// Package memstore is a store over the few passages that one request brings.
package memstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

// Store is searched exhaustively, by cosine. The IDs of its passages are their positions.
type Store struct{ passages []core.Candidate }

var _ core.Store = (*Store)(nil)

// New returns a store of the texts with their vectors; len(vectors) = len(texts). A vector may be unusable.
func New(texts []string, vectors [][]float32) *Store {
	s := &Store{passages: make([]core.Candidate, len(texts))}
	for i, text := range texts {
		s.passages[i] = core.Candidate{ID: core.IntID(int64(i)), Vector: vectors[i], Payload: map[string]any{"text": text}}
	}
	return s
}

// Len is the number of passages.
func (s *Store) Len() int { return len(s.passages) }

// Search returns the nearest passages by cosine; those without a usable vector come last.
func (s *Store) Search(_ context.Context, req core.SearchRequest) (core.SearchResult, error) {
	result := core.SearchResult{Candidates: s.nearest(req.Vector, req.K)}
	for _, q := range req.SubQueries {
		result.SubQueries = append(result.SubQueries, core.SubQueryResult{Hits: s.nearest(q, req.Depth)})
	}
	return result, nil
}

func (s *Store) nearest(q []float32, k int) []core.Candidate {
	hits := slices.Clone(s.passages)
	for i := range hits {
		if hits[i].Score = -1; vec.Check(hits[i].Vector, len(q)) == nil {
			hits[i].Score = vec.Cosine(hits[i].Vector, q)
		}
	}
	slices.SortStableFunc(hits, func(a, b core.Candidate) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(k, len(hits))]
}

// Fetch returns passages by position.
func (s *Store) Fetch(_ context.Context, req core.FetchRequest) ([]core.Candidate, error) {
	var found []core.Candidate
	for _, id := range req.IDs {
		if i, ok := id.Int(); ok && i >= 0 && i < int64(len(s.passages)) {
			found = append(found, s.passages[i])
		}
	}
	return found, nil
}

// Close does nothing: the passages end with their request.
func (s *Store) Close() error { return nil }
