package core_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/filter"
	"github.com/georag/georag/core/vec"
)

var filterNames = []string{core.FilterRicci, core.FilterKMeans}

// filtering returns a stage whose candidates, all of the dense pool, pass the named filter.
func filtering(m *memory, name string, depth int) core.Stage {
	settings := core.DefaultPreset()
	settings.Pool, settings.Candidates, settings.SubQueries.Depth = core.PoolDense, 30, 6
	settings.Filter.Name, settings.Filter.Depth = name, depth
	return core.Stage{Store: m, Settings: settings}
}

// filtered applies a filter outside the stage to the nearest passages.
func filtered(t *testing.T, m *memory, q core.Query, name string, depth int) (nearest []core.Candidate, result filter.Result) {
	t.Helper()
	nearest = m.nearest(q.Vector, depth, true)
	var units [][]float32
	for _, c := range nearest {
		units = append(units, vec.Normalise(nil, c.Vector))
	}
	similarity, err := filter.Similarities(nil, vec.Normalise(nil, q.Vector), units)
	if err != nil {
		t.Fatal(err)
	}
	if name == core.FilterRicci {
		result, err = filter.Ricci(similarity, filter.RicciOptions{Depth: depth})
	} else {
		result, err = filter.KMeans(similarity, filter.KMeansOptions{Depth: depth})
	}
	if err != nil {
		t.Fatal(err)
	}
	return nearest, result
}

// keptIDs are the IDs that stay, in ID order.
func keptIDs(nearest []core.Candidate, result filter.Result) (ids []core.ID) {
	for _, i := range result.Kept {
		ids = append(ids, nearest[i].ID)
	}
	slices.SortFunc(ids, core.CompareID)
	return ids
}

// competed lists the candidates that were left to the selector.
func competed(s core.Selection) (ids []core.ID) {
	for _, d := range s.Trace.Demand {
		ids = append(ids, d.ID)
	}
	return ids
}

func TestStageFiltersAsTheFilterAlone(t *testing.T) {
	for _, name := range filterNames {
		narrowed := 0
		for seed := range uint64(30) {
			m, q := world(seed, 60, 6)
			stage := filtering(m, name, 20)
			s := choose(t, stage, q)
			got := competed(s)
			nearest, alone := filtered(t, m, q, name, 20)
			if want := keptIDs(nearest, alone); !slices.Equal(got, want) {
				t.Fatalf("%s, seed %d: %v competed, want %v", name, seed, got, want)
			}
			requireLooks(t, s.Trace.Filter, nearest, alone)
			if len(got) < 20 {
				narrowed++
			}
			f := s.Trace.Filter
			if f == nil || f.Name != name || len(f.Dropped)+len(got) != s.Trace.Candidates || s.Trace.Candidates != 30 {
				t.Fatalf("%s, seed %d: %d candidates, filter trace %+v", name, seed, s.Trace.Candidates, f)
			}
			mass := 0.0
			for _, d := range s.Trace.Demand {
				mass += d.Share
			}
			if math.Abs(mass-1) > 1e-9 {
				t.Fatalf("%s, seed %d: the demand over those that stay sums to %v", name, seed, mass)
			}
			for _, id := range s.IDs() {
				if !slices.Contains(got, id) {
					t.Fatalf("%s, seed %d: %s was chosen and had been dropped", name, seed, id)
				}
			}
		}
		if narrowed < 20 {
			t.Errorf("%s dropped something of the nearest 20 in %d of 30 worlds", name, narrowed)
		}
	}
}

// requireLooks requires the trace to tell what the filter itself went by.
func requireLooks(t *testing.T, f *core.FilterTrace, nearest []core.Candidate, alone filter.Result) {
	t.Helper()
	if len(f.Looked) != len(nearest) {
		t.Fatalf("%s looked at %d candidates, want %d", f.Name, len(f.Looked), len(nearest))
	}
	for i, look := range f.Looked {
		if look.ID != nearest[i].ID || look.Kept != slices.Contains(alone.Kept, i) ||
			math.Abs(*look.Length-alone.QueryLengths[i]) > 1e-6 || *look.Community != alone.Communities[i] {
			t.Fatalf("%s, candidate %d: %+v, length %v, community %d; want %s, %v, %d", f.Name, i, look, *look.Length,
				*look.Community, nearest[i].ID, alone.QueryLengths[i], alone.Communities[i])
		}
		if f.Name == core.FilterRicci && look.Kept != (*look.Length <= f.Eta+1e-9) {
			t.Fatalf("candidate %d of length %v and η %v: kept %v", i, *look.Length, f.Eta, look.Kept)
		}
	}
}

func TestFilteredSelectionIsIndependentOfTheStoresOrder(t *testing.T) {
	for _, name := range filterNames {
		for seed := range uint64(50) {
			m, q := world(seed, 40, 6)
			stage := filtering(m, name, 15)
			stage.Settings.Filter.Protect = seed%2 == 0
			want := trace(t, choose(t, stage, q))
			m.shuffle = rand.New(rand.NewPCG(seed, 2))
			if got := trace(t, choose(t, stage, q)); got != want {
				t.Fatalf("%s, seed %d: traces differ\n%s\n%s", name, seed, want, got)
			}
		}
	}
}

// TestProtectionKeepsTheBestServerOfEverySubQuery runs each world with protection and without.
func TestProtectionKeepsTheBestServerOfEverySubQuery(t *testing.T) {
	for _, name := range filterNames {
		lost, saved := 0, 0
		for seed := range uint64(30) {
			m, q := world(seed, 60, 6)
			stage := filtering(m, name, 12)
			stage.Settings.Pool = core.PoolUnion
			bare := competed(choose(t, stage, q))
			stage.Settings.Filter.Protect = true
			s := choose(t, stage, q)
			protected := competed(s)
			saved += len(s.Trace.Filter.Saved)
			for j, sub := range q.SubQueries {
				if s.Trace.SubQueries[j].Weight == 0 {
					continue
				}
				best := m.nearest(sub.Vector, 1, true)[0].Vector
				if !holds(m, protected, best) {
					t.Fatalf("%s, seed %d: the best server of sub-query %d was dropped", name, seed, j)
				}
				if !holds(m, bare, best) {
					lost++
				}
			}
		}
		if lost == 0 || saved == 0 {
			t.Errorf("%s: %d best servers lost without protection, %d saved with it: the test shows nothing", name, lost, saved)
		}
	}
}

// holds reports whether a passage with this vector is among the IDs; several passages may have it.
func holds(m *memory, ids []core.ID, v []float32) bool {
	return slices.ContainsFunc(m.passages, func(c core.Candidate) bool {
		return slices.Equal(c.Vector, v) && slices.Contains(ids, c.ID)
	})
}

func TestFilterThatLeavesFewerThanKSaysSo(t *testing.T) {
	for _, name := range filterNames {
		m, q := world(3, 60, 6)
		stage := filtering(m, name, 4)
		s := choose(t, stage, q)
		var codes []core.ReasonCode
		for _, r := range s.Trace.Degraded {
			codes = append(codes, r.Code)
		}
		if !slices.Equal(codes, []core.ReasonCode{core.ReasonFewerThanK}) || len(s.Items) > 4 || len(s.Items) == 0 {
			t.Errorf("%s: %d items, degraded %v", name, len(s.Items), s.Trace.Degraded)
		}
		stage.Settings.Strict = true
		if _, err := stage.Select(context.Background(), q); !errors.Is(err, core.ErrStrict) {
			t.Errorf("%s under strict: %v", name, err)
		}
	}
}

func TestFilterThatCannotTellFallsBack(t *testing.T) {
	for _, name := range filterNames {
		m, q := world(3, 60, 6)
		s := choose(t, filtering(m, name, 1), q)
		told := slices.ContainsFunc(s.Trace.Degraded, func(r core.Reason) bool { return r.Code == core.ReasonFilter })
		if !told || len(s.Items) != 1 || s.Trace.Filter.Note != string(filter.ReasonTooFew) ||
			len(s.Trace.Filter.Looked) != 1 || s.Trace.Filter.Looked[0].Length != nil || !s.Trace.Filter.Looked[0].Kept {
			t.Errorf("%s: %d items, degraded %v, filter %+v", name, len(s.Items), s.Trace.Degraded, s.Trace.Filter)
		}
	}
}

// hurried is a context whose deadline is always about to pass.
type hurried struct{ context.Context }

func (hurried) Deadline() (time.Time, bool) { return time.Now().Add(time.Millisecond), true }

// TestFilterLeavesTimeToSelect: a flow over so many candidates takes minutes, which a deadline does not leave.
func TestFilterLeavesTimeToSelect(t *testing.T) {
	m, q := world(3, 320, 6)
	stage := filtering(m, core.FilterRicci, 300)
	stage.Settings.Candidates = 300
	s, err := stage.Select(hurried{t.Context()}, q)
	if err != nil {
		t.Fatal(err)
	}
	told := slices.ContainsFunc(s.Trace.Degraded, func(r core.Reason) bool { return r.Code == core.ReasonFilter })
	if !told || s.Trace.Filter.Note != string(filter.ReasonInterrupted) || len(s.Items) != stage.Settings.K || len(s.Trace.Filter.Dropped) != 0 {
		t.Errorf("%d items, filter %q dropped %d, degraded %v", len(s.Items), s.Trace.Filter.Note, len(s.Trace.Filter.Dropped), s.Trace.Degraded)
	}
}

func TestFilterSettingsOutOfRange(t *testing.T) {
	for what, change := range map[string]func(*core.FilterSettings){
		"name":       func(f *core.FilterSettings) { f.Name = "graph" },
		"depth":      func(f *core.FilterSettings) { f.Depth = 0 },
		"percentile": func(f *core.FilterSettings) { f.TauPercentile = 100.5 },
		"p":          func(f *core.FilterSettings) { f.P = math.NaN() },
		"alpha":      func(f *core.FilterSettings) { f.Alpha = 1 },
		"steps":      func(f *core.FilterSettings) { f.Steps = 0 },
		"step size":  func(f *core.FilterSettings) { f.StepSize = 0 },
		"eta":        func(f *core.FilterSettings) { f.Eta = -1 },
	} {
		f := core.NoFilter()
		if err := f.Validate(); err != nil {
			t.Fatal(err)
		}
		if change(&f); !errors.Is(f.Validate(), core.ErrInvalid) {
			t.Errorf("%s: %v", what, f.Validate())
		}
	}
}
