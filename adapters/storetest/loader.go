package storetest

import (
	"strings"
	"testing"

	"github.com/georag/georag/core"
)

func testLoader(t *testing.T, b Backend) {
	if b.Loader == nil {
		t.Skip("SKIPPED: this store is not written through core.Loader")
	}
	c := b.ordinary()
	loader, open := b.Loader(t, c.Metric, c.IDs)
	spec := core.CollectionSpec{Dimension: c.Dimension, Metric: c.Metric, TextIDs: c.IDs == UUIDs || c.IDs == TextIDs, Exact: true}
	for range 2 {
		if err := loader.Create(t.Context(), spec); err != nil {
			t.Fatalf("create: %v", err)
		}
	}
	other := spec
	other.Dimension = 24
	err := loader.Create(t.Context(), other)
	wantError(t, "create with another dimension", err, core.ErrInvalid)
	if err != nil && (!strings.Contains(err.Error(), "16") || !strings.Contains(err.Error(), "24")) {
		t.Errorf("error %q does not name both dimensions", err)
	}
	if len(b.Metrics) > 1 {
		other = spec
		other.Metric = b.Metrics[1]
		wantError(t, "create with another metric", loader.Create(t.Context(), other), core.ErrInvalid)
	}

	checkCount(t, loader, 0)
	for _, batch := range [][]core.Candidate{c.Passages[:25], c.Passages[25:], c.Passages[10:40], nil} {
		if err := loader.Upsert(t.Context(), batch); err != nil {
			t.Fatalf("upsert of %d: %v", len(batch), err)
		}
	}
	checkCount(t, loader, 60)
	b.testReplace(t, loader, c)
	short := c.Passages[0]
	short.Vector = short.Vector[:15]
	wantError(t, "upsert of a short vector", loader.Upsert(t.Context(), []core.Candidate{short}), core.ErrDimension)
	wantError(t, "upsert without an id", loader.Upsert(t.Context(), []core.Candidate{{Vector: c.Passages[0].Vector}}), core.ErrInvalid)
	checkCount(t, loader, 60)

	s := open()
	defer s.Close()
	q := queries(1, c.Dimension)[0]
	got := mustSearch(t, s, core.SearchRequest{Vector: q, K: 60}).Candidates
	b.checkRanking(t, "after loading", c, q, got, c.nearest(q, 60, nil))
	passages := c.byID()
	for _, g := range got {
		checkPayload(t, g.ID, g.Payload, passages[g.ID].Payload)
	}
}

// testReplace upserts one passage of c anew, with another vector and payload, and changes c alike.
func (b Backend) testReplace(t *testing.T, loader core.Loader, c Collection) {
	t.Helper()
	c.Passages[5].Vector = queries(3, c.Dimension)[2]
	c.Passages[5].Payload = map[string]any{"title": "Replaced", "text": "New text.", "group": "group-9", "year": int64(2024)}
	if err := loader.Upsert(t.Context(), c.Passages[5:6]); err != nil {
		t.Fatalf("upsert of an existing id: %v", err)
	}
	checkCount(t, loader, 60)
}

func checkCount(t *testing.T, loader core.Loader, want int64) {
	t.Helper()
	if n, err := loader.Count(t.Context()); err != nil || n != want {
		t.Fatalf("count is %d (error %v), want %d", n, err, want)
	}
}
