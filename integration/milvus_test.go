package integration

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/milvus"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/milvusserver"
	"github.com/georag/georag/internal/questions"
	"github.com/georag/georag/internal/shareddata"
)

// TestMilvusAnswersAsFlat asks the 140 real questions of the same passages in the flat index and in Milvus: an exact
// index chooses the same five, and an approximate one does for 98 of 100 questions.
func TestMilvusAnswersAsFlat(t *testing.T) {
	dir := shareddata.Shared(t, "data/wiki-multihop")
	addr := milvusserver.Addr(t)
	reference := openFlat(t, dir)
	asked, err := questions.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var want []core.Selection
	for _, q := range asked {
		want = append(want, choose(t, reference, q))
	}
	for _, c := range []struct {
		index string
		exact bool
		least float64
	}{{"FLAT", true, 1}, {"HNSW", false, 0.98}} {
		t.Run(c.index, func(t *testing.T) {
			store := loadMilvus(t, addr, reference, c.exact)
			d, err := store.Describe(t.Context())
			if err != nil || d.Count != 9002 {
				t.Fatalf("described as %+v, error %v", d, err)
			}
			same := 0
			for i, q := range asked {
				got := choose(t, store, q)
				if slices.Equal(want[i].IDs(), got.IDs()) || tied(want[i], got) {
					same++
				} else {
					t.Logf("question %s: %v, flat chooses %v", q.ID, got.IDs(), want[i].IDs())
				}
			}
			t.Logf("%s: %s %s, the same five for %d of %d questions", addr, d.Store, d.Index, same, len(asked))
			if float64(same) < c.least*float64(len(asked)) {
				t.Errorf("the same five for %d of %d questions, want a share of %v", same, len(asked), c.least)
			}
		})
	}
}

func choose(t testing.TB, store core.Store, q questions.Question) core.Selection {
	t.Helper()
	stage := core.Stage{Store: store}
	chosen, err := stage.Select(t.Context(), q.Query())
	if err != nil {
		t.Fatal(err)
	}
	if len(chosen.Trace.Degraded) > 0 {
		t.Errorf("question %s: degraded: %v", q.ID, chosen.Trace.Degraded)
	}
	return chosen
}

// tied reports whether the first choice that differs was one between passages of equal gain: the gains then agree to
// the last digits that rounding leaves.
func tied(a, b core.Selection) bool {
	for i := range min(len(a.Items), len(b.Items)) {
		if a.Items[i].ID != b.Items[i].ID {
			gain := a.Trace.Steps[i].Gain
			return closeTo(gain, b.Trace.Steps[i].Gain) && closeTo(a.Items[i].Cosine, b.Items[i].Cosine)
		}
	}
	return len(a.Items) == len(b.Items)
}

func closeTo(x, y float64) bool { return max(x-y, y-x) <= 1e-6 }

func openFlat(t testing.TB, dir string) *flat.Store {
	t.Helper()
	store, err := flat.Open(flat.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// loadMilvus copies all passages of from into a new collection, whose index is built and in memory when it returns.
func loadMilvus(t testing.TB, addr string, from *flat.Store, exact bool) *milvus.Store {
	t.Helper()
	cfg := milvus.Config{Addr: addr, Collection: fmt.Sprintf("wiki_%d_%v", os.Getpid(), exact)}
	store, err := milvus.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	d, err := from.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	spec := core.CollectionSpec{Dimension: d.Dimension, Metric: core.MetricDot, TextIDs: true, Exact: exact}
	if err := store.Create(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		withAdmin(t, addr, func(ctx context.Context, c client.Client) error { return c.DropCollection(ctx, cfg.Collection) })
	})
	copyInto(t, store, from, 2000)
	if n, err := store.Count(t.Context()); err != nil || n != d.Count {
		t.Fatalf("%d passages were loaded, error %v; want %d", n, err, d.Count)
	}
	withAdmin(t, addr, func(ctx context.Context, c client.Client) error { return reload(ctx, c, cfg.Collection) })
	return store
}

func copyInto(t testing.TB, to core.Loader, from core.Scanner, batch int) {
	t.Helper()
	var pending []core.Candidate
	flush := func() {
		if err := to.Upsert(t.Context(), pending); err != nil {
			t.Fatal(err)
		}
		pending = nil
	}
	err := from.Scan(t.Context(), core.Scope{}, 0, func(c core.Candidate) bool {
		c.Vector = slices.Clone(c.Vector)
		if pending = append(pending, c); len(pending) == batch {
			flush()
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	flush()
}

// reload waits until all rows are indexed and has the server take the index into memory in place of what it searched
// meanwhile.
func reload(ctx context.Context, c client.Client, collection string) error {
	for {
		total, indexed, err := c.GetIndexBuildProgress(ctx, collection, "vector")
		if err != nil {
			return err
		}
		if indexed >= total && total > 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := c.ReleaseCollection(ctx, collection); err != nil {
		return err
	}
	return c.LoadCollection(ctx, collection, false)
}

// withAdmin does with the SDK what a store does not do.
func withAdmin(t testing.TB, addr string, do func(context.Context, client.Client) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := client.NewClient(ctx, client.Config{Address: addr})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := do(ctx, c); err != nil {
		t.Error(err)
	}
}

// BenchmarkMilvus shows where a selection's time goes: in the stage itself or in the calls to Milvus, by each of the
// two ways to get the vectors of sub-query results outside the main ones.
func BenchmarkMilvus(b *testing.B) {
	dir := shareddata.Shared(b, "data/wiki-multihop")
	addr := milvusserver.Addr(b)
	asked, err := questions.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	loaded := loadMilvus(b, addr, openFlat(b, dir), false)
	d, err := loaded.Describe(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for _, outside := range []milvus.OutsideVectors{milvus.OutsideFetch, milvus.OutsideBatch} {
		b.Run(string(outside), func(b *testing.B) {
			store, err := milvus.New(milvus.Config{Addr: addr, Collection: d.Collection, OutsideVectors: outside})
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			choose(b, store, asked[0]) // connected, and the schema known
			var own, calls []time.Duration
			for i := 0; b.Loop(); i++ {
				took := choose(b, store, asked[i%len(asked)]).Timings
				own, calls = append(own, took.Total-took.Store), append(calls, took.Store)
			}
			b.ReportMetric(median(own), "own-p50-ms")
			b.ReportMetric(median(calls), "store-p50-ms")
		})
	}
}

// median is the p50 in milliseconds.
func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2]) / float64(time.Millisecond)
}
