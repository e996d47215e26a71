package qdrant_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"

	qd "github.com/qdrant/go-client/qdrant"

	"github.com/georag/georag/adapters/qdrant"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/qdranttest/conformance"
)

// engine.json holds the answers of Qdrant's own engine; testdata/engine.py made it.
type engine struct {
	Dimension int `json:"dimension"`
	Points    []struct {
		ID      core.ID              `json:"id"`
		Payload json.RawMessage      `json:"payload"`
		Vectors map[string][]float32 `json:"vectors"`
		Sparse  core.SparseVector    `json:"sparse"`
	} `json:"points"`
	Queries []engineQuery `json:"queries"`
	MMR     []engineQuery `json:"mmr"`
	RRF     []engineQuery `json:"rrf"`
	Stored  []struct {
		ID      core.ID              `json:"id"`
		Vectors map[string][]float32 `json:"vectors"`
	} `json:"stored"`
	Filters []struct {
		Filter json.RawMessage `json:"filter"`
		IDs    []core.ID       `json:"ids"`
	} `json:"filters"`
}

type engineQuery struct {
	Using      string            `json:"using"`
	Vector     []float32         `json:"vector"`
	Diversity  float64           `json:"diversity"`
	Candidates int               `json:"candidates"`
	Sparse     core.SparseVector `json:"sparse"`
	K          int               `json:"k"`
	Top        []struct {
		ID    core.ID `json:"id"`
		Score float64 `json:"score"`
	} `json:"top"`
}

func readEngine(t testing.TB) (e engine) {
	t.Helper()
	data, err := os.ReadFile("testdata/engine.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// loadEngine makes the engine's collection on the server under test.
func loadEngine(t *testing.T, e engine) qdrant.Config {
	t.Helper()
	srv := server(t)
	cfg := qdrant.Config{Addr: srv.Addr, Collection: conformance.CollectionName(), VectorName: "cosine"}
	srv.DropAtEnd(t, cfg.Collection)
	vectors := make(map[string]*qd.VectorParams)
	for name, distance := range map[string]qd.Distance{"cosine": qd.Distance_Cosine, "dot": qd.Distance_Dot, "euclid": qd.Distance_Euclid,
		"manhattan": qd.Distance_Manhattan, "half": qd.Distance_Cosine, "bytes": qd.Distance_Dot, "bytecosine": qd.Distance_Cosine} {
		vectors[name] = &qd.VectorParams{Size: uint64(e.Dimension), Distance: distance}
	}
	vectors["half"].Datatype = qd.Datatype_Float16.Enum()
	vectors["bytes"].Datatype, vectors["bytecosine"].Datatype = qd.Datatype_Uint8.Enum(), qd.Datatype_Uint8.Enum()
	srv.Raw(t, func(ctx context.Context, c conformance.Client) error {
		_, err := c.Create(ctx, &qd.CreateCollection{
			CollectionName: cfg.Collection, VectorsConfig: qd.NewVectorsConfigMap(vectors),
			SparseVectorsConfig: qd.NewSparseVectorsConfig(map[string]*qd.SparseVectorParams{"words": {}}),
		})
		return err
	})
	wait := true
	upsert := &qd.UpsertPoints{CollectionName: cfg.Collection, Wait: &wait}
	for _, p := range e.Points {
		payload, err := qdrant.EncodeValue(p.Payload)
		if err != nil {
			t.Fatal(err)
		}
		id, _ := qdrant.PointID(p.ID)
		named := map[string]*qd.Vector{"words": qd.NewVectorSparse(p.Sparse.Indices, p.Sparse.Values)}
		for name, v := range p.Vectors {
			named[name] = qd.NewVectorDense(v)
		}
		upsert.Points = append(upsert.Points, &qd.PointStruct{Id: id, Payload: payload.GetStructValue().GetFields(), Vectors: qd.NewVectorsMap(named)})
	}
	srv.Raw(t, func(ctx context.Context, c conformance.Client) error {
		_, err := c.Points.Upsert(ctx, upsert)
		return err
	})
	return cfg
}

// TestEngine compares what comes through the store with what Qdrant's own engine answered: filters of every kind,
// metrics and storage types, RRF and MMR.
func TestEngine(t *testing.T) {
	e := readEngine(t)
	cfg := loadEngine(t, e)
	s := conformance.Opened(t, cfg)
	t.Run("filters", func(t *testing.T) {
		for _, f := range e.Filters {
			got := []core.ID{}
			err := s.Scan(t.Context(), core.Scope{Filter: string(f.Filter)}, 0, func(c core.Candidate) bool {
				got = append(got, c.ID)
				return true
			})
			slices.SortFunc(got, core.CompareID)
			slices.SortFunc(f.IDs, core.CompareID)
			if err != nil || !slices.Equal(got, f.IDs) {
				t.Errorf("%s:\n got %v (error %v)\nwant %v", f.Filter, got, err, f.IDs)
			}
		}
	})
	t.Run("metrics", func(t *testing.T) {
		for _, q := range e.Queries {
			r, err := s.Search(t.Context(), core.SearchRequest{Vector: q.Vector, K: len(q.Top), Scope: core.Scope{VectorName: q.Using}})
			checkEngine(t, q, r.Candidates, err)
		}
	})
	t.Run("mmr", func(t *testing.T) {
		for _, q := range e.MMR {
			r, err := s.SelectMMR(t.Context(), core.SearchRequest{Vector: q.Vector, K: q.Candidates, Scope: core.Scope{VectorName: q.Using}}, len(q.Top), q.Diversity)
			checkEngine(t, q, r.Candidates, err)
		}
	})
	t.Run("rrf", func(t *testing.T) {
		for _, q := range e.RRF {
			cfg.HybridVectors, cfg.RRFK = []string{"words"}, q.K
			req := core.SearchRequest{Vector: q.Vector, Sparse: &q.Sparse, K: len(q.Top), Retrieval: core.RetrieveHybrid, Scope: core.Scope{VectorName: q.Using}}
			r, err := conformance.Opened(t, cfg).Search(t.Context(), req)
			q.Using = "rrf"
			checkEngine(t, q, r.Candidates, err)
		}
	})
	t.Run("stored", func(t *testing.T) {
		for _, p := range e.Stored {
			for name, want := range p.Vectors {
				got, err := s.Fetch(t.Context(), core.FetchRequest{IDs: []core.ID{p.ID}, Scope: core.Scope{VectorName: name}})
				if err != nil || len(got) != 1 || !slices.EqualFunc(got[0].Vector, want, func(a, b float32) bool { return a-b < 1e-6 && b-a < 1e-6 }) {
					t.Errorf("%v, %s: %v (error %v), want %v", p.ID, name, got, err, want)
				}
			}
		}
	})
}

// checkEngine compares rank by rank; passages of equal score may change places.
func checkEngine(t *testing.T, q engineQuery, got []core.Candidate, err error) {
	t.Helper()
	if err != nil || len(got) != len(q.Top) {
		t.Fatalf("%s: %d results (error %v), want %d", q.Using, len(got), err, len(q.Top))
	}
	for r, want := range q.Top {
		score := want.Score
		if q.Using == "euclid" || q.Using == "manhattan" {
			score = -score
		}
		tied := r > 0 && q.Top[r-1].Score == want.Score || r+1 < len(q.Top) && q.Top[r+1].Score == want.Score || r+1 == len(q.Top)
		diff := got[r].Score - score
		if got[r].ID != want.ID && !tied || diff > 1e-4*max(1, score) || -diff > 1e-4*max(1, score) {
			t.Errorf("%s k=%d diversity=%v rank %d: %v (%v), want %v (%v)", q.Using, q.K, q.Diversity, r, got[r].ID, got[r].Score, want.ID, score)
		}
	}
}
