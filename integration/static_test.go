package integration

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/rules"
	"github.com/georag/georag/adapters/static"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/build"
	"github.com/georag/georag/internal/chunk"
	"github.com/georag/georag/internal/questions"
	"github.com/georag/georag/internal/shareddata"
)

// TestStaticTable measures the embedding table in the binary on the 140 real questions: every passage, question and
// sub-query is embedded anew by it. It holds the shares with all gold passages in five against those that
// adapters/static/README.md prints, within 0.02.
func TestStaticTable(t *testing.T) {
	dir := shareddata.Shared(t, "data/wiki-multihop")
	asked, err := questions.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	embedder, err := static.NewEmbedder()
	if err != nil {
		t.Fatal(err)
	}
	given, bare := make([]questions.Question, len(asked)), make([]questions.Question, len(asked))
	for i, q := range asked {
		q.Vector, q.SubQueryVectors = nil, nil
		given[i] = q
		q.SubQueries = nil
		bare[i] = q
	}
	stage := core.Stage{Store: indexed(t, embedder, filepath.Join(dir, "passages.jsonl"))}
	stage.Planner = core.Planner{Embedder: embedder, Writer: rules.Writer{}}
	for _, c := range []struct {
		name, selector    string
		asked             []questions.Question
		hotpotqa, musique float64
	}{
		{"cosine", "cosine", given, 0.30, 0.06},
		{"default preset, sub-queries given", "georag", given, 0.67, 0.41},
		{"default preset, sub-queries by rule", "georag", bare, 0.31, 0.09},
	} {
		stage.Settings = core.DefaultPreset()
		stage.Settings.Selector = c.selector
		got := sharesOfAllGold(t, stage, c.asked)
		for dataset, want := range map[string]float64{"hotpotqa": c.hotpotqa, "musique": c.musique} {
			t.Logf("%s, %s: %.3f", c.name, dataset, got[dataset])
			if math.Abs(got[dataset]-want) > 0.02 {
				t.Errorf("%s, %s: %.3f, the README says %.2f", c.name, dataset, got[dataset], want)
			}
		}
	}
}

// indexed builds a flat index of the passages in file, each one whole.
func indexed(t *testing.T, embedder *static.Embedder, file string) *flat.Store {
	t.Helper()
	splitter, err := chunk.NewSplitter(chunk.Config{MaxTokens: 1 << 16}, embedder.Tokenizer())
	if err != nil {
		t.Fatal(err)
	}
	config := flat.Config{Dir: filepath.Join(t.TempDir(), "index")}
	loader, err := flat.NewLoader(config)
	if err != nil {
		t.Fatal(err)
	}
	report, err := build.Build(t.Context(), build.Options{
		Target:   build.Target{Loader: loader, BatchSize: 4096},
		Inputs:   []string{file},
		Embedder: embedder,
		Splitter: splitter,
	})
	if err != nil || len(report.Skipped) > 0 || report.Count != int64(report.Passages) {
		t.Fatalf("report %+v, error %v", report, err)
	}
	store, err := flat.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}
