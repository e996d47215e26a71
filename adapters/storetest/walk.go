package storetest

import (
	"slices"
	"sync"
	"testing"

	"github.com/georag/georag/core"
)

func testFetch(t *testing.T, b Backend) {
	c := b.ordinary()
	s, passages := b.open(t, c), c.byID()
	kind := b.IDs[0]
	got := mustFetch(t, s, core.FetchRequest{IDs: []core.ID{kind.id(40), kind.id(900), kind.id(3), kind.id(17), kind.id(901)}})
	if want := []core.ID{kind.id(40), kind.id(3), kind.id(17)}; !slices.Equal(idsOf(got), want) {
		t.Fatalf("fetched %v, want %v: the order of the request, missing ids left out", idsOf(got), want)
	}
	for _, g := range got {
		b.checkVector(t, c.Metric, g.ID, g.Vector, passages[g.ID].Vector)
		checkPayload(t, g.ID, g.Payload, passages[g.ID].Payload)
		if g.Score != 0 {
			t.Errorf("id %v: fetched score is %v, want 0", g.ID, g.Score)
		}
	}
	if none := mustFetch(t, s, core.FetchRequest{}); len(none) != 0 {
		t.Errorf("fetch of no ids found %v", idsOf(none))
	}
}

func testDescribe(t *testing.T, b Backend) {
	c := b.ordinary()
	s := b.open(t, c)
	describer, ok := s.(core.Describer)
	if !ok {
		t.Fatal("the store does not implement core.Describer")
	}
	d, err := describer.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d.Store == "" || d.Collection == "" || d.Metric == "" || d.IDKind == "" || len(d.Vectors) == 0 {
		t.Errorf("description has blanks: %+v", d)
	}
	if d.Dimension != c.Dimension || d.Count != int64(len(c.Passages)) {
		t.Errorf("described as %d passages of dimension %d, want %d of %d", d.Count, d.Dimension, len(c.Passages), c.Dimension)
	}
	if _, known := c.byID()[d.SampleID]; !known {
		t.Errorf("sample id %v is not in the collection", d.SampleID)
	}
}

func testScan(t *testing.T, b Backend) {
	c := b.ordinary()
	s, passages := b.open(t, c), c.byID()
	scanner, ok := s.(core.Scanner)
	if !ok {
		t.Fatal("the store does not implement core.Scanner")
	}
	scan := func(scope core.Scope, limit int, stopAfter int) []core.Candidate {
		var seen []core.Candidate
		err := scanner.Scan(t.Context(), scope, limit, func(p core.Candidate) bool {
			seen = append(seen, p)
			return len(seen) != stopAfter
		})
		if err != nil {
			t.Fatal(err)
		}
		return seen
	}
	all := scan(core.Scope{}, 0, 0)
	if len(all) != len(c.Passages) {
		t.Fatalf("scanned %d passages, want %d", len(all), len(c.Passages))
	}
	distinct := make(map[core.ID]bool)
	for _, p := range all {
		distinct[p.ID] = true
		b.checkVector(t, c.Metric, p.ID, p.Vector, passages[p.ID].Vector)
		checkPayload(t, p.ID, p.Payload, passages[p.ID].Payload)
	}
	if len(distinct) != len(all) {
		t.Errorf("scan repeats passages: %d distinct of %d", len(distinct), len(all))
	}
	if again := scan(core.Scope{}, 7, 0); !slices.Equal(idsOf(again), idsOf(all[:7])) {
		t.Errorf("scan of 7 saw %v, want the first 7 of the full scan %v", idsOf(again), idsOf(all[:7]))
	}
	if stopped := scan(core.Scope{}, 0, 4); len(stopped) != 4 {
		t.Errorf("scan went on to %d passages after yield returned false at 4", len(stopped))
	}
	if filtered := scan(core.Scope{Filter: b.Filter("group", "group-1")}, 0, 0); len(filtered) != 20 {
		t.Errorf("scan within a filter saw %d passages, want 20", len(filtered))
	}
}

func testConcurrentUse(t *testing.T, b Backend) {
	c := b.ordinary()
	s, qs := b.open(t, c), queries(16, c.Dimension)
	var all sync.WaitGroup
	for j, q := range qs {
		all.Go(func() {
			scope := core.Scope{}
			keep := func(core.Candidate) bool { return true }
			if j%2 == 1 {
				scope.Filter, keep = b.Filter("group", "group-2"), fieldIs("group", "group-2")
			}
			for range 5 {
				result, err := search(t, s, core.SearchRequest{Vector: q, K: 5, SubQueries: qs[:3], Depth: 4, Scope: scope})
				if err != nil {
					t.Errorf("search: %v", err)
					return
				}
				b.checkRanking(t, "concurrent search", c, q, result.Candidates, c.nearest(q, 5, keep))
				found, err := s.Fetch(t.Context(), core.FetchRequest{IDs: idsOf(c.Passages[j : j+1]), Scope: core.Scope{}})
				if err != nil || len(found) != 1 || found[0].ID != c.Passages[j].ID {
					t.Errorf("concurrent fetch of %v: %v, error %v", c.Passages[j].ID, idsOf(found), err)
				}
			}
		})
	}
	all.Wait()
}
