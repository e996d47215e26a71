package milvus

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/georag/georag/adapters/storetest"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/milvusserver"
)

// TestFloat16Refused: Milvus 2.3 takes half-precision vectors and scores them wrongly, so they are refused there.
// TestHalfVectors has those that do better.
func TestFloat16Refused(t *testing.T) {
	t.Parallel()
	cfg := Config{Addr: milvusserver.Addr(t), Collection: collectionName()}
	s := newStore(t, cfg)
	defer s.Close()
	createHalf(t, s, cfg, "COSINE")
	_, err := s.Search(t.Context(), core.SearchRequest{Vector: randomPassages(1, 8)[0].Vector, K: 5})
	if !errors.Is(err, core.ErrUnsupported) || !strings.Contains(err.Error(), "2.4") {
		t.Errorf("error is %v, want %v from 2.4 on", err, core.ErrUnsupported)
	}
}

func createHalf(t *testing.T, s *Store, cfg Config, metric string) {
	t.Helper()
	err := write(t.Context(), s, "create", func(ctx context.Context, l *link) error {
		table := tableSpec{name: cfg.Collection, dynamic: true, fields: []field{{name: "id", kind: kindInt64, primary: true}, {name: "vector", kind: kindFloat16, dimension: 8}}}
		if err := l.server.create(ctx, table); err != nil {
			return err
		}
		return l.server.createIndex(ctx, cfg.Collection, "vector", index{kind: "FLAT", metric: metric})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { drop(t, cfg.Addr, cfg.Collection) })
}

// TestLife walks one collection through what an operator does to it under a running store: it is aliased, released,
// loaded, and made anew with another shape.
func TestLife(t *testing.T) {
	t.Parallel()
	addr := milvusserver.Addr(t)
	content := storetest.Collection{Passages: randomPassages(30, 8), Dimension: 8, Metric: core.MetricCosine, IDs: storetest.IntIDs}
	cfg := fill(t, addr, content, false)
	sdk := admin(t, addr)
	defer sdk.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	alias := strings.Replace(cfg.Collection, "georag", "alias", 1)
	must(t, sdk.CreateAlias(ctx, cfg.Collection, alias))
	aliased := cfg
	aliased.Collection = alias
	s := newStore(t, aliased)
	defer s.Close()
	request := core.SearchRequest{Vector: content.Passages[0].Vector, K: 5}
	_, err := s.Search(ctx, request)
	must(t, err)
	d, err := s.Describe(ctx)
	must(t, err)
	if d.Collection != cfg.Collection || !strings.Contains(d.Index, "HNSW") || d.Count != 30 {
		t.Errorf("described as %+v", d)
	}

	must(t, sdk.ReleaseCollection(ctx, cfg.Collection))
	for told := false; !told; { // for a moment the query nodes answer in other words
		_, err := s.Search(ctx, request)
		if !errors.Is(err, core.ErrUnavailable) {
			t.Fatalf("not loaded: error %v is no %v", err, core.ErrUnavailable)
		}
		told = strings.Contains(err.Error(), "load: true")
		if ctx.Err() != nil {
			t.Fatalf("not loaded: error %v does not say what to do", err)
		}
	}
	if d, err = s.Describe(ctx); err != nil || d.Count != -1 || !strings.Contains(d.Index, "not loaded") {
		t.Errorf("not loaded: described as %+v, error %v", d, err)
	}
	loading := aliased
	loading.Load = true
	must(t, searchOnce(t, loading, request.Vector))

	must(t, sdk.DropAlias(ctx, alias))
	other := fill(t, addr, storetest.Collection{Passages: randomPassages(30, 4), Dimension: 4, Metric: core.MetricDot, IDs: storetest.IntIDs}, true)
	must(t, sdk.CreateAlias(ctx, other.Collection, alias))
	t.Cleanup(func() { dropAlias(t, addr, alias) })
	_, err = s.Search(ctx, request) // the store still expects the old dimension and metric, and learns
	if err == nil {
		t.Error("a query of dimension 8 was answered by a collection of dimension 4")
	}
	request.Vector = randomPassages(1, 4)[0].Vector
	if _, err := s.Search(ctx, request); err != nil {
		t.Errorf("the alias points to another collection now: %v", err)
	}
}

func dropAlias(t *testing.T, addr, alias string) {
	c := admin(t, addr)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	must(t, c.DropAlias(ctx, alias))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestHybridUnsupported: Milvus 2.3 has no fusion of several fields; see TestHybrid for those that do.
func TestHybridUnsupported(t *testing.T) {
	t.Parallel()
	addr := milvusserver.Addr(t)
	content := storetest.Collection{Passages: randomPassages(30, 8), Dimension: 8, Metric: core.MetricCosine, IDs: storetest.IntIDs}
	cfg := fill(t, addr, content, true)
	request := core.SearchRequest{Vector: content.Passages[0].Vector, K: 5, Retrieval: core.RetrieveHybrid}
	for what, fields := range map[string][]string{"invalid": nil, "not supported": {"vector"}} {
		cfg.HybridFields = fields
		s := newStore(t, cfg)
		_, err := s.Search(t.Context(), request)
		if !errors.Is(err, core.ErrUnsupported) && !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), what) {
			t.Errorf("hybrid fields %v: error %v is not %q", fields, err, what)
		}
		s.Close()
	}
}

// TestModelNote has the collection keep the name of the model that made its vectors.
func TestModelNote(t *testing.T) {
	t.Parallel()
	cfg := Config{Addr: milvusserver.Addr(t), Collection: collectionName()}
	s := newStore(t, cfg)
	defer s.Close()
	spec := core.CollectionSpec{Dimension: 8, Exact: true, Model: "all-MiniLM-L6-v2"}
	must(t, s.Create(t.Context(), spec))
	t.Cleanup(func() { drop(t, cfg.Addr, cfg.Collection) })
	d, err := s.Describe(t.Context())
	if err != nil || d.Model != spec.Model {
		t.Errorf("described as by %q, error %v", d.Model, err)
	}
	must(t, s.Create(t.Context(), core.CollectionSpec{Dimension: 8, Exact: true})) // unknown contradicts nothing
	spec.Model = "another"
	if err := s.Create(t.Context(), spec); !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), "MiniLM") || !strings.Contains(err.Error(), "another") {
		t.Errorf("another model: error %v does not name both", err)
	}
}

// TestScanPages walks more passages than one answer holds, written in no order and in two portions: each comes once.
func TestScanPages(t *testing.T) {
	t.Parallel()
	passages := randomPassages(3*scanBatch+7, 4)
	shuffled := slices.Clone(passages)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	first, second := shuffled[:scanBatch+300], shuffled[scanBatch+300:]
	cfg := fill(t, milvusserver.Addr(t), storetest.Collection{Passages: first, Dimension: 4, Metric: core.MetricCosine, IDs: storetest.IntIDs}, true)
	s := newStore(t, cfg)
	defer s.Close()
	_, err := s.Count(t.Context()) // seals the first portion
	must(t, err)
	must(t, s.Upsert(t.Context(), second))
	var seen []core.ID
	must(t, s.Scan(t.Context(), core.Scope{}, 0, func(c core.Candidate) bool { seen = append(seen, c.ID); return true }))
	var want []core.ID
	for _, p := range passages {
		want = append(want, p.ID)
	}
	slices.SortFunc(want, core.CompareID)
	if !slices.Equal(seen, want) {
		t.Errorf("%d passages seen, want %d in the order of their IDs", len(seen), len(want))
	}
}
