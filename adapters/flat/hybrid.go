package flat

import (
	"context"
	"fmt"

	"github.com/georag/georag/core"
)

// rrfConstant is that of Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual
// Rank Learning Methods" (2009).
const rrfConstant = 60

// checkRetrieval reports a retrieval that the request lacks something for.
func checkRetrieval(req core.SearchRequest) error {
	switch req.Retrieval {
	case core.RetrieveDense:
		return nil
	case core.RetrieveLexical, core.RetrieveHybrid:
		if req.Text == "" {
			return fmt.Errorf("adapters/flat: %w: %s retrieval needs the text of the question", core.ErrInvalid, req.Retrieval)
		}
		return nil
	default:
		return fmt.Errorf("adapters/flat: retrieval %q: %w", req.Retrieval, core.ErrUnsupported)
	}
}

// main returns the hits of the main query, given what the vector searches found.
func (s *Store) main(ctx context.Context, req core.SearchRequest, admitted rows, found [][]hit) ([]hit, error) {
	if req.Retrieval == core.RetrieveDense {
		return found[0], nil
	}
	words, err := s.lexicon(ctx)
	if err != nil {
		return nil, err
	}
	k := min(req.K, admitted.len())
	lexical := words.search(req.Text, k, s.ids, admitted)
	if req.Retrieval == core.RetrieveLexical {
		return lexical, nil
	}
	return s.fuse(k, found[0], lexical), nil
}

// fuse returns the k best of several rankings by their reciprocal ranks.
func (s *Store) fuse(k int, rankings ...[]hit) []hit {
	scores := make(map[int32]float64)
	for _, hits := range rankings {
		for rank, h := range hits {
			scores[h.row] += 1 / float64(rrfConstant+rank+1)
		}
	}
	best := ranking{ids: s.ids, most: k}
	for row, score := range scores {
		best.offer(hit{row: row, score: score})
	}
	return best.sorted()
}
