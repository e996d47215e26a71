package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/georag/georag/core"
)

func testOrder(t *testing.T, b Backend) {
	for _, metric := range b.Metrics {
		t.Run(string(metric), func(t *testing.T) {
			c := corpus(60, 16, metric, b.IDs[0])
			s := b.open(t, c)
			for j, q := range queries(4, c.Dimension) {
				got := mustSearch(t, s, core.SearchRequest{Vector: q, K: 10}).Candidates
				b.checkRanking(t, fmt.Sprintf("query %d", j), c, q, got, c.nearest(q, 10, nil))
				b.checkScores(t, c, q, got)
			}
		})
	}
}

// checkScores requires the score itself where the metric is a similarity. Distances may be turned round in more
// than one way, so only their order counts.
func (b Backend) checkScores(t testing.TB, c Collection, query []float32, got []core.Candidate) {
	t.Helper()
	if c.Metric != core.MetricCosine && c.Metric != core.MetricDot {
		return
	}
	passages := c.byID()
	for _, g := range got {
		if want := similarity(c.Metric, query, passages[g.ID].Vector); !b.close(g.Score, want) {
			t.Errorf("id %v: score %v, want %v", g.ID, g.Score, want)
		}
	}
}

func testVectors(t *testing.T, b Backend) {
	for _, metric := range b.Metrics {
		t.Run(string(metric), func(t *testing.T) {
			c := corpus(60, 16, metric, b.IDs[0])
			passages := c.byID()
			for _, g := range mustSearch(t, b.open(t, c), core.SearchRequest{Vector: queries(1, 16)[0], K: 60}).Candidates {
				b.checkVector(t, metric, g.ID, g.Vector, passages[g.ID].Vector)
				checkPayload(t, g.ID, g.Payload, passages[g.ID].Payload)
			}
		})
	}
}

func testSubQueries(t *testing.T, b Backend) {
	for _, metric := range b.Metrics {
		t.Run(string(metric), func(t *testing.T) {
			c := corpus(60, 16, metric, b.IDs[0])
			s := b.open(t, c)
			qs := queries(12, c.Dimension)
			result := mustSearch(t, s, core.SearchRequest{Vector: qs[0], K: 10, SubQueries: qs[1:], Depth: 7})
			b.checkRanking(t, "main", c, qs[0], result.Candidates, c.nearest(qs[0], 10, nil))
			for j, sub := range result.SubQueries {
				what := fmt.Sprintf("sub-query %d", j)
				b.checkRanking(t, what, c, qs[j+1], sub.Hits, c.nearest(qs[j+1], 7, nil))
				alone := mustSearch(t, s, core.SearchRequest{Vector: qs[j+1], K: 7}).Candidates
				if !b.Approximate && !slices.Equal(idsOf(sub.Hits), idsOf(alone)) {
					t.Errorf("%s: %v, alone %v", what, idsOf(sub.Hits), idsOf(alone))
				}
			}
		})
	}
}

func testOutsideVectors(t *testing.T, b Backend) {
	c := b.ordinary()
	s, passages, qs := b.open(t, c), c.byID(), queries(5, c.Dimension)
	for _, asked := range []bool{false, true} {
		req := core.SearchRequest{Vector: qs[0], K: 5, SubQueries: qs[1:], Depth: 8, OutsideVectors: asked}
		result := mustSearch(t, s, req)
		main := idsOf(result.Candidates)
		for j, sub := range result.SubQueries {
			for _, hit := range sub.Hits {
				inside := slices.Contains(main, hit.ID)
				if (!asked || inside) && (hit.Vector != nil || hit.Payload != nil) {
					t.Errorf("sub-query %d, id %v: vector or payload set (asked %v, inside the main result %v)", j, hit.ID, asked, inside)
				}
				if hit.Vector != nil {
					b.checkVector(t, c.Metric, hit.ID, hit.Vector, passages[hit.ID].Vector)
					checkPayload(t, hit.ID, hit.Payload, passages[hit.ID].Payload)
				}
			}
		}
	}
}

func testMoreThanThereIs(t *testing.T, b Backend) {
	c := corpus(7, 16, b.Metrics[0], b.IDs[0])
	qs := queries(2, c.Dimension)
	result := mustSearch(t, b.open(t, c), core.SearchRequest{Vector: qs[0], K: 50, SubQueries: qs[1:], Depth: 20})
	if len(result.Candidates) != 7 || len(result.SubQueries[0].Hits) != 7 {
		t.Errorf("%d candidates and %d hits, want all 7", len(result.Candidates), len(result.SubQueries[0].Hits))
	}
}

// testLargeResponse asks for 3,000 × 384 floats: 4.6 MB, above the receive limit gRPC starts with.
func testLargeResponse(t *testing.T, b Backend) {
	if testing.Short() {
		t.Skip("SKIPPED: loads 4,000 passages; run without -short")
	}
	c := corpus(4000, 384, b.Metrics[0], b.IDs[0])
	q := queries(1, c.Dimension)[0]
	got := mustSearch(t, b.open(t, c), core.SearchRequest{Vector: q, K: 3000}).Candidates
	b.checkRanking(t, "large response", c, q, got, c.nearest(q, 3000, nil))
	for _, g := range got {
		if len(g.Vector) != c.Dimension {
			t.Fatalf("id %v: vector has %d components, want %d", g.ID, len(g.Vector), c.Dimension)
		}
	}
}

func testEqualVectors(t *testing.T, b Backend) {
	c := corpus(12, 16, b.Metrics[0], b.IDs[0])
	for i := range c.Passages {
		c.Passages[i].Vector = c.Passages[i/4*4].Vector
	}
	q := queries(1, c.Dimension)[0]
	got := mustSearch(t, b.open(t, c), core.SearchRequest{Vector: q, K: 12}).Candidates
	b.checkRanking(t, "equal vectors", c, q, got, c.nearest(q, 12, nil))
}

func testIDs(t *testing.T, b Backend) {
	for _, kind := range b.IDs {
		t.Run(string(kind), func(t *testing.T) {
			ids := slices.DeleteFunc(kind.extremes(), func(id core.ID) bool { return slices.Contains(b.Lost, id) })
			c := corpus(len(ids), 16, b.Metrics[0], kind)
			for i := range c.Passages {
				c.Passages[i].ID = ids[i]
			}
			s, qs, passages := b.open(t, c), queries(2, c.Dimension), c.byID()
			result := mustSearch(t, s, core.SearchRequest{Vector: qs[0], K: len(ids), SubQueries: qs[1:], Depth: len(ids)})
			b.checkRanking(t, "main", c, qs[0], result.Candidates, c.nearest(qs[0], len(ids), nil))
			b.checkRanking(t, "sub-query", c, qs[1], result.SubQueries[0].Hits, c.nearest(qs[1], len(ids), nil))
			fetched := mustFetch(t, s, core.FetchRequest{IDs: ids})
			if !slices.Equal(idsOf(fetched), ids) {
				t.Fatalf("fetched %v, want %v", idsOf(fetched), ids)
			}
			for _, f := range fetched {
				b.checkVector(t, c.Metric, f.ID, f.Vector, passages[f.ID].Vector)
			}
		})
	}
}

func testPayload(t *testing.T, b Backend) {
	c := b.ordinary()
	c.Passages[0].Payload = map[string]any{
		"title": "Zürich · 東京 · Ω · 👩‍🚀 · עברית",
		"text":  "line one\nline two\ttab \"quoted\" back\\slash \u0001",
		"group": "",
		"year":  int64(1<<53 + 1),
		"score": -0.125,
		"draft": true,
		"tags":  []any{"a", "b", "ç"},
		"meta":  map[string]any{"lang": "日本語", "pages": []any{int64(1), int64(2)}, "deep": map[string]any{"x": int64(-7)}},
	}
	want := c.Passages[0]
	got := mustFetch(t, b.open(t, c), core.FetchRequest{IDs: []core.ID{want.ID}})
	if len(got) != 1 {
		t.Fatalf("fetched %d passages, want 1", len(got))
	}
	checkPayload(t, want.ID, got[0].Payload, want.Payload)
}
