package diagnose_test

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

// table is an index in memory that faults can be planted in.
type table struct {
	passages []core.Candidate
	metric   core.Metric
	says     string // name of the metric that it claims, where not its own
	dim      int    // dimension that it claims
	forget   int    // one passage in so many is never found
	always   core.ID
	admits   int // passages that a filter leaves
	fail     error
	searches int
}

// stretch gives the vectors norms from 0.2 to 5.
func (s *table) stretch() {
	for i := range s.passages {
		for j := range s.passages[i].Vector {
			s.passages[i].Vector[j] *= float32(0.2 + 4.8*float64((i*37)%101)/100)
		}
	}
}

func (s *table) Search(_ context.Context, req core.SearchRequest) (core.SearchResult, error) {
	s.searches++
	if s.fail != nil {
		return core.SearchResult{}, s.fail
	}
	result := core.SearchResult{Candidates: s.nearest(req.Vector, req.K)}
	for _, q := range req.SubQueries {
		result.SubQueries = append(result.SubQueries, core.SubQueryResult{Hits: s.nearest(q, req.Depth)})
	}
	return result, nil
}

func (s *table) nearest(q []float32, k int) []core.Candidate {
	var hits []core.Candidate
	for i, p := range s.passages {
		if s.forget > 0 && i%s.forget == 0 || vec.Check(p.Vector, len(q)) != nil {
			continue
		}
		if p.Score = vec.Dot(p.Vector, q); s.metric == core.MetricCosine {
			p.Score = vec.Cosine(p.Vector, q)
		}
		if p.ID == s.always {
			p.Score = math.MaxFloat32
		}
		hits = append(hits, p)
	}
	slices.SortStableFunc(hits, func(a, b core.Candidate) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(k, len(hits))]
}

func (s *table) Fetch(context.Context, core.FetchRequest) ([]core.Candidate, error) {
	return nil, core.ErrUnsupported // Search returns every vector
}

func (s *table) Scan(_ context.Context, scope core.Scope, _ int, yield func(core.Candidate) bool) error {
	for i, p := range s.passages {
		if scope.Filter != "" && i == s.admits || !yield(p) {
			return nil
		}
	}
	return nil
}

func (s *table) Describe(context.Context) (core.Description, error) {
	return core.Description{
		Store: "table", Metric: cmp.Or(s.says, string(s.metric)), Dimension: s.dim, Count: int64(len(s.passages)),
	}, nil
}

func (s *table) Close() error { return nil }
