package httpapi

import (
	"cmp"
	"context"
	"slices"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

// documents is a store over the few passages that one request brings, searched exhaustively. Their IDs are their
// positions in the request.
type documents struct{ passages []core.Candidate }

var _ core.Store = documents{}

func newDocuments(texts []string, vectors [][]float32) documents {
	d := documents{passages: make([]core.Candidate, len(texts))}
	for i, text := range texts {
		d.passages[i] = core.Candidate{ID: core.IntID(int64(i)), Vector: vectors[i], Payload: map[string]any{"text": text}}
	}
	return d
}

// Search returns the nearest documents by cosine; those without a usable vector come last.
func (d documents) Search(_ context.Context, req core.SearchRequest) (core.SearchResult, error) {
	result := core.SearchResult{Candidates: d.nearest(req.Vector, req.K)}
	for _, q := range req.SubQueries {
		result.SubQueries = append(result.SubQueries, core.SubQueryResult{Hits: d.nearest(q, req.Depth)})
	}
	return result, nil
}

func (d documents) nearest(q []float32, k int) []core.Candidate {
	hits := slices.Clone(d.passages)
	for i := range hits {
		if hits[i].Score = -1; vec.Check(hits[i].Vector, len(q)) == nil {
			hits[i].Score = vec.Cosine(hits[i].Vector, q)
		}
	}
	slices.SortStableFunc(hits, func(a, b core.Candidate) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(k, len(hits))]
}

// Fetch returns documents by position.
func (d documents) Fetch(_ context.Context, req core.FetchRequest) ([]core.Candidate, error) {
	var found []core.Candidate
	for _, id := range req.IDs {
		if i, ok := id.Int(); ok && i >= 0 && i < int64(len(d.passages)) {
			found = append(found, d.passages[i])
		}
	}
	return found, nil
}

// Close does nothing: the documents end with their request.
func (d documents) Close() error { return nil }
