// Package integration tests the stage on real data and real servers.
package integration

import (
	"slices"
	"testing"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/questions"
	"github.com/georag/georag/internal/shareddata"
)

// TestRealQuestions measures the share of the 140 real questions with all gold passages in five, and holds it
// against the reference figures within 0.03, which is about two of 70 questions.
func TestRealQuestions(t *testing.T) {
	dir := shareddata.Shared(t, "data/wiki-multihop")
	asked, err := questions.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	store, err := flat.Open(flat.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, c := range []struct {
		preset, selector  string
		pool              core.Pool
		hotpotqa, musique float64
	}{
		{core.PresetDefault, "georag", core.PoolUnion, 0.93, 0.69},
		{core.PresetDefault, "georag", core.PoolDense, 0.84, 0.59},
		{core.PresetDefault, "facility", core.PoolUnion, 0.91, 0.70},
		{core.PresetDefault, "cosine", core.PoolUnion, 0.56, 0.30},
		{core.PresetDefault, "cosine", core.PoolDense, 0.56, 0.30},
		{core.PresetPaper, "georag", core.PoolDense, 0.17, 0.04},
	} {
		settings, err := core.Preset(c.preset)
		if err != nil {
			t.Fatal(err)
		}
		settings.Selector, settings.Pool = c.selector, c.pool
		stage := core.Stage{Store: store, Settings: settings}
		got := sharesOfAllGold(t, stage, asked)
		for dataset, want := range map[string]float64{"hotpotqa": c.hotpotqa, "musique": c.musique} {
			t.Logf("%s, %s, pool %s, %s: %.3f", c.preset, c.selector, c.pool, dataset, got[dataset])
			if got[dataset] < want-0.03 {
				t.Errorf("%s, %s, pool %s, %s: %.3f, reference %.2f", c.preset, c.selector, c.pool, dataset, got[dataset], want)
			}
		}
	}
}

// sharesOfAllGold is, for each dataset, the share of questions whose gold passages are all selected.
func sharesOfAllGold(t *testing.T, stage core.Stage, asked []questions.Question) map[string]float64 {
	t.Helper()
	all, of := map[string]int{}, map[string]int{}
	for _, q := range asked {
		s, err := stage.Select(t.Context(), q.Query())
		if err != nil {
			t.Fatalf("question %s: %v", q.ID, err)
		}
		chosen := s.IDs()
		of[q.Dataset]++
		if !slices.ContainsFunc(q.Gold, func(id core.ID) bool { return !slices.Contains(chosen, id) }) {
			all[q.Dataset]++
		}
	}
	shares := make(map[string]float64, len(of))
	for dataset, n := range of {
		shares[dataset] = float64(all[dataset]) / float64(n)
	}
	return shares
}
