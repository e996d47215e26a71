package integration

import (
	"path/filepath"
	"testing"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/core"
	"github.com/georag/georag/demo"
	"github.com/georag/georag/internal/build"
)

// TestImport copies the demonstration corpus into another store, twice, and finds it there vector for vector.
func TestImport(t *testing.T) {
	source, err := flat.OpenFS(demo.Files, "data", flat.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	config := flat.Config{Dir: filepath.Join(t.TempDir(), "copy")}
	state := filepath.Join(t.TempDir(), "state.jsonl")
	for run, written := range []int{155, 0} {
		loader, err := flat.NewLoader(config)
		if err != nil {
			t.Fatal(err)
		}
		report, err := build.Import(t.Context(), build.ImportOptions{
			Target: build.Target{Loader: loader, StateFile: state, Metric: core.MetricDot},
			Source: source,
			Name:   "demo",
		})
		if err != nil || report.Written != written || report.Count != 155 {
			t.Fatalf("run %d: report %+v, error %v", run, report, err)
		}
	}
	target, err := flat.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	err = source.Scan(t.Context(), core.Scope{}, 0, func(p core.Candidate) bool {
		found, err := target.Fetch(t.Context(), core.FetchRequest{IDs: []core.ID{p.ID}})
		if err != nil || len(found) != 1 || found[0].PayloadText() != p.PayloadText() {
			t.Errorf("passage %s: found %+v, error %v", p.ID, found, err)
			return false
		}
		for c, x := range found[0].Vector {
			if x != p.Vector[c] {
				t.Errorf("passage %s: component %d is %v, want %v", p.ID, c, x, p.Vector[c])
				return false
			}
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}
