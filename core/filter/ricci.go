package filter

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// lengthTolerance is how far above η a length may be by rounding: lengths that are equal by symmetry meet the same
// fate, whatever the order of the candidates.
const lengthTolerance = 1e-9

// RicciOptions are the parameters of the Ricci filter. The zero value is the published setting, with the whole of
// each step applied (ε = 1), as the publication's theory has it; its experiments do not state ε.
type RicciOptions struct {
	// TauPercentile, in [0, 100], sets τ: pairs of candidates with 1 − cos ≥ τ are joined, τ being that percentile
	// of 1 − cos over all pairs of different nodes, interpolated linearly. nil means 50; 0 joins all.
	TauPercentile *float64
	// P ≥ 0 is the exponent p of the node measure. nil means 2; 0 gives every neighbour the same mass.
	P *float64
	// Alpha, in [0, 1), is the mass α that the measure of a node leaves on the node. nil means 0.5.
	Alpha *float64
	// Steps is M, the number of flow steps. 0 means 20.
	Steps int
	// StepSize is ε in (0, 1]. 0 means 1.
	StepSize float64
	// Eta > 0 is the largest final length of the edge to the query that keeps a candidate; lengths have mean 1.
	// 0 means 1.
	Eta float64
	// Depth is k, how many candidates, from the first on, the filter looks at; the rest is dropped. 0 means
	// [DefaultDepth]. Time grows about as k⁴.
	Depth int
	// Protected holds indexes of candidates that are kept in any case.
	Protected []int
	// Interrupted, where set, is asked before every edge of every step; true ends the flow, and the filter falls back
	// with [ReasonInterrupted].
	Interrupted func() bool
}

// Validate reports the first option outside its range, as [ErrOption].
func (o RicciOptions) Validate() error {
	s := o.settings()
	for _, check := range []struct {
		name  string
		value float64
		ok    bool
	}{
		{"tau percentile", s.tauPercentile, s.tauPercentile >= 0 && s.tauPercentile <= 100},
		{"p", s.p, s.p >= 0 && !math.IsInf(s.p, 1)},
		{"alpha", s.alpha, s.alpha >= 0 && s.alpha < 1},
		{"steps", float64(s.steps), s.steps > 0},
		{"step size", s.stepSize, s.stepSize > 0 && s.stepSize <= 1},
		{"eta", s.eta, s.eta > 0},
		{"depth", float64(s.depth), s.depth > 0},
	} {
		if !check.ok {
			return fmt.Errorf("core/filter: %w: %s %v", ErrOption, check.name, check.value)
		}
	}
	return nil
}

// settings are options with the defaults filled in.
type settings struct {
	tauPercentile, p, alpha, stepSize, eta float64
	steps, depth                           int
	interrupted                            func() bool
}

func (o RicciOptions) settings() settings {
	orDefault := func(value *float64, otherwise float64) float64 {
		if value == nil {
			return otherwise
		}
		return *value
	}
	s := settings{
		tauPercentile: orDefault(o.TauPercentile, 50), p: orDefault(o.P, 2), alpha: orDefault(o.Alpha, 0.5),
		stepSize: o.StepSize, eta: o.Eta, steps: o.Steps, depth: o.Depth,
		interrupted: o.Interrupted,
	}
	if s.stepSize == 0 {
		s.stepSize = 1
	}
	if s.eta == 0 {
		s.eta = 1
	}
	if s.steps == 0 {
		s.steps = 20
	}
	if s.depth == 0 {
		s.depth = DefaultDepth
	}
	return s
}

// Ricci filters the candidates of a similarity matrix, (n+1)×(n+1) row-major with the query as node 0, by discrete
// Ricci flow: graph over dissimilar nodes with every query–candidate edge forced and all lengths 1; M times, lengths
// scaled to mean 1 and then w ← (1 − ε·κ)·w; lengths scaled once more, and the candidates kept whose edge to the
// query is at most η long.
//
// Since κ ≤ 1, lengths never turn negative. They can reach 0: an edge between nodes less than 1e-7 apart counts as
// flat (κ = 0), and if all lengths reach 0 the filter falls back with [ReasonCollapsed].
//
// Errors: [ErrShape], [ErrNotFinite], [ErrSimilarity], [ErrOption].
func Ricci(similarity []float64, options RicciOptions) (Result, error) {
	var f RicciFlow
	var r Result
	err := f.Filter(&r, similarity, options)
	return r, err
}

// RicciFlow is a reusable workspace for [Ricci]. The zero value is ready; once it has seen the largest graph it
// allocates nothing. It must not be used by two goroutines at once.
type RicciFlow struct {
	graph     graph
	curvature curvature
	kappa     []float64
	stays     []bool
	leaders   []int32
}

// Filter is [Ricci] in the workspace; the result is written to dst, whose slices are reused.
func (f *RicciFlow) Filter(dst *Result, similarity []float64, options RicciOptions) error {
	if err := options.Validate(); err != nil {
		return err
	}
	nodes, err := countNodes(similarity)
	if err != nil {
		return err
	}
	if err := checkProtected(options.Protected, nodes-1); err != nil {
		return err
	}
	s := options.settings()
	dst.clear()
	looked := min(s.depth, nodes-1)
	if looked < 2 {
		dst.keepAll(looked, nodes-1, options.Protected, ReasonTooFew)
		return nil
	}
	f.graph.build(similarity, nodes, looked+1, s.tauPercentile)
	collapsed, err := f.flow(s, &dst.Iterations)
	if errors.Is(err, errInterrupted) {
		dst.keepAll(looked, nodes-1, options.Protected, ReasonInterrupted)
		return nil
	}
	if err != nil {
		return err
	}
	f.read(dst, looked, s.eta)
	if collapsed {
		dst.keepAll(looked, nodes-1, options.Protected, ReasonCollapsed)
		return nil
	}
	dst.decide(f.stays, nodes-1, options.Protected)
	return nil
}

// flow runs the M steps and counts them in steps. It stops early, with collapsed true, when no length is left.
func (f *RicciFlow) flow(s settings, steps *int) (collapsed bool, err error) {
	if err := f.curvature.reset(&f.graph, s.alpha, s.p); err != nil {
		return false, err
	}
	f.kappa = slices.Grow(f.kappa[:0], len(f.graph.edges))[:len(f.graph.edges)]
	f.curvature.interrupted = s.interrupted
	for *steps < s.steps && f.graph.normalise() {
		if err := f.curvature.compute(f.kappa, &f.graph); err != nil {
			return false, err
		}
		for i, kappa := range f.kappa {
			f.graph.lengths[i] *= 1 - s.stepSize*kappa
		}
		*steps++
	}
	return !f.graph.normalise(), nil
}

// read takes the final query edges, who stays by them, and the communities from the graph.
func (f *RicciFlow) read(dst *Result, looked int, eta float64) {
	// The query's edges come first, in the order of the candidates.
	dst.QueryLengths = append(dst.QueryLengths, f.graph.lengths[:looked]...)
	f.stays = f.stays[:0]
	for _, w := range dst.QueryLengths {
		f.stays = append(f.stays, w <= eta+lengthTolerance)
	}
	f.leaders = slices.Grow(f.leaders[:0], looked+1)[:looked+1]
	dst.Communities = f.graph.communities(dst.Communities, f.leaders, eta+lengthTolerance)
}
