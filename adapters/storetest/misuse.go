package storetest

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/georag/georag/core"
)

func testMisnamed(t *testing.T, b Backend) {
	q := queries(1, 16)[0]
	t.Run("vector in the request", func(t *testing.T) {
		s := b.open(t, b.ordinary())
		_, err := search(t, s, core.SearchRequest{Vector: q, K: 5, Scope: core.Scope{VectorName: "no_such_vector"}})
		wantError(t, "unknown vector name", err, core.ErrNotFound)
		if err != nil && !strings.Contains(err.Error(), "no_such_vector") {
			t.Errorf("error %q does not name no_such_vector", err)
		}
	})
	for _, m := range b.Misnamings {
		t.Run(m.What, func(t *testing.T) {
			s, wrong, right, err := m.Open(t, b.ordinary())
			if s != nil {
				defer s.Close()
			}
			if err == nil {
				_, err = search(t, s, core.SearchRequest{Vector: q, K: 5})
			}
			wantError(t, "wrong "+m.What, err, core.ErrNotFound)
			if err != nil && (!strings.Contains(err.Error(), wrong) || !strings.Contains(err.Error(), right)) {
				t.Errorf("error %q should name %q and list %q", err, wrong, right)
			}
		})
	}
}

func testWrongVectors(t *testing.T, b Backend) {
	c := b.ordinary()
	s := b.open(t, c)
	good := queries(2, c.Dimension)
	nan := append([]float32(nil), good[0]...)
	nan[3] = float32(math.NaN())
	for _, wrong := range []struct {
		name   string
		vector []float32
		err    error
	}{
		{"short", good[0][:15], core.ErrDimension},
		{"long", append(append([]float32(nil), good[0]...), 1), core.ErrDimension},
		{"absent", nil, core.ErrDimension},
		{"not a number", nan, core.ErrNotFinite},
		{"zero", make([]float32, c.Dimension), core.ErrZero},
	} {
		t.Run(wrong.name, func(t *testing.T) {
			_, err := search(t, s, core.SearchRequest{Vector: wrong.vector, K: 5})
			wantError(t, "main query", err, wrong.err)
			req := core.SearchRequest{Vector: good[0], K: 5, Depth: 5, SubQueries: [][]float32{good[0], wrong.vector, good[1]}}
			result, err := search(t, s, req)
			if err != nil || len(result.SubQueries) != 3 {
				t.Fatalf("one wrong sub-query failed the whole search: %v (%d results)", err, len(result.SubQueries))
			}
			wantError(t, "sub-query", result.SubQueries[1].Err, wrong.err)
			for _, j := range []int{0, 2} {
				if sub := result.SubQueries[j]; sub.Err != nil || len(sub.Hits) != 5 {
					t.Errorf("sub-query %d beside a wrong one: %d hits, error %v", j, len(sub.Hits), sub.Err)
				}
			}
		})
	}
}

func testWrongCounts(t *testing.T, b Backend) {
	c := b.ordinary()
	s := b.open(t, c)
	q := queries(1, c.Dimension)
	for _, k := range []int{0, -1} {
		_, err := search(t, s, core.SearchRequest{Vector: q[0], K: k})
		wantError(t, "K below 1", err, core.ErrInvalid)
		_, err = search(t, s, core.SearchRequest{Vector: q[0], K: 5, SubQueries: q, Depth: k})
		wantError(t, "depth below 1", err, core.ErrInvalid)
	}
}

func testContext(t *testing.T, b Backend) {
	c := b.ordinary()
	s := b.open(t, c)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	expired, release := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer release()
	for _, ended := range []struct {
		ctx context.Context
		err error
	}{{cancelled, context.Canceled}, {expired, context.DeadlineExceeded}} {
		_, err := s.Search(ended.ctx, core.SearchRequest{Vector: queries(1, 16)[0], K: 5})
		wantError(t, "search", err, ended.err)
		_, err = s.Fetch(ended.ctx, core.FetchRequest{IDs: idsOf(c.Passages[:3])})
		wantError(t, "fetch", err, ended.err)
		if d, ok := s.(core.Describer); ok {
			_, err = d.Describe(ended.ctx)
			wantError(t, "describe", err, ended.err)
		}
		if scanner, ok := s.(core.Scanner); ok {
			err = scanner.Scan(ended.ctx, core.Scope{}, 0, func(core.Candidate) bool { return true })
			wantError(t, "scan", err, ended.err)
		}
	}
}

func testClosed(t *testing.T, b Backend) {
	c := b.ordinary()
	s := b.Open(t, c)
	if err := s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	if _, err := search(t, s, core.SearchRequest{Vector: queries(1, 16)[0], K: 5}); err == nil {
		t.Error("search after close: no error")
	}
	if _, err := s.Fetch(t.Context(), core.FetchRequest{IDs: idsOf(c.Passages[:3])}); err == nil {
		t.Error("fetch after close: no error")
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}
