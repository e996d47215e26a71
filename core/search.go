package core

import (
	"errors"
	"fmt"
	"time"
)

// search asks the store: the main query and all sub-queries in one request. Under pool "given" the candidates
// are fetched by ID, and the request serves the sub-queries only.
func (r *selection) search(plan Plan) (SearchResult, error) {
	defer r.clock(ArrowStore, &r.timings.Store)()
	found, err := r.ask(r.request(plan))
	if err != nil {
		return found, r.searchError(err)
	}
	r.trace.Conversions = found.Conversions
	for j, result := range found.SubQueries {
		if result.Err != nil {
			at := plan.kept[j]
			r.trace.SubQueries[at].Error = result.Err.Error()
			r.degrade(ReasonSubQueryFailed, "sub-query %d: %v", at, result.Err)
		}
	}
	if r.settings.Pool.Base() == PoolGiven {
		if found.Candidates, err = r.fetchGiven(plan); err != nil {
			return found, err
		}
	}
	if r.settings.Pool.Union() {
		r.fetchOutside(plan, &found)
	}
	return found, nil
}

// searchError says where a failed search may have its cause: a vector that does not fit was made by the embedder.
func (r *selection) searchError(err error) error {
	if model := r.trace.Models.Embedder; model != "" && errors.Is(err, ErrDimension) {
		return fmt.Errorf("core: search: %w; the question was embedded by %s: use the model that made the collection", err, model)
	}
	return fmt.Errorf("core: search: %w", err)
}

// ask makes the request, unless the candidates are given and there is no sub-query to search for.
func (r *selection) ask(req SearchRequest) (SearchResult, error) {
	if r.settings.Pool.Base() == PoolGiven && len(req.SubQueries) == 0 {
		return SearchResult{}, nil
	}
	found, err := r.Store.Search(r.ctx, req)
	r.timings.Calls = append(r.timings.Calls, found.Calls...)
	return found, err
}

func (r *selection) request(plan Plan) SearchRequest {
	req := SearchRequest{
		Vector: plan.main, K: r.settings.Candidates, Depth: r.settings.SubQueries.Depth,
		OutsideVectors: r.settings.Pool.Union(), Text: plan.Text, Sparse: plan.Sparse, Scope: plan.Scope,
	}
	switch r.settings.Pool.Base() {
	case PoolHybrid:
		req.Retrieval = RetrieveHybrid
	case PoolLexical:
		req.Retrieval = RetrieveLexical
	case PoolGiven:
		req.K = 1 // the candidates are known; a request cannot do without a main search, so it is the smallest
	}
	if r.needsLists() {
		req.SubQueries = plan.subQueries
	}
	return req
}

// needsLists reports whether anything reads R_j: reverse validation, the union pool, or rank fusion.
func (r *selection) needsLists() bool {
	return r.settings.Demand.ReverseValidation || r.settings.Pool.Union() || r.settings.Selector == "rrf"
}

// fetchGiven fetches the candidates that the caller chose, with the caller's scores.
func (r *selection) fetchGiven(plan Plan) ([]Candidate, error) {
	ids, score := make([]ID, 0, len(plan.Given)), make(map[ID]float64, len(plan.Given))
	for _, c := range plan.Given {
		if _, twice := score[c.ID]; twice {
			return nil, fmt.Errorf("core: %w: candidate %s is given twice", ErrInvalid, c.ID)
		}
		ids, score[c.ID] = append(ids, c.ID), c.Score
	}
	fetched, err := r.fetch(plan, ids)
	if err != nil {
		return nil, fmt.Errorf("core: fetch given candidates: %w", err)
	}
	for i := range fetched {
		fetched[i].Score = score[fetched[i].ID]
	}
	if missing := len(ids) - len(fetched); missing > 0 {
		r.degrade(ReasonCandidate, "%d of %d given candidates do not exist in the scope", missing, len(ids))
	}
	return fetched, nil
}

// fetchOutside completes the hits of the sub-queries beyond the main candidates, by one call for all that the
// store did not send along. Without them the selection goes on with the main candidates.
func (r *selection) fetchOutside(plan Plan, found *SearchResult) {
	known := make(map[ID]bool, len(found.Candidates))
	for _, c := range found.Candidates {
		known[c.ID] = true
	}
	var missing []ID
	for _, result := range found.SubQueries {
		for _, hit := range result.Hits {
			if !known[hit.ID] && hit.Vector == nil {
				known[hit.ID] = true
				missing = append(missing, hit.ID)
			}
		}
	}
	if len(missing) == 0 {
		return
	}
	fetched, err := r.fetch(plan, missing)
	if err != nil {
		r.degrade(ReasonOutsideMissing, "fetch %d hits of sub-queries: %v", len(missing), err)
		return
	}
	complete := make(map[ID]Candidate, len(fetched))
	for _, c := range fetched {
		complete[c.ID] = c
	}
	for _, result := range found.SubQueries {
		for h, hit := range result.Hits {
			if c, ok := complete[hit.ID]; ok && hit.Vector == nil {
				result.Hits[h].Vector, result.Hits[h].Payload = c.Vector, c.Payload
			}
		}
	}
}

// fetch asks the store for passages by ID and notes the round trip.
func (r *selection) fetch(plan Plan, ids []ID) ([]Candidate, error) {
	start := time.Now()
	fetched, err := r.Store.Fetch(r.ctx, FetchRequest{IDs: ids, Scope: plan.Scope})
	r.timings.Calls = append(r.timings.Calls, Call{Name: "fetch", Duration: time.Since(start)})
	return fetched, err
}
