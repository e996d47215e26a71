package milvus

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

// plan is a checked request: what both calls of a search share.
type plan struct {
	collection *collection
	field      vectorField
	scope      scope
	output     []string
}

// planFor checks a request's names and scope against the collection.
func (s *Store) planFor(c *collection, r core.Scope) (plan, error) {
	name := r.VectorName
	if name == "" {
		name = s.cfg.VectorField
	}
	f, err := c.vector(name)
	if err != nil {
		return plan{}, err
	}
	if f.kind == kindSparse {
		return plan{}, fmt.Errorf("adapters/milvus: vector field %q: %w: it is sparse; name it under hybrid_fields instead", name, core.ErrUnsupported)
	}
	sc, err := s.scopeOf(c, r)
	if err != nil {
		return plan{}, err
	}
	return plan{collection: c, field: f, scope: sc, output: c.output(s.cfg.OutputFields)}, nil
}

// Search runs the main search and the search of all sub-queries at the same time.
func (s *Store) Search(ctx context.Context, req core.SearchRequest) (core.SearchResult, error) {
	if err := checkCounts(req); err != nil {
		return core.SearchResult{}, err
	}
	if err := s.ensureLoaded(ctx); err != nil {
		return core.SearchResult{}, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	p, err := withCollection(ctx, s, "describe", func(_ context.Context, _ *link, c *collection) (plan, error) {
		return s.planFor(c, req.Scope)
	})
	if err != nil {
		return core.SearchResult{}, err
	}
	if err := checkVector(p.field, req.Vector); err != nil {
		return core.SearchResult{}, err
	}
	var timing calls
	var main []core.Candidate
	var mainErr error
	var subs []core.SubQueryResult
	var both sync.WaitGroup
	both.Go(func() { main, mainErr = s.main(ctx, p, req, &timing) })
	both.Go(func() { subs = s.subQueries(ctx, p, req, &timing) })
	both.Wait()
	switch {
	case mainErr != nil:
		return core.SearchResult{}, mainErr
	case len(main) == 0:
		return core.SearchResult{}, fmt.Errorf("adapters/milvus: search on collection %q: %w: nothing is in the scope", s.cfg.Collection, core.ErrEmptyIndex)
	}
	stripInside(subs, main)
	return core.SearchResult{Candidates: main, SubQueries: subs, Conversions: conversions(p.field.index.metric, req.Retrieval), Calls: timing.made}, nil
}

func checkCounts(req core.SearchRequest) error {
	switch {
	case req.K < 1:
		return fmt.Errorf("adapters/milvus: k %d: %w: must be at least 1", req.K, core.ErrInvalid)
	case len(req.SubQueries) > 0 && req.Depth < 1:
		return fmt.Errorf("adapters/milvus: depth %d: %w: must be at least 1", req.Depth, core.ErrInvalid)
	case req.Retrieval == core.RetrieveLexical:
		return fmt.Errorf("adapters/milvus: lexical retrieval: %w by this store", core.ErrUnsupported)
	}
	return nil
}

func checkVector(f vectorField, v []float32) error {
	if err := vec.Check(v, f.dimension); err != nil {
		return fmt.Errorf("adapters/milvus: query vector for field %q: %w", f.name, err)
	}
	return nil
}

// main runs the main search, dense or hybrid.
func (s *Store) main(ctx context.Context, p plan, req core.SearchRequest, timing *calls) ([]core.Candidate, error) {
	if req.Retrieval == core.RetrieveHybrid {
		return s.hybrid(ctx, p, req, timing)
	}
	lists, err := read(ctx, s, "search", func(ctx context.Context, l *link) ([][]core.Candidate, error) {
		defer timing.add("search", time.Now())
		return l.server.search(ctx, searchCall{
			collection: p.collection, scope: p.scope, field: p.field, vectors: [][]float32{req.Vector}, limit: req.K,
			params: s.cfg.Search.params(p.field.index, req.K), output: p.output, withVector: true,
		})
	})
	if err != nil {
		return nil, err
	}
	return finish(p.field, lists[0], true)
}

// subQueries runs one search of all sub-query vectors that can be searched; the others fail alone.
func (s *Store) subQueries(ctx context.Context, p plan, req core.SearchRequest, timing *calls) []core.SubQueryResult {
	results := make([]core.SubQueryResult, len(req.SubQueries))
	var vectors [][]float32
	var places []int
	for j, v := range req.SubQueries {
		if results[j].Err = checkVector(p.field, v); results[j].Err == nil {
			vectors, places = append(vectors, v), append(places, j)
		}
	}
	if len(vectors) == 0 {
		return results
	}
	withVector := req.OutsideVectors && s.cfg.outside() == OutsideBatch
	call := searchCall{collection: p.collection, scope: p.scope, field: p.field, vectors: vectors, limit: req.Depth,
		params: s.cfg.Search.params(p.field.index, req.Depth), withVector: withVector}
	if withVector {
		call.output = p.output
	}
	lists, err := read(ctx, s, "search of sub-queries", func(ctx context.Context, l *link) ([][]core.Candidate, error) {
		defer timing.add("sub-queries", time.Now())
		return l.server.search(ctx, call)
	})
	for i, j := range places {
		if err != nil {
			results[j].Err = err
			continue
		}
		results[j].Hits, results[j].Err = finish(p.field, lists[i], withVector)
	}
	return results
}

// finish makes scores higher-is-better and the order independent of the server's: by score, then by ID.
func finish(f vectorField, list []core.Candidate, withVector bool) ([]core.Candidate, error) {
	seen := make(map[core.ID]bool, len(list))
	list = slices.DeleteFunc(list, func(c core.Candidate) bool {
		twice := seen[c.ID]
		seen[c.ID] = true
		return twice
	})
	for i := range list {
		if n := len(list[i].Vector); withVector && n != f.dimension {
			return nil, fmt.Errorf("adapters/milvus: field %q of %v: %w: the server sent %d components of %d; Milvus returns them from 2.3 on", f.name, list[i].ID, core.ErrNoVectors, n, f.dimension)
		}
		list[i].Score = higherIsBetter(f.index.metric, list[i].Score)
	}
	slices.SortStableFunc(list, byScoreThenID)
	return list, nil
}

func byScoreThenID(a, b core.Candidate) int {
	switch {
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	default:
		return core.CompareID(a.ID, b.ID)
	}
}

// higherIsBetter converts a score of the given metric. Milvus's L2 is the squared distance, which rounding can
// take a little below zero.
func higherIsBetter(metric string, score float64) float64 {
	if metric == "L2" {
		return -math.Sqrt(max(0, score))
	}
	return score
}

func conversions(metric string, retrieval core.Retrieval) []string {
	switch {
	case retrieval == core.RetrieveHybrid:
		return []string{"milvus hybrid: score is the reciprocal rank fusion of the fields' lists"}
	case metric == "L2":
		return []string{"milvus L2: score = −√(squared distance)"}
	default:
		return nil
	}
}

// stripInside removes vector and payload from sub-query hits that the main result has anyway.
func stripInside(subs []core.SubQueryResult, main []core.Candidate) {
	inside := make(map[core.ID]bool, len(main))
	for _, c := range main {
		inside[c.ID] = true
	}
	for _, sub := range subs {
		for i := range sub.Hits {
			if inside[sub.Hits[i].ID] {
				sub.Hits[i].Vector, sub.Hits[i].Payload = nil, nil
			}
		}
	}
}

// calls collects the round trips of concurrent calls.
type calls struct {
	mu   sync.Mutex
	made []core.Call
}

func (c *calls) add(name string, start time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, core.Call{Name: name, Duration: time.Since(start)})
}
