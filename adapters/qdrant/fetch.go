package qdrant

import (
	"context"
	"slices"

	qd "github.com/qdrant/go-client/qdrant"

	"github.com/georag/georag/core"
)

// fetchBatch bounds the IDs of one request, and scanBatch the points of one answer: 1,000 vectors of 1,024
// components are 4 MB.
const (
	fetchBatch = 1000
	scanBatch  = 1000
)

// Fetch reads passages by ID within the scope. Where nothing restricts it, that is Qdrant's read by point ID;
// that has no filter, so a restricted one scrolls over the same IDs.
func (s *Store) Fetch(ctx context.Context, req core.FetchRequest) ([]core.Candidate, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	p, err := s.planFor(ctx, req.Scope)
	if err != nil {
		return nil, err
	}
	found := make(map[core.ID]core.Candidate, len(req.IDs))
	for ids := range slices.Chunk(req.IDs, fetchBatch) {
		condition := s.idCondition(ids)
		if condition == nil {
			continue
		}
		points, err := s.fetchPoints(ctx, p, condition)
		if err != nil {
			return nil, err
		}
		for _, point := range points {
			c, err := s.retrieved(p.field, point)
			if err != nil {
				return nil, err
			}
			if _, twice := found[c.ID]; !twice {
				found[c.ID] = c
			}
		}
	}
	ordered := make([]core.Candidate, 0, len(found))
	for _, id := range req.IDs {
		if c, ok := found[id]; ok {
			ordered = append(ordered, c)
			delete(found, id)
		}
	}
	return ordered, nil
}

// fetchPoints reads all points that meet the condition on IDs.
func (s *Store) fetchPoints(ctx context.Context, p plan, condition *qd.Condition) ([]*qd.RetrievedPoint, error) {
	if ids := condition.GetHasId().GetHasId(); p.scope.filter == nil && len(ids) > 0 {
		return read(ctx, s, "fetch", func(ctx context.Context, l *line) ([]*qd.RetrievedPoint, error) {
			answer, err := l.points.Get(ctx, &qd.GetPoints{
				CollectionName: s.cfg.Collection, Ids: ids, WithPayload: s.withPayload(), WithVectors: withVector(p.field),
				ReadConsistency: p.scope.consistency, ShardKeySelector: p.scope.shards, Timeout: seconds(s.reads.Timeout()),
			})
			return answer.GetResult(), err
		})
	}
	p.scope.filter = within(p.scope.filter, condition)
	var all []*qd.RetrievedPoint
	for next := (*qd.PointId)(nil); ; {
		page, err := s.page(ctx, p, next, fetchBatch)
		if err != nil {
			return nil, err
		}
		all = append(all, page.GetResult()...)
		if next = page.GetNextPageOffset(); next == nil {
			return all, nil
		}
	}
}

func (s *Store) retrieved(f vectorField, point *qd.RetrievedPoint) (core.Candidate, error) {
	id, err := s.idOf(point.GetId(), point.GetPayload())
	return core.Candidate{ID: id, Vector: vectorOf(f, point.GetVectors()), Payload: decodePayload(point.GetPayload())}, err
}

// Scan walks the scope in the order of point IDs, [scanBatch] points at a time.
func (s *Store) Scan(ctx context.Context, r core.Scope, limit int, yield func(core.Candidate) bool) error {
	p, err := s.planFor(ctx, r)
	if err != nil {
		return err
	}
	var next *qd.PointId
	for seen := 0; limit <= 0 || seen < limit; {
		size := scanBatch
		if limit > 0 {
			size = min(size, limit-seen)
		}
		page, err := s.page(ctx, p, next, size)
		if err != nil {
			return err
		}
		for _, point := range page.GetResult() {
			c, err := s.retrieved(p.field, point)
			if err != nil {
				return err
			}
			if !yield(c) {
				return nil
			}
		}
		seen += len(page.GetResult())
		if next = page.GetNextPageOffset(); next == nil {
			return nil
		}
	}
	return nil
}

// page reads up to size points of the scope, from the given one on.
func (s *Store) page(ctx context.Context, p plan, from *qd.PointId, size int) (*qd.ScrollResponse, error) {
	limit := uint32(size)
	return read(ctx, s, "scroll", func(ctx context.Context, l *line) (*qd.ScrollResponse, error) {
		return l.points.Scroll(ctx, &qd.ScrollPoints{
			CollectionName: s.cfg.Collection, Filter: p.scope.filter, Offset: from, Limit: &limit,
			WithPayload: s.withPayload(), WithVectors: withVector(p.field),
			ReadConsistency: p.scope.consistency, ShardKeySelector: p.scope.shards, Timeout: seconds(s.reads.Timeout()),
		})
	})
}
