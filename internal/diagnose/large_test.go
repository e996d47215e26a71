package diagnose_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/diagnose"
	"github.com/georag/georag/internal/npy"
)

// synthetic makes vectors in a thousand clusters, each from its number alone.
type synthetic struct{ dim, queries int }

func (s synthetic) vector(stream uint64, i int) []float32 {
	centre, own := rand.New(rand.NewPCG(1, uint64(i%1000))), rand.New(rand.NewPCG(stream, uint64(i)))
	v := make([]float32, s.dim)
	for j := range v {
		v[j] = float32(centre.NormFloat64() + 0.7*own.NormFloat64())
	}
	return v
}

func (s synthetic) Len() int { return s.queries }

func (s synthetic) At(i int) (diagnose.Query, error) {
	q := diagnose.Query{ID: strconv.Itoa(i), Query: core.Query{Vector: s.vector(2, i)}}
	for j := range 5 {
		q.SubQueries = append(q.SubQueries, core.SubQuery{Vector: s.vector(uint64(3+j), i)})
	}
	return q, nil
}

// write makes a flat index of n vectors.
func (s synthetic) write(t *testing.T, n int) core.Store {
	t.Helper()
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "passages.npy"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := npy.NewWriter(file, s.dim)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for i := range n {
		if err := w.Write(s.vector(0, i)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "{\"id\": %d, \"text\": \"passage %d\"}\n", i, i)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "passages.jsonl"), []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := flat.Open(flat.Config{Dir: dir, Metric: core.MetricCosine})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// heap is the memory in use after a collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemoryIsBounded diagnoses with GEORAG_DIAGNOSE_QUERIES queries on ten times as many vectors (10,000 on 100,000
// take several minutes); by default with few.
func TestMemoryIsBounded(t *testing.T) {
	size := 100
	if given := os.Getenv("GEORAG_DIAGNOSE_QUERIES"); given != "" {
		var err error
		if size, err = strconv.Atoi(given); err != nil {
			t.Fatal(err)
		}
	}
	sample := synthetic{dim: 64, queries: size}
	store := sample.write(t, 10*size)
	settings := core.DefaultPreset()
	settings.Selector = "facility" // the fastest; memory does not depend on it
	before, most := heap(), int64(0)
	state := filepath.Join(t.TempDir(), "state.jsonl")
	report, err := diagnose.Run(context.Background(), sample, diagnose.Config{
		Stage: core.Stage{Store: store, Settings: settings}, State: state,
		Progress: func(phase diagnose.Phase, done, _ int) {
			if phase == diagnose.PhaseScan && done%10000 == 0 || done%(1+size/20) == 0 {
				most = max(most, heap()-before)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if report.Queries != size || report.Health.Scanned != int64(10*size) || report.Health.Exact.Deep < 0.999 {
		t.Errorf("%d queries, %d passages, exact search %+v", report.Queries, report.Health.Scanned, report.Health.Exact)
	}
	info, err := os.Stat(state)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d queries on %d vectors: at most %.1f MB beyond the open index, state file %.1f MB", size, 10*size, float64(most)/1e6, float64(info.Size())/1e6)
	if limit := int64(16<<20) + 4096*int64(size); most > limit {
		t.Errorf("%d bytes in use, want at most %d", most, limit)
	}
}
