package integration

import (
	"slices"
	"testing"
	"time"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/questions"
)

// described is a store that says what it is.
type described interface {
	core.Store
	core.Describer
}

// compareWithFlat requires that the stage on store chooses, for at least that share of the questions, the passages
// that it chose on the flat index, ties aside.
func compareWithFlat(t *testing.T, addr string, store described, asked []questions.Question, want []core.Selection, least float64) {
	t.Helper()
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
	if float64(same) < least*float64(len(asked)) {
		t.Errorf("the same five for %d of %d questions, want a share of %v", same, len(asked), least)
	}
}

func chooseAll(t testing.TB, store core.Store, asked []questions.Question) (chosen []core.Selection) {
	t.Helper()
	for _, q := range asked {
		chosen = append(chosen, choose(t, store, q))
	}
	return chosen
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

// measure reports where the time of a selection goes: into the stage itself or into the calls to the store.
func measure(b *testing.B, store core.Store, asked []questions.Question) {
	choose(b, store, asked[0]) // connected, and the schema known
	var own, calls []time.Duration
	for i := 0; b.Loop(); i++ {
		took := choose(b, store, asked[i%len(asked)]).Timings
		own, calls = append(own, took.Total-took.Store), append(calls, took.Store)
	}
	b.ReportMetric(median(own), "own-p50-ms")
	b.ReportMetric(median(calls), "store-p50-ms")
}

// median is the p50 in milliseconds.
func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2]) / float64(time.Millisecond)
}
