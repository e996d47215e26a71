package milvus

import (
	"context"
	"fmt"
	"maps"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"github.com/georag/georag/core"
)

// searchParams is the SDK's SearchParam over plain values.
type searchParams map[string]any

func (p searchParams) Params() map[string]any      { return maps.Clone(p) }
func (p searchParams) AddRadius(radius float64)    { p["radius"] = radius }
func (p searchParams) AddRangeFilter(edge float64) { p["range_filter"] = edge }

// paramsOf never returns nil, because the SDK writes into the copy it takes.
func paramsOf(values map[string]any) searchParams {
	if values == nil {
		return searchParams{}
	}
	return values
}

func options(sc scope) []client.SearchQueryOptionFunc {
	level, err := parseConsistency(sc.consistency)
	if err != nil || level == nil {
		return nil
	}
	return []client.SearchQueryOptionFunc{client.WithSearchQueryConsistencyLevel(*level)}
}

// parseConsistency returns nil for the collection's own level.
func parseConsistency(name string) (*entity.ConsistencyLevel, error) {
	levels := map[string]entity.ConsistencyLevel{
		"strong": entity.ClStrong, "session": entity.ClSession, "bounded": entity.ClBounded, "eventually": entity.ClEventually,
	}
	level, known := levels[name]
	switch {
	case name == "":
		return nil, nil
	case !known:
		return nil, fmt.Errorf("adapters/milvus: consistency %q: %w: must be strong, session, bounded or eventually", name, core.ErrInvalid)
	}
	return &level, nil
}

// encode writes a query vector in the field's own format.
func encode(kind fieldKind, v []float32) entity.Vector {
	switch kind {
	case kindFloat16:
		return entity.Float16Vector(encodeFloat16(v))
	case kindBFloat16:
		return entity.BFloat16Vector(encodeBFloat16(v))
	default:
		return entity.FloatVector(v)
	}
}

func (s *sdk) search(ctx context.Context, call searchCall) ([][]core.Candidate, error) {
	vectors := make([]entity.Vector, len(call.vectors))
	for i, v := range call.vectors {
		vectors[i] = encode(call.field.kind, v)
	}
	output, stored := call.output, ""
	if call.withVector {
		stored = call.field.name
		output = append([]string{stored}, output...)
	}
	return guarded(func() ([][]core.Candidate, error) {
		found, err := s.client.Search(ctx, call.collection.name, call.scope.partitions, call.scope.expr, output, vectors,
			call.field.name, entity.MetricType(call.field.index.metric), call.limit, paramsOf(call.params), options(call.scope)...)
		if err != nil {
			return nil, err
		}
		return candidatesOf(found, len(vectors), stored)
	})
}

func (s *sdk) hybrid(ctx context.Context, call hybridCall) ([]core.Candidate, error) {
	parts := make([]*client.ANNSearchRequest, len(call.parts))
	for i, part := range call.parts {
		vector := encode(part.field.kind, part.dense)
		if part.sparse != nil {
			sparse, err := entity.NewSliceSparseEmbedding(part.sparse.Indices, part.sparse.Values)
			if err != nil {
				return nil, fmt.Errorf("adapters/milvus: sparse vector: %w: %w", core.ErrInvalid, err)
			}
			vector = sparse
		}
		parts[i] = client.NewANNSearchRequest(part.field.name, entity.MetricType(part.field.index.metric), call.scope.expr,
			[]entity.Vector{vector}, paramsOf(part.params), call.limit)
	}
	return guarded(func() ([]core.Candidate, error) {
		found, err := s.client.HybridSearch(ctx, call.of.name, call.scope.partitions, call.limit,
			append([]string{call.vector.name}, call.output...), client.NewRRFReranker().WithK(call.rrfK), parts, options(call.scope)...)
		if err != nil {
			return nil, err
		}
		lists, err := candidatesOf(found, 1, call.vector.name)
		if err != nil {
			return nil, err
		}
		return lists[0], nil
	})
}

// candidatesOf decodes one list for each of nq queries. An empty collection may answer with no list at all.
func candidatesOf(found []client.SearchResult, nq int, vector string) ([][]core.Candidate, error) {
	if len(found) == 0 {
		return make([][]core.Candidate, nq), nil
	}
	if len(found) != nq {
		return nil, fmt.Errorf("adapters/milvus: %w: %d result lists for %d queries", core.ErrUnavailable, len(found), nq)
	}
	lists := make([][]core.Candidate, nq)
	for i, result := range found {
		if result.ResultCount == 0 {
			continue // the server sends no columns then, and the SDK misses those asked for
		}
		if result.Err != nil {
			return nil, fmt.Errorf("adapters/milvus: result list %d: %w: %w", i, core.ErrUnavailable, result.Err)
		}
		list, err := rowsOf(result.IDs, result.Fields, vector)
		if err != nil {
			return nil, err
		}
		for r := range list {
			list[r].Score = float64(result.Scores[r])
		}
		lists[i] = list
	}
	return lists, nil
}

func (s *sdk) query(ctx context.Context, call queryCall) ([]core.Candidate, error) {
	primary := call.collection.primary().name
	output := append([]string{primary, call.vector.name}, call.output...)
	return guarded(func() ([]core.Candidate, error) {
		opts := options(call.scope)
		if call.limit > 0 {
			opts = append(opts, client.WithLimit(int64(call.limit)))
		}
		found, err := s.client.Query(ctx, call.collection.name, call.scope.partitions, call.scope.expr, output, opts...)
		if err != nil {
			return nil, err
		}
		ids := found.GetColumn(primary)
		if ids == nil {
			return nil, fmt.Errorf("adapters/milvus: %w: the answer lacks the primary key %q", core.ErrUnavailable, primary)
		}
		return rowsOf(ids, found, call.vector.name)
	})
}

func (s *sdk) count(ctx context.Context, name string, sc scope) (int64, error) {
	return guarded(func() (int64, error) {
		found, err := s.client.Query(ctx, name, sc.partitions, sc.expr, []string{"count(*)"}, options(sc)...)
		if err != nil {
			return 0, err
		}
		return found.GetColumn("count(*)").GetAsInt64(0)
	})
}
