package qdrant

import (
	"context"
	"fmt"

	qd "github.com/qdrant/go-client/qdrant"

	"github.com/georag/georag/core"
)

// SelectMMR has the server select k of its K nearest points by maximal marginal relevance, over its own metric.
// The candidates are in the server's order of selection; their scores are those of relevance, so they need not
// descend. Needs Qdrant 1.15.
func (s *Store) SelectMMR(ctx context.Context, req core.SearchRequest, k int, diversity float64) (core.SearchResult, error) {
	if k < 1 || !(diversity >= 0 && diversity <= 1) {
		return core.SearchResult{}, fmt.Errorf("adapters/qdrant: mmr of k %d, diversity %v: %w: k must be at least 1 and diversity in [0, 1]", k, diversity, core.ErrInvalid)
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	p, err := s.planSearch(ctx, req)
	if err != nil {
		return core.SearchResult{}, err
	}
	result := core.SearchResult{Conversions: conversions(p.field.distance, core.RetrieveDense)}
	q := s.full(s.query(p), p.field)
	limit, spread, pool := uint64(k), float32(diversity), uint32(max(req.K, k))
	q.Limit = &limit
	q.Query = qd.NewQueryMMR(qd.NewVectorInputDense(req.Vector), &qd.Mmr{Diversity: &spread, CandidatesLimit: &pool})
	lists, err := s.batch(ctx, []*qd.QueryPoints{q}, &result)
	if err != nil {
		return core.SearchResult{Calls: result.Calls}, err
	}
	chosen := lists[0].GetResult()
	if len(chosen) == 0 {
		return result, fmt.Errorf("adapters/qdrant: mmr on collection %q: %w: nothing is in the scope", s.cfg.Collection, core.ErrEmptyIndex)
	}
	for _, point := range chosen {
		c, err := s.candidates(p.field, p.field.distance, []*qd.ScoredPoint{point}, true)
		if err != nil {
			return result, err
		}
		result.Candidates = append(result.Candidates, c...)
	}
	return result, nil
}
