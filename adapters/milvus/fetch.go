package milvus

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/georag/georag/core"
)

// fetchBatch bounds the IDs of one expression, and scanBatch the rows of one answer: 1,000 vectors of 1,024
// components are 4 MB.
const (
	fetchBatch = 1000
	scanBatch  = 1000
)

// Fetch reads passages by primary key within the scope.
func (s *Store) Fetch(ctx context.Context, req core.FetchRequest) ([]core.Candidate, error) {
	if err := s.ensureLoaded(ctx); err != nil {
		return nil, err
	}
	found := make(map[core.ID]core.Candidate, len(req.IDs))
	batches := slices.Collect(slices.Chunk(req.IDs, fetchBatch))
	if len(batches) == 0 {
		batches = [][]core.ID{nil} // the scope is checked all the same
	}
	for _, ids := range batches {
		rows, err := withCollection(ctx, s, "fetch", func(ctx context.Context, l *link, c *collection) ([]core.Candidate, error) {
			p, err := s.planFor(c, req.Scope)
			if err != nil {
				return nil, err
			}
			condition, err := idExpr(c.primary(), ids)
			if err != nil || condition == "" {
				return nil, err
			}
			p.scope.expr = and(condition, p.scope.expr)
			return l.server.query(ctx, queryCall{collection: c, scope: p.scope, output: p.output, vector: p.field})
		})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			found[row.ID] = row
		}
	}
	ordered := make([]core.Candidate, 0, len(found))
	for _, id := range req.IDs {
		if row, ok := found[id]; ok {
			ordered = append(ordered, row)
			delete(found, id)
		}
	}
	return ordered, nil
}

// Scan walks the scope in ascending order of the primary key, [scanBatch] rows at a time.
func (s *Store) Scan(ctx context.Context, r core.Scope, limit int, yield func(core.Candidate) bool) error {
	if err := s.ensureLoaded(ctx); err != nil {
		return err
	}
	var after core.ID
	for seen := 0; limit <= 0 || seen < limit; {
		size := scanBatch
		if limit > 0 {
			size = min(size, limit-seen)
		}
		rows, err := s.page(ctx, r, after, size)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if !yield(row) {
				return nil
			}
		}
		if len(rows) < size {
			return nil
		}
		seen += len(rows)
		after = rows[len(rows)-1].ID
	}
	return nil
}

// page reads the next rows of a scan, those with a key above after.
func (s *Store) page(ctx context.Context, r core.Scope, after core.ID, size int) ([]core.Candidate, error) {
	return withCollection(ctx, s, "scan", func(ctx context.Context, l *link, c *collection) ([]core.Candidate, error) {
		p, err := s.planFor(c, r)
		if err != nil {
			return nil, err
		}
		above, err := keysAbove(c.primary(), after)
		if err != nil {
			return nil, err
		}
		p.scope.expr = and(above, p.scope.expr)
		rows, err := l.server.query(ctx, queryCall{collection: c, scope: p.scope, limit: size, output: p.output, vector: p.field})
		slices.SortFunc(rows, func(a, b core.Candidate) int { return core.CompareID(a.ID, b.ID) })
		return rows, err
	})
}

// keysAbove is the condition of a scan's page: all keys, or those above id. Milvus 2.3 needs a condition where a
// query has no limit only.
func keysAbove(primary field, id core.ID) (string, error) {
	if text, ok := id.Text(); ok {
		literal, err := quote(text)
		return primary.name + " > " + literal, err
	}
	number, ok := id.Int()
	switch {
	case !ok:
		return "", nil
	case number == math.MinInt64: // no literal of Milvus
		return primary.name + " >= " + strconv.FormatInt(math.MinInt64+1, 10), nil
	default:
		return primary.name + " > " + strconv.FormatInt(number, 10), nil
	}
}
