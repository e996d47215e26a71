// Package integration tests the stage on real data and real servers.
package integration

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sbinet/npyio"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
	"github.com/georag/georag/internal/shareddata"
)

// TestRealQuestions measures the share of the 140 real questions with all gold passages in five, and holds it
// against the reference figures within 0.03.
func TestRealQuestions(t *testing.T) {
	dir := shareddata.Shared(t, "data/wiki-multihop")
	passages, questions := read[passage](t, dir, "passages.jsonl"), read[question](t, dir, "questions.jsonl")
	store := &exact{vectors: floats(t, dir, "passages.npy", len(passages))}
	for _, p := range passages {
		store.ids = append(store.ids, core.StringID(p.ID))
	}
	main := floats(t, dir, "questions.npy", len(questions))
	parts := floats(t, dir, "subqueries.npy", 20*len(questions))
	for _, c := range []struct {
		preset, selector  string
		pool              core.Pool
		hotpotqa, musique float64
	}{
		{core.PresetDefault, "georag", core.PoolUnion, 0.93, 0.69},
		{core.PresetDefault, "georag", core.PoolDense, 0.84, 0.59},
		{core.PresetDefault, "cosine", core.PoolUnion, 0.56, 0.30},
		{core.PresetPaper, "georag", core.PoolDense, 0.17, 0.04},
	} {
		settings, err := core.Preset(c.preset)
		if err != nil {
			t.Fatal(err)
		}
		settings.Selector, settings.Pool = c.selector, c.pool
		stage := core.Stage{Store: store, Settings: settings}
		all, of := map[string]int{}, map[string]int{}
		for i, q := range questions {
			query := core.Query{Vector: main[i]}
			for _, v := range parts[20*i : 20*i+20] {
				query.SubQueries = append(query.SubQueries, core.SubQuery{Vector: v})
			}
			s, err := stage.Select(context.Background(), query)
			if err != nil {
				t.Fatal(err)
			}
			of[q.Dataset]++
			if holds(s.IDs(), q.Gold) {
				all[q.Dataset]++
			}
		}
		for dataset, want := range map[string]float64{"hotpotqa": c.hotpotqa, "musique": c.musique} {
			got := float64(all[dataset]) / float64(of[dataset])
			t.Logf("%s, %s, pool %s, %s: %.3f (n = %d)", c.preset, c.selector, c.pool, dataset, got, of[dataset])
			if got < want-0.03 {
				t.Errorf("%s, %s, pool %s, %s: %.3f, reference %.2f", c.preset, c.selector, c.pool, dataset, got, want)
			}
		}
	}
}

type passage struct {
	ID string `json:"id"`
}

type question struct {
	Dataset string   `json:"dataset"`
	Gold    []string `json:"gold"`
}

func holds(chosen []core.ID, gold []string) bool {
	for _, id := range gold {
		if !slices.Contains(chosen, core.StringID(id)) {
			return false
		}
	}
	return true
}

func read[T any](t *testing.T, dir, name string) (rows []T) {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func floats(t *testing.T, dir, name string, rows int) [][]float32 {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var data []float32
	if err := npyio.Read(bufio.NewReader(file), &data); err != nil {
		t.Fatal(err)
	}
	return slices.Collect(slices.Chunk(data, len(data)/rows))
}

// exact searches all vectors by inner product.
type exact struct {
	ids     []core.ID
	vectors [][]float32
}

func (e *exact) Search(_ context.Context, req core.SearchRequest) (core.SearchResult, error) {
	result := core.SearchResult{Candidates: e.nearest(req.Vector, req.K)}
	for _, q := range req.SubQueries {
		result.SubQueries = append(result.SubQueries, core.SubQueryResult{Hits: e.nearest(q, req.Depth)})
	}
	return result, nil
}

func (e *exact) nearest(q []float32, k int) []core.Candidate {
	scores, order := make([]float64, len(e.ids)), make([]int, len(e.ids))
	for i, v := range e.vectors {
		scores[i], order[i] = vec.Dot(v, q), i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), a-b) })
	hits := make([]core.Candidate, k)
	for h, i := range order[:k] {
		hits[h] = core.Candidate{ID: e.ids[i], Score: scores[i], Vector: e.vectors[i]}
	}
	return hits
}

func (e *exact) Fetch(context.Context, core.FetchRequest) ([]core.Candidate, error) {
	return nil, core.ErrUnsupported // Search returns every vector
}

func (e *exact) Close() error { return nil }
