package flat

import (
	"context"
	"fmt"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

// Search compares the main query and all sub-queries with every passage of the scope in one pass. The answer
// comes with the vectors and payloads of sub-query hits outside the main result, where they are asked for: they
// lie at hand.
func (s *Store) Search(ctx context.Context, req core.SearchRequest) (core.SearchResult, error) {
	start := time.Now()
	done, err := s.use(ctx)
	if err != nil {
		return core.SearchResult{}, err
	}
	defer done()
	result := core.SearchResult{SubQueries: make([]core.SubQueryResult, len(req.SubQueries)), Conversions: s.conversions(req.Retrieval)}
	searches, err := s.searches(req, result.SubQueries)
	if err != nil {
		return core.SearchResult{}, err
	}
	admitted, err := s.scope(req.Scope)
	if err != nil {
		return core.SearchResult{}, err
	}
	if admitted.len() == 0 {
		return core.SearchResult{}, fmt.Errorf("adapters/flat: %s: %w: no passage is in the scope", s.where.name(""), core.ErrEmptyIndex)
	}
	found, err := s.nearest(ctx, searches, admitted)
	if err != nil {
		return core.SearchResult{}, err
	}
	main, err := s.main(ctx, req, admitted, found)
	if err != nil {
		return core.SearchResult{}, err
	}
	if err := s.answer(req, &result, main, searches, found); err != nil {
		return core.SearchResult{}, err
	}
	result.Calls = []core.Call{{Name: "search", Duration: time.Since(start)}}
	return result, nil
}

// search is one vector to look for.
type search struct {
	vector []float32
	k      int
	sub    int // its sub-query, or mainSearch
}

const mainSearch = -1

// searches checks a request. A sub-query that cannot be searched is noted in its result and left out.
func (s *Store) searches(req core.SearchRequest, subQueries []core.SubQueryResult) ([]search, error) {
	if req.K < 1 {
		return nil, fmt.Errorf("adapters/flat: %w: K is %d, want at least 1", core.ErrInvalid, req.K)
	}
	if len(req.SubQueries) > 0 && req.Depth < 1 {
		return nil, fmt.Errorf("adapters/flat: %w: depth is %d, want at least 1", core.ErrInvalid, req.Depth)
	}
	if err := checkRetrieval(req); err != nil {
		return nil, err
	}
	var searches []search
	if req.Retrieval != core.RetrieveLexical {
		if err := vec.Check(req.Vector, s.dim); err != nil {
			return nil, fmt.Errorf("adapters/flat: query vector: %w", err)
		}
		searches = append(searches, search{req.Vector, req.K, mainSearch})
	}
	for j, v := range req.SubQueries {
		if err := vec.Check(v, s.dim); err != nil {
			subQueries[j].Err = fmt.Errorf("adapters/flat: sub-query %d: %w", j, err)
			continue
		}
		searches = append(searches, search{v, req.Depth, j})
	}
	return searches, nil
}

// answer turns the rows found into candidates.
func (s *Store) answer(req core.SearchRequest, result *core.SearchResult, main []hit, searches []search, found [][]hit) error {
	read := s.newReader()
	inside := make(map[int32]bool, len(main))
	for _, h := range main {
		inside[h.row] = true
		c, err := read.candidate(h.row)
		if err != nil {
			return err
		}
		c.Score = h.score
		result.Candidates = append(result.Candidates, c)
	}
	for i, search := range searches {
		if search.sub == mainSearch {
			continue
		}
		hits := make([]core.Candidate, len(found[i]))
		for r, h := range found[i] {
			hits[r] = core.Candidate{ID: s.ids[h.row]}
			if req.OutsideVectors && !inside[h.row] {
				var err error
				if hits[r], err = read.candidate(h.row); err != nil {
					return err
				}
			}
			hits[r].Score = h.score
		}
		result.SubQueries[search.sub].Hits = hits
	}
	return nil
}

// conversions says how the main scores came about where they are not the metric's own.
func (s *Store) conversions(r core.Retrieval) []string {
	var said []string
	switch s.metric {
	case core.MetricEuclidean:
		said = append(said, "score = −(Euclidean distance)")
	case core.MetricManhattan:
		said = append(said, "score = −(Manhattan distance)")
	}
	switch r {
	case core.RetrieveLexical:
		said = append(said, "main score = BM25")
	case core.RetrieveHybrid:
		said = append(said, fmt.Sprintf("main score = Σ 1/(%d + rank) over the nearest vectors and BM25", rrfConstant))
	}
	return said
}
