package qdranttest

import (
	"cmp"
	"context"
	"slices"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// hit is a point with its score.
type hit struct {
	*point
	score float32
}

func (s *points) Query(_ context.Context, r *qd.QueryPoints) (*qd.QueryResponse, error) {
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	result, err := s.query(r)
	return &qd.QueryResponse{Result: result}, err
}

// QueryBatch answers all queries or, where one of them cannot be, none.
func (s *points) QueryBatch(ctx context.Context, r *qd.QueryBatchPoints) (*qd.QueryBatchResponse, error) {
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	answer := &qd.QueryBatchResponse{}
	for _, q := range r.GetQueryPoints() {
		if ctx.Err() != nil {
			return nil, status.FromContextError(ctx.Err()).Err()
		}
		result, err := s.query(q)
		if err != nil {
			return nil, err
		}
		answer.Result = append(answer.Result, &qd.BatchResult{Result: result})
	}
	return answer, nil
}

func (s *points) query(r *qd.QueryPoints) ([]*qd.ScoredPoint, error) {
	c, err := s.data.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	limit := uint64(10)
	if r.Limit != nil {
		limit = r.GetLimit()
	}
	if limit == 0 {
		return nil, status.Error(codes.InvalidArgument, "Validation error in body: [limit: value 0 invalid, must be 1 or larger]")
	}
	run := searcher{c, r.GetShardKeySelector()}
	hits, err := run.search(&qd.PrefetchQuery{
		Prefetch: r.GetPrefetch(), Query: r.GetQuery(), Using: r.Using, Filter: r.GetFilter(), ScoreThreshold: r.ScoreThreshold,
	}, int(limit+r.GetOffset()))
	if err != nil {
		return nil, err
	}
	hits = hits[min(int(r.GetOffset()), len(hits)):]
	result := make([]*qd.ScoredPoint, len(hits))
	for i, h := range hits {
		vectors, err := c.selectVectors(h.point, r.GetWithVectors())
		if err != nil {
			return nil, err
		}
		result[i] = &qd.ScoredPoint{Id: h.id, Score: h.score, Payload: selectPayload(h.point, r.GetWithPayload()), Vectors: vectors}
	}
	return result, nil
}

// searcher answers the stages of one query.
type searcher struct {
	*collection
	shards *qd.ShardKeySelector
}

// search answers a query whose prefetches are answered first. The filter holds for them too.
func (s searcher) search(q *qd.PrefetchQuery, limit int) ([]hit, error) {
	var lists [][]hit
	for _, inner := range q.GetPrefetch() {
		depth := 10
		if inner.Limit != nil {
			depth = int(inner.GetLimit())
		}
		found, err := s.search(&qd.PrefetchQuery{
			Prefetch: inner.GetPrefetch(), Query: inner.GetQuery(), Using: inner.Using,
			Filter: both(q.GetFilter(), inner.GetFilter()), ScoreThreshold: inner.ScoreThreshold,
		}, depth)
		if err != nil {
			return nil, err
		}
		lists = append(lists, found)
	}
	pool, err := s.pool(q.GetFilter(), lists)
	if err != nil {
		return nil, err
	}
	switch v := q.GetQuery().GetVariant().(type) {
	case *qd.Query_Nearest:
		return s.nearest(q, v.Nearest, pool, limit)
	case *qd.Query_NearestWithMmr:
		return s.mmr(q, v.NearestWithMmr, pool, limit)
	case *qd.Query_Fusion:
		if v.Fusion != qd.Fusion_RRF {
			return nil, status.Error(codes.Unimplemented, "internal/qdranttest: only RRF is fused")
		}
		return fuse(lists, 2, nil, limit)
	case *qd.Query_Rrf:
		k := uint32(2)
		if v.Rrf.K != nil {
			k = v.Rrf.GetK()
		}
		return fuse(lists, k, v.Rrf.GetWeights(), limit)
	case nil:
		hits := make([]hit, 0, limit)
		for _, p := range pool[:min(limit, len(pool))] {
			hits = append(hits, hit{point: p})
		}
		return hits, nil
	}
	return nil, status.Errorf(codes.Unimplemented, "internal/qdranttest: no query of kind %T", q.GetQuery().GetVariant())
}

func both(a, b *qd.Filter) *qd.Filter {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &qd.Filter{Must: []*qd.Condition{qd.NewFilterAsCondition(a), qd.NewFilterAsCondition(b)}}
}

// pool is what a stage chooses from: the points its prefetches found, or all that meet the filter.
func (s searcher) pool(filter *qd.Filter, lists [][]hit) ([]*point, error) {
	if lists == nil {
		return s.in(filter, s.shards)
	}
	seen := make(map[key]bool)
	var pool []*point
	for _, list := range lists {
		for _, h := range list {
			if !seen[h.key] {
				seen[h.key] = true
				pool = append(pool, h.point)
			}
		}
	}
	return pool, nil
}

// fuse ranks points by reciprocal rank: the one at place r (from 0) of a list of weight w gets 1/((r+1)/w + k − 1).
func fuse(lists [][]hit, k uint32, weights []float32, limit int) ([]hit, error) {
	if lists == nil {
		return nil, invalid("cannot fuse without prefetches")
	}
	if weights != nil && len(weights) != len(lists) {
		return nil, invalid("Validation failed: Number of weights in RRF should match number of pre-fetches: got %d, expected %d", len(weights), len(lists))
	}
	fused := make(map[key]*hit)
	for i, list := range lists {
		weight := float32(1)
		if weights != nil {
			weight = weights[i]
		}
		for r, h := range list {
			if fused[h.key] == nil {
				fused[h.key] = &hit{point: h.point}
			}
			if weight > 0 {
				fused[h.key].score += 1 / (float32(r+1)/weight + float32(k) - 1)
			}
		}
	}
	hits := make([]hit, 0, len(fused))
	for _, h := range fused {
		hits = append(hits, *h)
	}
	return best(hits, true, limit), nil
}

// best is the first limit hits by score, and by ID where scores are equal.
func best(hits []hit, higher bool, limit int) []hit {
	before := func(a, b hit) int {
		switch byScore := cmp.Compare(b.score, a.score); {
		case byScore == 0:
			return comparePoints(a.point, b.point)
		case !higher:
			return -byScore
		default:
			return byScore
		}
	}
	top := make([]hit, 0, min(limit, len(hits))+1)
	for _, h := range hits {
		if len(top) == limit && before(top[limit-1], h) < 0 {
			continue
		}
		place, _ := slices.BinarySearchFunc(top, h, before)
		top = slices.Insert(top, place, h)
		top = top[:min(len(top), limit)]
	}
	return top
}
