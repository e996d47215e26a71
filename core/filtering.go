package core

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/georag/georag/core/demand"
	"github.com/georag/georag/core/filter"
)

// FilterSettings say whether candidates are dropped before selection, and how. Every value is explicit; start from
// [NoFilter].
type FilterSettings struct {
	Name string `koanf:"name" json:"name"` // none or ricci
	// Depth is how many candidates, nearest first, the filter looks at (k = 20 in the publication of ricci);
	// the others are dropped.
	Depth int `koanf:"depth" json:"depth"`
	// Protect keeps the best server of every kept sub-query, which the question's own geometry may drop.
	Protect bool `koanf:"protect" json:"protect"`

	TauPercentile float64 `koanf:"tau_percentile" json:"tau_percentile"` // ricci: edge threshold τ, 0 to 100
	P             float64 `koanf:"p" json:"p"`                           // ricci: exponent of the node measure
	Alpha         float64 `koanf:"alpha" json:"alpha"`                   // ricci: mass left on the node, [0, 1)
	Steps         int     `koanf:"steps" json:"steps"`                   // ricci: M
	StepSize      float64 `koanf:"step_size" json:"step_size"`           // ricci: ε, (0, 1]
	Eta           float64 `koanf:"eta" json:"eta"`                       // ricci: longest query edge kept
}

// Names of the filters.
const (
	FilterNone  = "none"
	FilterRicci = "ricci"
)

// FilterNames lists the filters.
func FilterNames() []string { return []string{FilterNone, FilterRicci} }

// NoFilter returns the published parameters of the filters with none of them on.
func NoFilter() FilterSettings {
	return FilterSettings{
		Name: FilterNone, Depth: filter.DefaultDepth, Protect: false,
		TauPercentile: 50, P: 2, Alpha: 0.5, Steps: 20, StepSize: 1, Eta: 1,
	}
}

// Validate reports the first setting out of its range; the error wraps [ErrInvalid].
func (f FilterSettings) Validate() error {
	if !slices.Contains(FilterNames(), f.Name) {
		return fmt.Errorf("core: %w: filter.name is %q, want one of %q", ErrInvalid, f.Name, FilterNames())
	}
	for _, number := range []struct {
		name        string
		value       float64
		least, most float64
		open        bool // least itself is out of range
	}{
		{"depth", float64(f.Depth), 1, 1000, false},
		{"tau_percentile", f.TauPercentile, 0, 100, false},
		{"p", f.P, 0, 100, false},
		{"alpha", f.Alpha, 0, 0.999999, false},
		{"steps", float64(f.Steps), 1, 1000, false},
		{"step_size", f.StepSize, 0, 1, true},
		{"eta", f.Eta, 0, 1e6, true},
	} {
		inside := number.value >= number.least && number.value <= number.most && !(number.open && number.value == number.least)
		if !inside {
			return fmt.Errorf("core: %w: filter.%s is %v, want %v to %v", ErrInvalid, number.name, number.value, number.least, number.most)
		}
	}
	return nil
}

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
	return filter.Ricci(similarity, filter.RicciOptions{
		TauPercentile: &f.TauPercentile, P: &f.P, Alpha: &f.Alpha, Steps: f.Steps,
		StepSize: f.StepSize, Eta: f.Eta, Depth: f.Depth, Protected: protected,
	})
}

// traceFilter explains what was dropped and returns the rows kept, ascending.
func (r *selection) traceFilter(p *pool, rows []int, outcome filter.Result) []int {
	stays := make(map[int]bool, len(outcome.Kept))
	kept := make([]int, 0, len(outcome.Kept))
	for _, i := range outcome.Kept {
		stays[rows[i]] = true
		kept = append(kept, rows[i])
	}
	slices.Sort(kept)
	t := &FilterTrace{Name: r.settings.Filter.Name, Note: string(outcome.Reason), Dropped: []ID{}}
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
