package qdranttest

import (
	"context"
	"slices"

	qd "github.com/qdrant/go-client/qdrant"
)

func (s *points) Get(_ context.Context, r *qd.GetPoints) (*qd.GetResponse, error) {
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	c, err := s.data.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	if err := c.checkShards(r.GetShardKeySelector()); err != nil {
		return nil, err
	}
	found := &qd.GetResponse{}
	for _, id := range r.GetIds() {
		k, err := keyOf(id)
		if err != nil {
			return nil, err
		}
		if p, ok := c.points[k]; ok && p.in(r.GetShardKeySelector()) {
			one, err := c.retrieved(p, r.GetWithPayload(), r.GetWithVectors())
			if err != nil {
				return nil, err
			}
			found.Result = append(found.Result, one)
		}
	}
	return found, nil
}

func (s *points) Scroll(_ context.Context, r *qd.ScrollPoints) (*qd.ScrollResponse, error) {
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	c, err := s.data.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	all, err := c.in(r.GetFilter(), r.GetShardKeySelector())
	if err != nil {
		return nil, err
	}
	if r.Offset != nil {
		from, err := keyOf(r.GetOffset())
		if err != nil {
			return nil, err
		}
		start, _ := slices.BinarySearchFunc(all, &point{key: from}, comparePoints)
		all = all[start:]
	}
	limit := 10
	if r.Limit != nil {
		limit = int(r.GetLimit())
	}
	answer := &qd.ScrollResponse{}
	if len(all) > limit {
		answer.NextPageOffset = all[limit].id
		all = all[:limit]
	}
	for _, p := range all {
		one, err := c.retrieved(p, r.GetWithPayload(), r.GetWithVectors())
		if err != nil {
			return nil, err
		}
		answer.Result = append(answer.Result, one)
	}
	return answer, nil
}

func (s *points) Count(_ context.Context, r *qd.CountPoints) (*qd.CountResponse, error) {
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	c, err := s.data.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	all, err := c.in(r.GetFilter(), r.GetShardKeySelector())
	return &qd.CountResponse{Result: &qd.CountResult{Count: uint64(len(all))}}, err
}

func (c *collection) retrieved(p *point, payload *qd.WithPayloadSelector, vectors *qd.WithVectorsSelector) (*qd.RetrievedPoint, error) {
	selected, err := c.selectVectors(p, vectors)
	return &qd.RetrievedPoint{Id: p.id, Payload: selectPayload(p, payload), Vectors: selected}, err
}

// selectVectors gives the vectors that the selector asks for, the unnamed one by itself and others by name.
func (c *collection) selectVectors(p *point, selector *qd.WithVectorsSelector) (*qd.VectorsOutput, error) {
	include := selector.GetInclude()
	if !selector.GetEnable() && include == nil {
		return nil, nil
	}
	for _, name := range include.GetNames() {
		_, dense := c.dense[name]
		_, sparse := c.sparse[name]
		if !dense && !sparse {
			return nil, invalid("Not existing vector name error: %s", name)
		}
	}
	wanted := func(name string) bool { return include == nil || slices.Contains(include.GetNames(), name) }
	named := &qd.NamedVectorsOutput{Vectors: make(map[string]*qd.VectorOutput)}
	for name, v := range p.dense {
		if !wanted(name) {
			continue
		}
		out := &qd.VectorOutput{Vector: &qd.VectorOutput_Dense{Dense: &qd.DenseVector{Data: v}}}
		if name == "" {
			return &qd.VectorsOutput{VectorsOptions: &qd.VectorsOutput_Vector{Vector: out}}, nil
		}
		named.Vectors[name] = out
	}
	for name, v := range p.sparse {
		if wanted(name) {
			named.Vectors[name] = &qd.VectorOutput{Vector: &qd.VectorOutput_Sparse{Sparse: v}}
		}
	}
	for name, v := range p.multi {
		if wanted(name) {
			named.Vectors[name] = &qd.VectorOutput{Vector: &qd.VectorOutput_MultiDense{MultiDense: v}}
		}
	}
	return &qd.VectorsOutput{VectorsOptions: &qd.VectorsOutput_Vectors{Vectors: named}}, nil
}
