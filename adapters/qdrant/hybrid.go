package qdrant

import (
	"fmt"
	"slices"

	qd "github.com/qdrant/go-client/qdrant"

	"github.com/georag/georag/core"
)

// makeHybrid has q fuse the lists of the searched vector and of hybrid_vectors. The filter is put into each
// list's search, since one that only the fusion applied would fuse what it then throws away.
func (s *Store) makeHybrid(q *qd.QueryPoints, p plan, req core.SearchRequest) error {
	if len(s.cfg.HybridVectors) == 0 {
		return fmt.Errorf("adapters/qdrant: hybrid retrieval: %w: name the vectors to fuse as hybrid_vectors; the collection has %s", core.ErrInvalid, list(p.schema.names()))
	}
	depth := uint64(req.K)
	if s.cfg.HybridDepth > 0 {
		depth = uint64(s.cfg.HybridDepth)
	}
	part := func(using string, query *qd.Query) {
		prefetch := &qd.PrefetchQuery{Query: query, Filter: q.Filter, Params: q.Params, Limit: &depth}
		if using != "" {
			prefetch.Using = &using
		}
		q.Prefetch = append(q.Prefetch, prefetch)
	}
	part(p.field.name, qd.NewQueryDense(req.Vector))
	for _, name := range s.cfg.HybridVectors {
		query, err := hybridPart(p.schema, name, req)
		if err != nil {
			return err
		}
		part(name, query)
	}
	q.Using, q.Params = nil, nil
	q.Query = qd.NewQueryFusion(qd.Fusion_RRF)
	if s.cfg.RRFK > 0 {
		k := uint32(s.cfg.RRFK)
		q.Query = qd.NewQueryRRF(&qd.Rrf{K: &k})
	}
	return nil
}

// hybridPart is the query of one further vector: the question's sparse vector, or its dense one.
func hybridPart(c *schema, name string, req core.SearchRequest) (*qd.Query, error) {
	if !slices.Contains(c.sparse, name) {
		f, err := c.vector(name)
		if err != nil {
			return nil, err
		}
		return qd.NewQueryDense(req.Vector), checkVector(f, req.Vector)
	}
	switch sparse := req.Sparse; {
	case sparse == nil || len(sparse.Indices) == 0:
		return nil, fmt.Errorf("adapters/qdrant: hybrid retrieval: %w: vector %q is sparse, and the question has no sparse vector", core.ErrInvalid, name)
	case len(sparse.Indices) != len(sparse.Values):
		return nil, fmt.Errorf("adapters/qdrant: hybrid retrieval: %w: sparse vector with %d indices and %d values", core.ErrInvalid, len(sparse.Indices), len(sparse.Values))
	default:
		return qd.NewQuerySparse(sparse.Indices, sparse.Values), nil
	}
}
