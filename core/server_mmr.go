package core

import (
	"context"
	"fmt"

	"github.com/georag/georag/core/vec"
)

// ServerMMR is implemented by stores that can select by maximal marginal relevance themselves.
type ServerMMR interface {
	// SelectMMR returns k of the K nearest passages in the server's selection order, with vectors and
	// payloads; diversity is 1 − λ, in [0, 1].
	SelectMMR(ctx context.Context, req SearchRequest, k int, diversity float64) (SearchResult, error)
}

// selectOnServer lets the store select, for comparison. The trace has no demand and no gains.
func (r *selection) selectOnServer(plan Plan) (Selection, error) {
	server, ok := r.Store.(ServerMMR)
	if !ok {
		return Selection{}, fmt.Errorf("core: selector %s: %w by this store", SelectorQdrantMMR, ErrUnsupported)
	}
	stop := r.clock(ArrowStore, &r.timings.Store)
	req := r.request(plan)
	req.SubQueries = nil
	found, err := server.SelectMMR(r.ctx, req, r.settings.K, 1-r.settings.Selectors.MMR.Lambda)
	stop()
	r.timings.Calls = append(r.timings.Calls, found.Calls...)
	if err != nil {
		return Selection{}, fmt.Errorf("core: select on the server: %w", err)
	}
	r.trace.Mode, r.trace.Conversions, r.trace.Candidates = "server", found.Conversions, r.settings.Candidates
	s := Selection{Items: []Selected{}}
	for _, c := range found.Candidates {
		item := Selected{Candidate: c, Covers: []int{}}
		if vec.Check(c.Vector, len(plan.question)) == nil {
			item.Cosine = vec.Cosine(c.Vector, plan.question)
		}
		for j, q := range plan.subQueries {
			if vec.Cosine(c.Vector, q) > CoverageThreshold {
				item.Covers = append(item.Covers, plan.kept[j])
			}
		}
		s.Items = append(s.Items, item)
		r.trace.Steps = append(r.trace.Steps, StepTrace{ID: c.ID, Rule: "server", Gain: c.Score, NewlyCovers: []int{}})
	}
	if len(s.Items) < r.settings.K {
		r.degrade(ReasonFewerThanK, "%d of %d passages: the server returned no more", len(s.Items), r.settings.K)
	}
	return r.conclude(s)
}
