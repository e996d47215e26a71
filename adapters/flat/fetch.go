package flat

import (
	"context"
	"fmt"
	"slices"

	"github.com/georag/georag/core"
)

// Fetch returns the passages of the given IDs.
func (s *Store) Fetch(ctx context.Context, req core.FetchRequest) ([]core.Candidate, error) {
	done, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	admitted, err := s.scope(req.Scope)
	if err != nil {
		return nil, err
	}
	read := s.newReader()
	var found []core.Candidate
	for _, id := range req.IDs {
		row, exists := s.rowOf[id]
		if !exists || !admitted.has(row) {
			continue
		}
		c, err := read.candidate(row)
		if err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	return found, nil
}

// has reports whether a row is admitted.
func (r rows) has(row int32) bool {
	if r.some == nil {
		return true
	}
	_, found := slices.BinarySearch(r.some, row)
	return found
}

// Scan walks through the scope in the order of the files. yield must not close the store.
func (s *Store) Scan(ctx context.Context, scope core.Scope, limit int, yield func(core.Candidate) bool) error {
	done, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer done()
	admitted, err := s.scope(scope)
	if err != nil {
		return err
	}
	read, n := s.newReader(), admitted.len()
	if limit > 0 {
		n = min(n, limit)
	}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("adapters/flat: %w", err)
		}
		c, err := read.candidate(admitted.at(i))
		if err != nil {
			return err
		}
		clear(read.seen) // no row comes twice, and a scan may be of millions
		if !yield(c) {
			return nil
		}
	}
	return nil
}
