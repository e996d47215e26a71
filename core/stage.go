package core

import (
	"context"
	"fmt"
	"time"

	"github.com/georag/georag/core/demand"
)

// Stage is the retrieval stage next to a vector database. Its fields are set once; Select is then safe for
// concurrent use. Only Store is always needed.
type Stage struct {
	Store    Store
	Planner  Planner
	Reranker Reranker       // for the selector "rerank"
	Conflict ConflictScorer // for the selector "smart"
	// Settings of every selection; its zero value is [DefaultPreset].
	Settings Settings
	// Observe, where set, is told of every arrow of the flow as it ends, failed ones included, for traces and
	// metrics. The demand arrow comes in two parts. It is called by the goroutine of Select and must not block.
	Observe func(ctx context.Context, arrow Arrow, start time.Time, took time.Duration)
}

// Select answers one question: it plans the searches, asks the store once, works out where the question needs
// evidence, and picks the passages that together cover it. The error wraps one of the package's sentinels, or
// the context's error; whatever else went wrong is listed in Selection.Trace.Degraded.
func (s *Stage) Select(ctx context.Context, q Query) (Selection, error) {
	run, err := s.begin(ctx, q)
	if err != nil {
		return Selection{}, err
	}
	defer run.cancel()

	plan, err := run.plan(q) // Query → vectors of the question and of its kept sub-queries
	if err != nil {
		return Selection{}, err
	}
	if run.settings.Selector == SelectorQdrantMMR {
		return run.selectOnServer(plan)
	}
	found, err := run.search(plan) // → K candidates with vectors, and R_j for every sub-query
	if err != nil {
		return Selection{}, err
	}
	pool, err := run.pool(plan, found) // → the candidates that compete, as unit vectors in ID order
	if err != nil {
		return Selection{}, err
	}
	wanted, err := run.demand(plan, pool) // → P, where the question needs evidence
	if err != nil {
		return Selection{}, err
	}
	pool, wanted, err = run.filter(plan, pool, wanted) // → fewer candidates, where a filter is set
	if err != nil {
		return Selection{}, err
	}
	picks, err := run.pick(plan, pool, wanted) // → the k passages that together cover P
	if err != nil {
		return Selection{}, err
	}
	return run.finish(plan, pool, wanted, picks)
}

// selection is one run of the stage: its settings, and what is to be told about it.
type selection struct {
	*Stage
	settings Settings
	ctx      context.Context
	cancel   context.CancelFunc
	started  time.Time
	trace    Trace
	timings  Timings
}

func (s *Stage) begin(ctx context.Context, q Query) (*selection, error) {
	settings := s.Settings
	if settings == (Settings{}) {
		settings = DefaultPreset()
	}
	if err := settings.Validate(); err != nil {
		return nil, err
	}
	if settings.Pool.Base() == PoolGiven && len(q.Given) == 0 {
		return nil, fmt.Errorf("core: %w: pool is %q and the query gives no candidates", ErrInvalid, settings.Pool)
	}
	if n := len(q.SubQueries); n > MaxSubQueries {
		return nil, fmt.Errorf("core: %w: the query brings %d sub-queries, want at most %d", ErrInvalid, n, MaxSubQueries)
	}
	run := &selection{Stage: s, settings: settings, ctx: ctx, cancel: func() {}, started: time.Now()}
	if settings.Timeout > 0 {
		run.ctx, run.cancel = context.WithTimeout(ctx, settings.Timeout)
	}
	run.trace = Trace{Preset: settings.Preset, Selector: settings.Selector, Pool: settings.Pool, Steps: []StepTrace{}, Degraded: []Reason{}}
	return run, nil
}

// degrade notes why the result will be less than what was asked for.
func (r *selection) degrade(code ReasonCode, format string, values ...any) {
	r.trace.Degraded = append(r.trace.Degraded, Reason{Code: code, Detail: fmt.Sprintf(format, values...)})
}

// clock adds the time since it was called to a timing, and tells the observer.
func (r *selection) clock(arrow Arrow, total *time.Duration) func() {
	start := time.Now()
	return func() {
		took := time.Since(start)
		*total += took
		if r.Observe != nil {
			r.Observe(r.ctx, arrow, start, took)
		}
	}
}

// demand builds P over the pool and explains each kept sub-query.
func (r *selection) demand(plan Plan, p *pool) (demand.Demand, error) {
	defer r.clock(ArrowDemand, &r.timings.Demand)()
	d, err := demand.Build(p.demandInput(), r.settings.Demand)
	if err != nil {
		return d, err
	}
	for _, f := range d.Fallbacks {
		switch f.Kind {
		case demand.FallbackWeights:
			r.degrade(ReasonWeights, "%s", f.Detail)
		case demand.FallbackPrior:
			r.degrade(ReasonDemand, "%s", f.Detail)
		case demand.FallbackQuestion: // why there are no sub-queries is told where it happened
		}
	}
	for j, at := range plan.kept {
		t := &r.trace.SubQueries[at]
		v := p.validations[j]
		t.Kept, t.Overlap, t.Novelty, t.Quality = true, v.Overlap, v.Novelty, v.Quality
		t.Weight, t.Drifted = d.Weights[j], d.Drifted[j]
	}
	return d, nil
}
