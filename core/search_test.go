package core_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/georag/georag/core"
)

// counting is a memory that counts what it is asked.
type counting struct {
	*memory
	searches, fetches int
}

func (c *counting) Search(ctx context.Context, req core.SearchRequest) (core.SearchResult, error) {
	c.searches++
	return c.memory.Search(ctx, req)
}

func (c *counting) Fetch(ctx context.Context, req core.FetchRequest) ([]core.Candidate, error) {
	c.fetches++
	return c.memory.Fetch(ctx, req)
}

func TestGivenPoolAsksForNothingThatIsNotRead(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(*core.Query, *core.Settings)
		searches int
	}{
		{"sub-queries are validated", func(*core.Query, *core.Settings) {}, 1},
		{"no sub-queries", func(q *core.Query, _ *core.Settings) { q.SubQueries = nil }, 0},
		{"no reverse validation", func(_ *core.Query, s *core.Settings) { s.Demand.ReverseValidation = false }, 0},
	} {
		m, q := world(1, 60, 6)
		store := &counting{memory: m}
		settings := core.DefaultPreset()
		settings.Pool = core.PoolGiven
		for i := range 12 {
			q.Given = append(q.Given, core.Candidate{ID: m.passages[i].ID, Score: float64(12 - i)})
		}
		c.change(&q, &settings)
		s := choose(t, core.Stage{Store: store, Settings: settings}, q)
		if store.searches != c.searches || store.fetches != 1 || len(s.Items) != 5 {
			t.Errorf("%s: %d searches, %d fetches, %d items", c.name, store.searches, store.fetches, len(s.Items))
		}
	}
}

func TestFetchesAreAmongTheCalls(t *testing.T) {
	m, q := world(1, 60, 6)
	stage := core.Stage{Store: m, Settings: core.DefaultPreset()}
	stage.Settings.Candidates, stage.Settings.SubQueries.Depth = 10, 6 // some hits lie outside and come without vectors
	calls := choose(t, stage, q).Timings.Calls
	fetches := 0
	for _, c := range calls {
		if c.Name == "fetch" && c.Duration > 0 {
			fetches++
		}
	}
	if fetches != 1 {
		t.Errorf("calls %+v, want one fetch among them", calls)
	}
}

func TestTooManySubQueriesAreRefused(t *testing.T) {
	m, q := world(1, 60, core.MaxSubQueries)
	for _, maxMin := range []bool{true, false} {
		stage := core.Stage{Store: m, Settings: core.DefaultPreset()}
		stage.Settings.SubQueries.MaxMin = maxMin
		if _, err := stage.Select(context.Background(), q); err != nil {
			t.Errorf("%d sub-queries, max-min %v: %v", len(q.SubQueries), maxMin, err)
		}
		more := q
		more.SubQueries = append(slices.Clone(q.SubQueries), q.SubQueries[0])
		if _, err := stage.Select(context.Background(), more); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%d sub-queries, max-min %v: %v", len(more.SubQueries), maxMin, err)
		}
	}
}

// badScore is a memory whose nearest candidate comes with a score that is not finite.
type badScore struct {
	*memory
	score float64
}

func (b badScore) Search(ctx context.Context, req core.SearchRequest) (core.SearchResult, error) {
	found, err := b.memory.Search(ctx, req)
	found.Candidates[0].Score = b.score
	return found, err
}

// TestUnusableScoreSparesTheHitsOutside: hits beyond the main candidates compete with the lowest main score, and one
// that is not finite sets aside its own candidate only.
func TestUnusableScoreSparesTheHitsOutside(t *testing.T) {
	for _, score := range []float64{math.NaN(), math.Inf(-1), math.Inf(1)} {
		m, q := world(1, 60, 6)
		stage := core.Stage{Store: badScore{m, score}, Settings: core.DefaultPreset()}
		stage.Settings.Candidates, stage.Settings.SubQueries.Depth = 10, 6
		s := choose(t, stage, q)
		if s.Trace.Outside == 0 || s.Trace.Candidates-s.Trace.Outside != 9 || len(s.Trace.Degraded) != 1 {
			t.Errorf("score %v: %d candidates, %d of them outside, degraded %v; want 9 main ones and some outside, one set aside",
				score, s.Trace.Candidates, s.Trace.Outside, s.Trace.Degraded)
		}
	}
}
