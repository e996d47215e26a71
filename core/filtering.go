package core

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/georag/georag/core/demand"
	"github.com/georag/georag/core/filter"
)

// filter drops candidates, where a filter is set, and renews the demand over those that stay.
func (r *selection) filter(plan Plan, p *pool, wanted demand.Demand) (*pool, demand.Demand, error) {
	f := r.settings.Filter
	if f.Name == FilterNone || len(p.candidates) == 0 {
		return p, wanted, nil
	}
	defer r.clock(ArrowFilter, &r.timings.Filter)()
	nearest, protected := p.nearest(f.Depth), []int(nil)
	if f.Protect {
		nearest, protected = p.protect(nearest, wanted.Weights)
	}
	outcome, err := r.runFilter(plan, p, nearest, protected)
	if err != nil {
		return p, wanted, fmt.Errorf("core: filter %s: %w", f.Name, err)
	}
	kept := r.traceFilter(p, nearest, outcome)
	p = p.keep(kept)
	if wanted, err = demand.Build(p.demandInput(), r.settings.Demand); err != nil {
		return p, wanted, err
	}
	return p, wanted, nil
}

// nearest returns the rows of the depth best candidates: by the store's score, then by cosine to the question,
// since hits of sub-queries have no score of their own, then by ID.
func (p *pool) nearest(depth int) []int {
	rows := make([]int, len(p.candidates))
	for i := range rows {
		rows[i] = i
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.candidates[b].Score, p.candidates[a].Score), cmp.Compare(p.query[b], p.query[a]))
	})
	return rows[:min(depth, len(rows))]
}

// protect returns the rows a filter looks at, the best server of each weighted sub-query among them, and the
// positions of those servers.
func (p *pool) protect(rows []int, weights []float64) (looked, protected []int) {
	for j, cosines := range p.subQueries {
		if weights[j] == 0 {
			continue
		}
		best := floats.MaxIdx(cosines)
		at := slices.Index(rows, best)
		if at < 0 {
			at, rows = len(rows), append(rows, best)
		}
		if !slices.Contains(protected, at) {
			protected = append(protected, at)
		}
	}
	return rows, protected
}

func (r *selection) runFilter(plan Plan, p *pool, rows, protected []int) (filter.Result, error) {
	units := make([][]float32, len(rows))
	for i, row := range rows {
		units[i] = p.geometry.Row(row)
	}
	similarity, err := filter.Similarities(nil, plan.question, units)
	if err != nil {
		return filter.Result{}, err
	}
	f := r.settings.Filter
	if f.Name == FilterKMeans {
		return filter.KMeans(similarity, filter.KMeansOptions{Seed: f.Seed, Depth: f.Depth, Protected: protected})
	}
	return filter.Ricci(similarity, filter.RicciOptions{
		TauPercentile: &f.TauPercentile, P: &f.P, Alpha: &f.Alpha, Steps: f.Steps,
		StepSize: f.StepSize, Eta: f.Eta, Depth: f.Depth, Protected: protected,
		Interrupted: r.pressed,
	})
}

// pressed reports whether the context has ended, or its deadline leaves no time but for the selector.
func (r *selection) pressed() bool {
	deadline, ok := r.ctx.Deadline()
	return r.ctx.Err() != nil || ok && time.Until(deadline) < filterMargin+headroom[r.settings.Selector]
}

// filterMargin is what stands between a filter and its selector: the demand over the candidates that stay.
const filterMargin = 5 * time.Millisecond

// traceFilter explains what was dropped and returns the rows kept, ascending.
func (r *selection) traceFilter(p *pool, rows []int, outcome filter.Result) []int {
	stays := make(map[int]bool, len(outcome.Kept))
	kept := make([]int, 0, len(outcome.Kept))
	for _, i := range outcome.Kept {
		stays[rows[i]] = true
		kept = append(kept, rows[i])
	}
	slices.Sort(kept)
	t := &FilterTrace{
		Name: r.settings.Filter.Name, Note: string(outcome.Reason), Looked: r.looks(p, rows, stays, outcome), Dropped: []ID{},
	}
	if t.Name == FilterRicci {
		t.Eta = r.settings.Filter.Eta
	}
	for i, c := range p.candidates {
		if !stays[i] {
			t.Dropped = append(t.Dropped, c.ID)
		}
	}
	for _, i := range outcome.Saved {
		t.Saved = append(t.Saved, p.candidates[rows[i]].ID)
	}
	if outcome.FellBack {
		r.degrade(ReasonFilter, "%s: %s: all %d stay", t.Name, outcome.Reason, len(kept))
	}
	r.trace.Filter = t
	return kept
}

// looks explains each candidate that the filter looked at. Protected ones may follow them in rows.
func (r *selection) looks(p *pool, rows []int, stays map[int]bool, outcome filter.Result) []FilterLook {
	looks := make([]FilterLook, min(r.settings.Filter.Depth, len(rows)))
	for i := range looks {
		looks[i] = FilterLook{ID: p.candidates[rows[i]].ID, Kept: stays[rows[i]]}
		if len(outcome.QueryLengths) > 0 {
			looks[i].Length, looks[i].Community = &outcome.QueryLengths[i], &outcome.Communities[i]
		}
	}
	return looks
}
