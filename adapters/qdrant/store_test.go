package qdrant_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/georag/georag/adapters/qdrant"
	"github.com/georag/georag/adapters/storetest"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/qdranttest"
	"github.com/georag/georag/internal/qdranttest/conformance"
)

// recorder keeps the requests of one method.
type recorder struct {
	mu   sync.Mutex
	seen []*qd.QueryBatchPoints
}

func (r *recorder) before(_ context.Context, _ string, request any) error {
	if batch, ok := request.(*qd.QueryBatchPoints); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen = append(r.seen, batch)
	}
	return nil
}

// corpus is a small collection of three dimensions.
func corpus(n int) storetest.Collection {
	c := storetest.Collection{Dimension: 3, Metric: core.MetricCosine, IDs: storetest.UintIDs}
	for i := range n {
		x := float32(i) / float32(n)
		c.Passages = append(c.Passages, core.Candidate{ID: core.UintID(uint64(i + 1)), Vector: []float32{1, x, x * x}, Payload: map[string]any{"i": i}})
	}
	return c
}

var ask = core.SearchRequest{Vector: []float32{1, 0.5, 0.2}, K: 4, SubQueries: [][]float32{{1, 0, 0}, {0, 1, 1}}, Depth: 3}

// TestEveryQueryCarriesTheScope looks at what is sent: one batch, and in every query of it, prefetches included,
// the same tenant, filter, shard key, consistency and vector.
func TestEveryQueryCarriesTheScope(t *testing.T) {
	log := &recorder{}
	srv := qdranttest.Start(t, qdranttest.Config{Before: log.before})
	yes := true
	base := qdrant.Config{
		Addr: srv.Addr(), Collection: "c", VectorName: "dense", TenantKey: "tenant", ShardKeys: []string{"eu", "7"}, Consistency: "majority",
		Search: qdrant.SearchParams{HNSWEf: 99, Exact: true, IndexedOnly: true, Quantization: qdrant.Quantization{Rescore: &yes, Oversampling: 2}},
	}
	makeNamed(t, inProcess(srv), base)
	s := conformance.Opened(t, base)
	req := ask
	req.Scope = core.Scope{Tenant: "acme", Filter: `{"should": [{"key": "i", "range": {"lt": 9}}]}`, Partitions: []string{"7"}, Consistency: "2"}
	for _, retrieval := range []core.Retrieval{core.RetrieveDense, core.RetrieveHybrid} {
		req.Retrieval, req.Sparse = retrieval, &core.SparseVector{Indices: []uint32{1}, Values: []float32{1}}
		if retrieval == core.RetrieveHybrid {
			base.HybridVectors = []string{"words"}
			s = conformance.Opened(t, base)
		}
		_, err := s.Search(t.Context(), req)
		if !errors.Is(err, core.ErrEmptyIndex) { // nothing was loaded
			t.Fatal(err)
		}
	}
	if len(log.seen) != 2 {
		t.Fatalf("%d batches for two searches", len(log.seen))
	}
	for _, batch := range log.seen {
		if len(batch.GetQueryPoints()) != 3 {
			t.Fatalf("batch of %d queries, want 3", len(batch.GetQueryPoints()))
		}
		for j, q := range batch.GetQueryPoints() {
			checkScope(t, q.GetFilter(), q.GetParams(), len(q.GetPrefetch()) > 0)
			if q.GetReadConsistency().GetFactor() != 2 || len(q.GetShardKeySelector().GetShardKeys()) != 1 || q.GetShardKeySelector().GetShardKeys()[0].GetNumber() != 7 {
				t.Errorf("query %d: consistency %v, shard keys %v", j, q.GetReadConsistency(), q.GetShardKeySelector())
			}
			if len(q.GetPrefetch()) == 0 && q.GetUsing() != "dense" || j > 0 && (q.WithVectors != nil || q.WithPayload != nil) {
				t.Errorf("query %d: vector %q, with vectors %v and payload %v", j, q.GetUsing(), q.GetWithVectors(), q.GetWithPayload())
			}
			for _, p := range q.GetPrefetch() {
				checkScope(t, p.GetFilter(), p.GetParams(), false)
			}
		}
	}
}

func checkScope(t *testing.T, filter *qd.Filter, params *qd.SearchParams, fused bool) {
	t.Helper()
	must := filter.GetMust()
	if len(must) != 2 || must[0].GetField().GetKey() != "tenant" || must[0].GetField().GetMatch().GetKeyword() != "acme" || len(must[1].GetFilter().GetShould()) != 1 {
		t.Errorf("filter %v is not tenant and filter", filter)
	}
	q := params.GetQuantization()
	if !fused && (params.GetHnswEf() != 99 || !params.GetExact() || !params.GetIndexedOnly() || !q.GetRescore() || q.GetOversampling() != 2 || q.Ignore != nil) {
		t.Errorf("search parameters %v", params)
	}
}

// makeNamed makes an empty collection with a dense, a sparse and a multi-vector, and the shard keys "eu" and 7.
func makeNamed(t *testing.T, srv conformance.Server, cfg qdrant.Config) {
	t.Helper()
	srv.Raw(t, func(ctx context.Context, c conformance.Client) error {
		r := &qd.CreateCollection{
			CollectionName: cfg.Collection,
			VectorsConfig: qd.NewVectorsConfigMap(map[string]*qd.VectorParams{
				"dense":   {Size: 3, Distance: qd.Distance_Cosine},
				"colbert": {Size: 3, Distance: qd.Distance_Cosine, MultivectorConfig: &qd.MultiVectorConfig{}},
			}),
			SparseVectorsConfig: qd.NewSparseVectorsConfig(map[string]*qd.SparseVectorParams{"words": {}}),
		}
		if len(cfg.ShardKeys) > 0 {
			r.ShardingMethod = qd.ShardingMethod_Custom.Enum()
		}
		_, err := c.Create(ctx, r)
		return err
	})
	if len(cfg.ShardKeys) == 0 {
		return
	}
	for _, key := range []*qd.ShardKey{qd.NewShardKey("eu"), qd.NewShardKeyNum(7)} {
		srv.Raw(t, func(ctx context.Context, c conformance.Client) error {
			_, err := c.CreateShardKey(ctx, &qd.CreateShardKeyRequest{CollectionName: cfg.Collection, Request: &qd.CreateShardKey{ShardKey: key}})
			return err
		})
	}
}

func TestVectorNames(t *testing.T) {
	srv := server(t)
	cfg := qdrant.Config{Addr: srv.Addr, Collection: conformance.CollectionName()}
	srv.DropAtEnd(t, cfg.Collection)
	makeNamed(t, srv, cfg)
	s := conformance.Opened(t, cfg)
	for name, c := range map[string]struct {
		err  error
		says []string
	}{
		"":        {core.ErrInvalid, []string{"vector_name", "dense", "colbert", "words"}},
		"colbert": {core.ErrUnsupported, []string{"multi-vector", "one vector for each passage"}},
		"words":   {core.ErrUnsupported, []string{"sparse", "hybrid_vectors"}},
		"title":   {core.ErrNotFound, []string{`"title"`, "dense", "colbert", "words"}},
	} {
		req := ask
		req.Scope.VectorName = name
		_, err := s.Search(t.Context(), req)
		if !errors.Is(err, c.err) {
			t.Errorf("vector %q: error %v, want %v", name, err, c.err)
		}
		for _, text := range c.says {
			if err != nil && !strings.Contains(err.Error(), text) {
				t.Errorf("vector %q: error %q does not say %q", name, err, text)
			}
		}
	}
}

func TestHybridNeedsItsVectors(t *testing.T) {
	srv := server(t)
	cfg := qdrant.Config{Addr: srv.Addr, Collection: conformance.CollectionName(), VectorName: "dense"}
	srv.DropAtEnd(t, cfg.Collection)
	makeNamed(t, srv, cfg)
	uneven := &core.SparseVector{Indices: []uint32{1, 2}, Values: []float32{1}}
	for _, c := range []struct {
		vectors []string
		sparse  *core.SparseVector
		says    string
	}{
		{nil, uneven, "hybrid_vectors"},
		{[]string{"words"}, nil, "no sparse vector"},
		{[]string{"words"}, uneven, "2 indices and 1 values"},
	} {
		cfg.HybridVectors = c.vectors
		req := ask
		req.Retrieval, req.Sparse = core.RetrieveHybrid, c.sparse
		if _, err := conformance.Opened(t, cfg).Search(t.Context(), req); !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v does not say %q", err, c.says)
		}
	}
	req := ask
	req.Retrieval = core.RetrieveLexical
	if _, err := conformance.Opened(t, cfg).Search(t.Context(), req); !errors.Is(err, core.ErrUnsupported) {
		t.Errorf("lexical: error %v, want ErrUnsupported", err)
	}
}

// TestRefusedBatch: a server that takes the main query and not the batch gives the candidates, and each sub-query
// says why it failed.
func TestRefusedBatch(t *testing.T) {
	for name, refusal := range map[string]error{
		"strict mode": status.Error(codes.InvalidArgument, "Bad request: Strict mode error: batch of 3 is above 1. Help: Reduce the batch"),
		"internal":    status.Error(codes.Internal, "Service internal error: task panicked"),
	} {
		t.Run(name, func(t *testing.T) {
			srv := qdranttest.Start(t, qdranttest.Config{Before: func(_ context.Context, _ string, r any) error {
				if batch, ok := r.(*qd.QueryBatchPoints); ok && len(batch.GetQueryPoints()) > 1 {
					return refusal
				}
				return nil
			}})
			s := conformance.Opened(t, inProcess(srv).Fill(t, corpus(9)))
			got, err := s.Search(t.Context(), ask)
			if err != nil || len(got.Candidates) != 4 || len(got.Calls) != 2 {
				t.Fatalf("%d candidates, %d calls, error %v", len(got.Candidates), len(got.Calls), err)
			}
			for j, sub := range got.SubQueries {
				if sub.Err == nil || !strings.Contains(sub.Err.Error(), status.Convert(refusal).Message()) {
					t.Errorf("sub-query %d: error %v", j, sub.Err)
				}
			}
		})
	}
}

// TestRetries: a busy server is asked again, after the pause it names, and at most twice.
func TestRetries(t *testing.T) {
	for name, c := range map[string]struct {
		code     codes.Code
		failures int
		calls    int64
		want     error
	}{
		"unavailable once":   {codes.Unavailable, 1, 2, nil},
		"exhausted twice":    {codes.ResourceExhausted, 2, 3, nil},
		"unavailable always": {codes.Unavailable, 9, 3, core.ErrUnavailable},
		"key refused":        {codes.PermissionDenied, 9, 1, core.ErrUnauthorized},
		"invalid":            {codes.InvalidArgument, 9, 1, core.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			failures := c.failures
			srv := qdranttest.Start(t, qdranttest.Config{Before: func(ctx context.Context, method string, _ any) error {
				if method != "QueryBatch" || failures == 0 {
					return nil
				}
				failures--
				if c.code == codes.ResourceExhausted {
					_ = grpc.SetTrailer(ctx, metadata.Pairs("retry-after", "0"))
				}
				return status.Error(c.code, "not now")
			}})
			s := conformance.Opened(t, inProcess(srv).Fill(t, corpus(9)))
			req := ask
			req.SubQueries = nil
			if _, err := s.Search(t.Context(), req); !errors.Is(err, c.want) || (c.want == nil && err != nil) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if n := srv.Calls("QueryBatch"); n != c.calls {
				t.Errorf("%d calls, want %d", n, c.calls)
			}
		})
	}
}

// TestStaleSchema: a collection made anew behind the store's back is noticed by the server's refusal.
func TestStaleSchema(t *testing.T) {
	srv := server(t)
	cfg := srv.Fill(t, corpus(5))
	s := conformance.Opened(t, cfg)
	if _, err := s.Search(t.Context(), ask); err != nil {
		t.Fatal(err)
	}
	srv.Raw(t, func(ctx context.Context, c conformance.Client) error {
		_, err := c.Delete(ctx, &qd.DeleteCollection{CollectionName: cfg.Collection})
		return err
	})
	if _, err := s.Search(t.Context(), ask); !errors.Is(err, core.ErrNotFound) || !strings.Contains(err.Error(), cfg.Collection) {
		t.Errorf("deleted collection: error %v", err)
	}
	if err := conformance.Opened(t, cfg).Create(t.Context(), core.CollectionSpec{Dimension: 4}); err != nil {
		t.Fatal(err)
	}
	_, err := s.Search(t.Context(), ask)
	if !errors.Is(err, core.ErrDimension) {
		t.Errorf("other dimension: error %v, want ErrDimension", err)
	}
}

func TestDimensionToldByTheServer(t *testing.T) {
	srv := qdranttest.Start(t, qdranttest.Config{Before: func(_ context.Context, method string, _ any) error {
		if method == "QueryBatch" {
			return status.Error(codes.InvalidArgument, "Wrong input: Vector dimension error: expected dim: 4, got 3")
		}
		return nil
	}})
	if _, err := conformance.Opened(t, inProcess(srv).Fill(t, corpus(5))).Search(t.Context(), ask); !errors.Is(err, core.ErrDimension) {
		t.Errorf("error %v, want ErrDimension", err)
	}
}

func TestKey(t *testing.T) {
	const key = "s3cret-key-of-the-test"
	srv := qdranttest.Start(t, qdranttest.Config{APIKey: key})
	write := func(content string) qdrant.Config {
		file := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg := qdrant.Config{Addr: srv.Addr(), Collection: "c"}
		cfg.Source.File = file
		return cfg
	}
	if err := conformance.Opened(t, write(key)).Create(t.Context(), core.CollectionSpec{Dimension: 3}); err != nil {
		t.Errorf("right key: %v", err)
	}
	for name, cfg := range map[string]qdrant.Config{"wrong": write("another"), "none": {Addr: srv.Addr(), Collection: "c"}} {
		if _, err := conformance.Opened(t, cfg).Search(t.Context(), ask); !errors.Is(err, core.ErrUnauthorized) {
			t.Errorf("%s key: error %v, want ErrUnauthorized", name, err)
		}
	}
}

// TestIDField: passages known by the payload of points that somebody else loaded.
func TestIDField(t *testing.T) {
	srv := server(t)
	cfg := srv.Fill(t, corpus(5))
	wait := true
	srv.Raw(t, func(ctx context.Context, c conformance.Client) error {
		_, err := c.Points.Upsert(ctx, &qd.UpsertPoints{CollectionName: cfg.Collection, Wait: &wait, Points: []*qd.PointStruct{
			{Id: qd.NewIDNum(100), Vectors: qd.NewVectors(1, 0, 0), Payload: qd.NewValueMap(map[string]any{"doc": "a/b", "kind": "text"})},
			{Id: qd.NewIDNum(101), Vectors: qd.NewVectors(1, 1, 0), Payload: qd.NewValueMap(map[string]any{"doc": -7, "kind": "text"})},
		}})
		return err
	})
	cfg.IDField, cfg.PayloadFields = "doc", []string{"kind"}
	s := conformance.Opened(t, cfg)
	ids := []core.ID{core.IntID(-7), core.StringID("a/b"), core.StringID("absent")}
	found, err := s.Fetch(t.Context(), core.FetchRequest{IDs: ids})
	if err != nil || len(found) != 2 || found[0].ID != ids[0] || found[1].ID != ids[1] || found[0].Payload["kind"] != "text" {
		t.Errorf("fetched %v, error %v", found, err)
	}
	only := ask
	only.Scope.Filter = `{"must": [{"key": "kind", "match": {"value": "text"}}]}`
	got, err := s.Search(t.Context(), only)
	if err != nil || len(got.SubQueries[0].Hits) != 2 || got.SubQueries[0].Hits[0].ID != ids[1] {
		t.Errorf("%+v, error %v", got, err)
	}
	if _, err := s.Search(t.Context(), ask); !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), `"doc"`) {
		t.Errorf("points without the field: error %v", err)
	}
}

// TestLoadedIDs: what cannot be a point's ID needs id_field, and is told so.
func TestLoadedIDs(t *testing.T) {
	srv := server(t)
	cfg := srv.Fill(t, corpus(1))
	for _, id := range []core.ID{core.StringID("a"), core.StringID("42"), core.IntID(-1), core.StringID("F47AC10B-58CC-4372-A567-0E02B2C3D479")} {
		err := conformance.Opened(t, cfg).Upsert(t.Context(), []core.Candidate{{ID: id, Vector: []float32{1, 0, 0}}})
		if !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), "id_field") {
			t.Errorf("%v: error %v", id, err)
		}
		fresh := cfg
		fresh.Collection += "-not-made"
		s := conformance.Opened(t, fresh)
		if err := s.Create(t.Context(), core.CollectionSpec{Dimension: 3, SampleID: id}); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("create for %v: error %v", id, err)
		}
		if _, err := s.Count(t.Context()); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("a collection for %v was made: error %v", id, err)
		}
	}
	cfg.IDField = "doc"
	if err := conformance.Opened(t, cfg).Upsert(t.Context(), []core.Candidate{{ID: core.UintID(1 << 63), Vector: []float32{1, 0, 0}}}); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("an integer that no payload holds: error %v", err)
	}
}

// TestModelNote: a collection says which model made its vectors, and takes none of another.
func TestModelNote(t *testing.T) {
	srv := server(t)
	cfg := qdrant.Config{Addr: srv.Addr, Collection: conformance.CollectionName()}
	srv.DropAtEnd(t, cfg.Collection)
	spec := core.CollectionSpec{Dimension: 3, Model: "one"}
	for range 2 { // made, and there already
		if err := conformance.Opened(t, cfg).Create(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
	}
	if d, err := conformance.Opened(t, cfg).Describe(t.Context()); err != nil || d.Model != "one" {
		t.Errorf("%+v, error %v", d, err)
	}
	spec.Model = "two"
	if err := conformance.Opened(t, cfg).Create(t.Context(), spec); !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), "by one, not two") {
		t.Errorf("error %v", err)
	}
	spec.Model = "" // not known
	if err := conformance.Opened(t, cfg).Create(t.Context(), spec); err != nil {
		t.Error(err)
	}
}

// TestNumericTenant: a tenant kept as a number is found by its digits, and no other is.
func TestNumericTenant(t *testing.T) {
	srv := server(t)
	c := corpus(9)
	for i := range c.Passages {
		c.Passages[i].Payload["tenant"] = []any{int64(7), "7", int64(8)}[i%3]
	}
	cfg := srv.Fill(t, c)
	cfg.TenantKey = "tenant"
	req := ask
	req.K, req.Scope.Tenant = 9, "7"
	got, err := conformance.Opened(t, cfg).Search(t.Context(), req)
	if err != nil || len(got.Candidates) != 6 || slices.ContainsFunc(got.Candidates, func(c core.Candidate) bool { return c.Payload["tenant"] == int64(8) }) {
		t.Errorf("%v, error %v", got.Candidates, err)
	}
}

// TestOutsideInBatch: with outside_vectors "batch" every hit outside the main result comes complete.
func TestOutsideInBatch(t *testing.T) {
	srv := server(t)
	cfg := srv.Fill(t, corpus(20))
	cfg.OutsideVectors = qdrant.OutsideBatch
	req := ask
	req.OutsideVectors = true
	got, err := conformance.Opened(t, cfg).Search(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	outside := 0
	for _, sub := range got.SubQueries {
		for _, hit := range sub.Hits {
			inside := slices.ContainsFunc(got.Candidates, func(c core.Candidate) bool { return c.ID == hit.ID })
			if inside != (hit.Vector == nil) || inside != (hit.Payload == nil) {
				t.Errorf("%v: inside %v, vector %v, payload %v", hit.ID, inside, hit.Vector, hit.Payload)
			}
			if !inside {
				outside++
			}
		}
	}
	if outside == 0 {
		t.Error("no hit is outside the main result: the test tests nothing")
	}
}

// TestServerMMRAsSelector runs the stage with the server's own selection.
func TestServerMMRAsSelector(t *testing.T) {
	srv := server(t)
	settings := core.DefaultPreset()
	settings.Selector, settings.K = core.SelectorQdrantMMR, 3
	stage := core.Stage{Store: conformance.Opened(t, srv.Fill(t, corpus(20))), Settings: settings}
	got, err := stage.Select(t.Context(), core.Query{Vector: ask.Vector})
	if err != nil || len(got.Items) != 3 || got.Items[0].Vector == nil || got.Items[0].Payload == nil {
		t.Errorf("%+v, error %v", got.Items, err)
	}
	if _, err := conformance.Opened(t, srv.Fill(t, corpus(2))).SelectMMR(t.Context(), ask, 3, 1.5); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("diversity 1.5: error %v", err)
	}
}
