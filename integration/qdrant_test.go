package integration

import (
	"testing"
	"time"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/qdrant"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/qdranttest/conformance"
	"github.com/georag/georag/internal/questions"
	"github.com/georag/georag/internal/shareddata"
)

func TestQdrantConformance(t *testing.T) { conformance.Run(t, qdrantUnderTest(t)) }

// TestQdrantAnswersAsFlat asks the 140 real questions of the same passages in the flat index and in Qdrant: exact
// search chooses the same five, and HNSW does for 98 of 100 questions.
func TestQdrantAnswersAsFlat(t *testing.T) {
	dir := shareddata.Shared(t, "data/wiki-multihop")
	server := qdrantUnderTest(t)
	reference := openFlat(t, dir)
	asked, err := questions.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := chooseAll(t, reference, asked)
	loaded := loadQdrant(t, server, reference)
	for _, c := range []struct {
		search string
		exact  bool
		least  float64
	}{{"exact", true, 1}, {"hnsw", false, 0.98}} {
		t.Run(c.search, func(t *testing.T) {
			if !c.exact && !server.Keeps {
				t.Skip("SKIPPED: the in-process server has no index to be approximate with")
			}
			cfg := loaded
			cfg.Search.Exact = c.exact
			store := conformance.Opened(t, cfg)
			compareWithFlat(t, server.Addr, store, asked, want, c.least)
		})
	}
}

// loadQdrant copies all passages of from into a new collection.
func loadQdrant(t testing.TB, server conformance.Server, from *flat.Store) qdrant.Config {
	t.Helper()
	cfg := qdrant.Config{Addr: server.Addr, Collection: conformance.CollectionName(), IDField: "id"}
	cfg.Timeout = 30 * time.Second // an exhaustive search may share its processor with other tests
	server.DropAtEnd(t, cfg.Collection)
	store := conformance.Opened(t, cfg)
	d, err := from.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Create(t.Context(), core.CollectionSpec{Dimension: d.Dimension, Metric: core.MetricCosine, TextIDs: true}); err != nil {
		t.Fatal(err)
	}
	copyInto(t, store, from, 2000)
	if n, err := store.Count(t.Context()); err != nil || n != d.Count {
		t.Fatalf("%d passages were loaded, error %v; want %d", n, err, d.Count)
	}
	return cfg
}

// BenchmarkQdrant shows where a selection's time goes at K=200, d=384: in the stage itself or in the calls to
// Qdrant, by each of the two ways to get the vectors of sub-query results outside the main ones.
func BenchmarkQdrant(b *testing.B) {
	dir := shareddata.Shared(b, "data/wiki-multihop")
	server := qdrantUnderTest(b)
	asked, err := questions.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	cfg := loadQdrant(b, server, openFlat(b, dir))
	for _, outside := range []qdrant.OutsideVectors{qdrant.OutsideFetch, qdrant.OutsideBatch} {
		b.Run(string(outside), func(b *testing.B) {
			cfg.OutsideVectors = outside
			store := conformance.Opened(b, cfg)
			measure(b, store, asked)
		})
	}
}
