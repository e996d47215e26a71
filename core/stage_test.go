package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

// memory is an exact store over a few passages. shuffle, where set, changes the order of what it returns; fail
// makes the search of that sub-query fail.
type memory struct {
	passages []core.Candidate
	shuffle  *rand.Rand
	fail     int // 1 + index
}

func (m *memory) Search(_ context.Context, req core.SearchRequest) (core.SearchResult, error) {
	result := core.SearchResult{Candidates: m.nearest(req.Vector, req.K, true)}
	for j, q := range req.SubQueries {
		if j+1 == m.fail {
			result.SubQueries = append(result.SubQueries, core.SubQueryResult{Err: core.ErrUnavailable})
			continue
		}
		result.SubQueries = append(result.SubQueries, core.SubQueryResult{Hits: m.nearest(q, req.Depth, false)})
	}
	return result, nil
}

func (m *memory) nearest(q []float32, k int, vectors bool) []core.Candidate {
	hits := slices.Clone(m.passages)
	for i := range hits {
		if len(hits[i].Vector) == len(q) {
			hits[i].Score = vec.Cosine(hits[i].Vector, q)
		}
	}
	slices.SortFunc(hits, func(a, b core.Candidate) int {
		if a.Score != b.Score {
			if a.Score > b.Score {
				return -1
			}
			return 1
		}
		return core.CompareID(a.ID, b.ID)
	})
	hits = hits[:min(k, len(hits))]
	if !vectors {
		for i := range hits {
			hits[i].Vector = nil
		}
	} else if m.shuffle != nil {
		m.shuffle.Shuffle(len(hits), func(i, j int) { hits[i], hits[j] = hits[j], hits[i] })
	}
	return hits
}

func (m *memory) Fetch(_ context.Context, req core.FetchRequest) ([]core.Candidate, error) {
	var found []core.Candidate
	for _, id := range req.IDs {
		if i := slices.IndexFunc(m.passages, func(c core.Candidate) bool { return c.ID == id }); i >= 0 {
			found = append(found, m.passages[i])
		}
	}
	return found, nil
}

func (m *memory) Close() error { return nil }

func vector(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// world is a random store, with duplicated vectors in it, and a question with n sub-queries.
func world(seed uint64, passages, n int) (*memory, core.Query) {
	r := rand.New(rand.NewPCG(seed, 1))
	m := &memory{}
	for i := range passages {
		v := vector(r, 8)
		if i > 0 && r.IntN(5) == 0 {
			v = m.passages[r.IntN(i)].Vector
		}
		m.passages = append(m.passages, core.Candidate{ID: core.IntID(int64(i * 7 % 101)), Vector: v})
	}
	q := core.Query{Vector: vector(r, 8)}
	for range n {
		q.SubQueries = append(q.SubQueries, core.SubQuery{Vector: vector(r, 8)})
	}
	return m, q
}

func TestSelectionIsIndependentOfTheStoresOrder(t *testing.T) {
	for _, preset := range core.PresetNames() {
		for _, name := range []string{"cosine", "mmr", "dpp", "facility", "georag", "adagres", "subq-max", "subq-avg", "rrf"} {
			for seed := range uint64(100) {
				settings, err := core.Preset(preset)
				if err != nil {
					t.Fatal(err)
				}
				settings.Selector, settings.Candidates, settings.SubQueries.Depth = name, 20, 6
				m, q := world(seed, 40, 6)
				stage := core.Stage{Store: m, Settings: settings}
				want := choose(t, stage, q)
				m.shuffle = rand.New(rand.NewPCG(seed, 2))
				got := choose(t, stage, q)
				if a, b := trace(t, want), trace(t, got); a != b {
					t.Fatalf("%s %s seed %d: traces differ\n%s\n%s", preset, name, seed, a, b)
				}
			}
		}
	}
}

func choose(t *testing.T, stage core.Stage, q core.Query) core.Selection {
	t.Helper()
	s, err := stage.Select(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func trace(t *testing.T, s core.Selection) string {
	t.Helper()
	data, err := json.Marshal(s.Trace)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestFaultsAreDegradedOrErrorsButNeverSilent(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name   string
		change func(*memory, *core.Query, *core.Settings)
		code   core.ReasonCode // wanted among the reasons
		err    error           // wanted instead of a selection
		items  int
	}{
		{"no sub-queries", func(_ *memory, q *core.Query, _ *core.Settings) { q.SubQueries = nil }, core.ReasonNoSubQueries, nil, 5},
		{"one search fails", func(m *memory, _ *core.Query, _ *core.Settings) { m.fail = 2 }, core.ReasonSubQueryFailed, nil, 5},
		{"sub-query not finite", func(_ *memory, q *core.Query, _ *core.Settings) {
			q.SubQueries[0].Vector = []float32{nan, 0, 0, 0, 0, 0, 0, 0}
		}, core.ReasonSubQueryFailed, nil, 5},
		{"fewer than k", func(m *memory, _ *core.Query, _ *core.Settings) { m.passages = m.passages[:3] }, core.ReasonFewerThanK, nil, 3},
		{"zero vector", func(m *memory, _ *core.Query, _ *core.Settings) { m.passages[0].Vector = make([]float32, 8) }, core.ReasonCandidate, nil, 5},
		{"NaN in a stored vector", func(m *memory, _ *core.Query, _ *core.Settings) {
			m.passages[0].Vector = []float32{1, nan, 0, 0, 0, 0, 0, 0}
		}, core.ReasonCandidate, nil, 5},
		{"infinite stored vector", func(m *memory, _ *core.Query, _ *core.Settings) {
			m.passages[0].Vector = []float32{inf, 0, 0, 0, 0, 0, 0, 0}
		}, core.ReasonCandidate, nil, 5},
		{"missing stored vector", func(m *memory, _ *core.Query, _ *core.Settings) { m.passages[0].Vector = nil }, core.ReasonCandidate, nil, 5},
		{"no stored vector at all", func(m *memory, _ *core.Query, _ *core.Settings) {
			for i := range m.passages {
				m.passages[i].Vector = nil
			}
		}, "", core.ErrNoVectors, 0},
		{"zero vector under strict", func(m *memory, _ *core.Query, s *core.Settings) {
			m.passages[0].Vector, s.Strict = make([]float32, 8), true
		}, "", core.ErrStrict, 0},
		{"negative k", func(_ *memory, _ *core.Query, s *core.Settings) { s.K = -1 }, "", core.ErrInvalid, 0},
		{"wrong dimension", func(m *memory, _ *core.Query, _ *core.Settings) { m.passages[0].Vector = make([]float32, 7) }, core.ReasonCandidate, nil, 5},
		{"same id twice", func(m *memory, _ *core.Query, _ *core.Settings) { m.passages = append(m.passages, m.passages[0]) }, core.ReasonDuplicateID, nil, 5},
		{"strict", func(_ *memory, q *core.Query, s *core.Settings) { q.SubQueries = nil; s.Strict = true }, "", core.ErrStrict, 0},
		{"query of zeros", func(_ *memory, q *core.Query, _ *core.Settings) { q.Vector = make([]float32, 8) }, "", core.ErrZero, 0},
		{"k = 0", func(_ *memory, _ *core.Query, s *core.Settings) { s.K = 0 }, "", core.ErrInvalid, 0},
		{"K below k", func(_ *memory, _ *core.Query, s *core.Settings) { s.Candidates = 4 }, "", core.ErrInvalid, 0},
		{"unknown selector", func(_ *memory, _ *core.Query, s *core.Settings) { s.Selector = "best" }, "", core.ErrInvalid, 0},
		{"server selector without a server", func(_ *memory, _ *core.Query, s *core.Settings) { s.Selector = core.SelectorQdrantMMR }, "", core.ErrUnsupported, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, q := world(1, 60, 6)
			settings := core.DefaultPreset()
			c.change(m, &q, &settings)
			stage := core.Stage{Store: m, Settings: settings}
			s, err := stage.Select(context.Background(), q)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if len(s.Items) != c.items {
				t.Errorf("%d items, want %d", len(s.Items), c.items)
			}
			told := slices.ContainsFunc(s.Trace.Degraded, func(r core.Reason) bool { return r.Code == c.code })
			if c.code != "" && !told {
				t.Errorf("degraded %v, want %s", s.Trace.Degraded, c.code)
			}
		})
	}
}

func TestHealthySelectionIsNotDegraded(t *testing.T) {
	m, q := world(1, 60, 6)
	stage := core.Stage{Store: m}
	s := choose(t, stage, q)
	if len(s.Trace.Degraded) > 0 || s.Trace.Mode == "" || len(s.Trace.Steps) != 5 {
		t.Errorf("trace %+v", s.Trace)
	}
}
