package integration

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/milvus"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/milvusserver"
	"github.com/georag/georag/internal/questions"
	"github.com/georag/georag/internal/retry"
	"github.com/georag/georag/internal/shareddata"
)

// adminTimeout bounds building an index and taking it into memory, on a machine that tests keep busy.
const adminTimeout = 5 * time.Minute

// patient outlasts a machine that tests keep busy.
var patient = retry.Policy{Timeout: 20 * time.Second}

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
	want := chooseAll(t, reference, asked)
	for _, c := range []struct {
		index string
		exact bool
		least float64
	}{{"FLAT", true, 1}, {"HNSW", false, 0.98}} {
		t.Run(c.index, func(t *testing.T) {
			store := loadMilvus(t, addr, reference, c.exact)
			compareWithFlat(t, addr, store, asked, want, c.least)
		})
	}
}

// loadMilvus copies all passages of from into a new collection, whose index is built and in memory when it returns.
func loadMilvus(t testing.TB, addr string, from *flat.Store, exact bool) *milvus.Store {
	t.Helper()
	cfg := milvus.Config{Addr: addr, Collection: fmt.Sprintf("wiki_%d_%v", os.Getpid(), exact), Policy: patient}
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
	if t.Failed() {
		t.FailNow() // what is searched meanwhile is not the index under test
	}
	return store
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
	ctx, cancel := context.WithTimeout(context.Background(), adminTimeout)
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
			store, err := milvus.New(milvus.Config{Addr: addr, Collection: d.Collection, OutsideVectors: outside, Policy: patient})
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			measure(b, store, asked)
		})
	}
}
