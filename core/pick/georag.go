package pick

import (
	"context"
	"fmt"
	"math"

	"github.com/georag/georag/core/ot"
)

// Sinkhorn names how W_ε is computed.
type Sinkhorn string

const (
	// Published is Algorithm 2 of the publication: a fixed number of iterations.
	Published Sinkhorn = "published"
	// Converged solves until the row marginals are off by at most [ot.Tolerance].
	Converged Sinkhorn = "converged"
)

// GeoRAGOptions are the parameters of selector "georag", Algorithm 1 of the publication: the passage nearest to the
// query first, then repeatedly
//
//	argmax_c  (1 − max_{s∈S} cos(c,s)) · (W_ε(P,E_S) − W_ε(P,E_{S∪c})),
//
// gate times fall of the transport cost from the demand P to the uniform distribution E on the selected passages, at
// cost 1−cos. A step in which no passage lowers W is decided by the exact facility gain ([RuleFacility]), and where
// that does not rise either, by the cosine with the query ([RuleRank]).
//
// Without cold start the first step takes the c of least W_ε(P,{c}) = Σ_i P_i·(1−cos(c_i,c)); an empty selection is
// charged W = 1, the cost of an orthogonal passage.
type GeoRAGOptions struct {
	// ColdStart takes the passage nearest to the query first.
	ColdStart bool `koanf:"cold_start"`
	// Gate and DeltaW switch the two factors of the gain; at least one is on. The gate alone needs a cold start,
	// because it says nothing about the first passage.
	Gate   bool `koanf:"gate"`
	DeltaW bool `koanf:"delta_w"`
	// MinGate, in [0,1), closes the gate altogether to passages nearer to a selected one than 1−MinGate: E is uniform
	// on S, so a copy of the passage that serves most of the demand can lower W just by sharing its load. 0, as
	// published, leaves such copies their small gate.
	MinGate float64 `koanf:"min_gate"`
	// Sinkhorn is the mode, Published or Converged.
	Sinkhorn Sinkhorn `koanf:"sinkhorn"`
	// Iterations of mode Published; at least 1, 100 in the publication.
	Iterations int `koanf:"iterations"`
	// Epsilon is the entropic regularisation in the unit of 1−cos, in (0,1000]; 0.01 in the publication. Below about
	// 1e-6 the rounding of cost/epsilon exceeds [ot.Tolerance], and mode Converged may return [ot.ErrNotConverged].
	Epsilon float64 `koanf:"epsilon"`
}

// Validate reports a field out of range.
func (o GeoRAGOptions) Validate() error {
	switch {
	case !o.Gate && !o.DeltaW:
		return fmt.Errorf("core/pick: %w: georag.gate and georag.delta_w are both false, want at least one", ErrOption)
	case !o.DeltaW && !o.ColdStart:
		return fmt.Errorf("core/pick: %w: georag.cold_start is false, want true where georag.delta_w is false", ErrOption)
	case !(o.MinGate >= 0 && o.MinGate < 1):
		return fmt.Errorf("core/pick: %w: georag.min_gate is %v, want a value in [0,1)", ErrOption, o.MinGate)
	case o.Sinkhorn != Published && o.Sinkhorn != Converged:
		return fmt.Errorf("core/pick: %w: georag.sinkhorn is %q, want %q or %q", ErrOption, o.Sinkhorn, Published, Converged)
	case o.Iterations < 1:
		return fmt.Errorf("core/pick: %w: georag.iterations is %d, want at least 1", ErrOption, o.Iterations)
	case !(o.Epsilon > 0 && o.Epsilon <= 1e3):
		return fmt.Errorf("core/pick: %w: georag.epsilon is %v, want a value in (0,1000]", ErrOption, o.Epsilon)
	}
	return nil
}

type georag struct {
	o       GeoRAGOptions
	columns columns
	solver  ot.Greedy
	demand  []float64 // P, summing to 1
	cost    []float64 // 1−cos of one candidate with all
	bounds  bounds
	dual    dualBound
	prices  []float64 // potentials of S
	cover   cover     // for steps that the facility gain decides
	gain    []float64 // gate·ΔW where solved, else an upper bound of it
	gate    []float64
	w       []float64 // W of S∪c where solved
	state   []state
	start   []float64 // potential of c that gave the dual bound, NaN without
	queue   queue
	current float64 // W of S
	log     bool    // some solve left the kernel domain
}

// state is how much is known of a candidate in a step.
type state uint8

const (
	guessed state = iota // gain is a bound that needs no column
	bounded              // gain is the nearest-server bound
	priced               // gain is the dual bound
	solved               // gain is exact
)

func (g *georag) run(ctx context.Context, p *Problem, k int, r *Result) error {
	if err := g.reset(p); err != nil {
		return err
	}
	for len(r.Steps) < k {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := g.step(ctx, p, r)
		if err != nil {
			return err
		}
		if err := g.choose(s, r); err != nil {
			return err
		}
	}
	r.Mode = g.mode()
	return nil
}

func (g *georag) mode() string {
	switch {
	case !g.o.DeltaW:
		return "gate"
	case g.o.Sinkhorn == Published && g.log:
		return "sinkhorn published, log domain"
	case g.o.Sinkhorn == Published:
		return "sinkhorn published"
	case g.log:
		return "sinkhorn converged, log domain"
	}
	return "sinkhorn converged"
}

func (g *georag) reset(p *Problem) error {
	n := p.Len()
	g.columns.reset(p.Similarity)
	g.gain, g.gate, g.w, g.cost = rows(g.gain, n), rows(g.gate, n), rows(g.w, n), rows(g.cost, n)
	g.state, g.demand, g.start = rows(g.state, n), rows(g.demand, n), rows(g.start, n)
	g.current, g.log = 1, false
	for i := range g.gate {
		g.gate[i] = 1
	}
	if !g.o.DeltaW {
		return nil
	}
	if err := g.solver.Reset(p.Demand, g.o.Epsilon); err != nil {
		return fmt.Errorf("core/pick: georag: %w", err)
	}
	total := 0.0
	for _, mass := range p.Demand {
		total += mass
	}
	for i, mass := range p.Demand {
		g.demand[i] = mass / total
	}
	g.bounds.reset(g.demand)
	g.dual.reset(g.demand)
	return nil
}

// step finds the next choice. W and DeltaW are still missing from it.
func (g *georag) step(ctx context.Context, p *Problem, r *Result) (Step, error) {
	var err error
	switch first := len(r.Steps) == 0; {
	case first && g.o.ColdStart:
		s := chooseNearest(g.gain, p, RuleColdStart)
		s.Gain, s.RunnerUpGain = 0, 0
		return s, nil
	case first:
		g.scoreFirst()
		return take(g.gain, tieTolerance, RuleGain), nil
	case !g.o.DeltaW:
		g.scoreGate()
	case g.o.Sinkhorn == Published:
		err = g.scoreAll(ctx)
	default:
		err = g.scorePromising(ctx)
	}
	if err != nil {
		return Step{}, err
	}
	if g.gain[winner(g.gain, tieTolerance)] > tieTolerance {
		return take(g.gain, tieTolerance, RuleGain), nil
	}
	return g.fallback(p, r), nil
}

// scoreFirst sets the gains 1−W(P,{c}).
func (g *georag) scoreFirst() {
	for c := range g.gain {
		fall := 0.0
		for i, x := range g.columns.at(c) {
			fall += g.demand[i] * x
		}
		g.gain[c] = fall
	}
}

func (g *georag) scoreGate() {
	for c := range g.gain {
		if g.gain[c] != out {
			g.gain[c] = g.gate[c]
		}
	}
}

// scoreAll solves for every candidate: the plans of mode Published miss their row marginals, so no bound holds.
func (g *georag) scoreAll(ctx context.Context) error {
	for c := range g.gain {
		if g.gain[c] == out {
			continue
		}
		if err := g.solve(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// scorePromising solves for candidates in the order of their bounds until neither the winner nor the runner-up can
// change any more; a bound that promises no gain ends the search as well.
func (g *georag) scorePromising(ctx context.Context) error {
	for c := range g.gain {
		if g.gain[c] != out {
			g.gain[c], g.state[c], g.start[c] = g.factor(c)*g.bounds.guess(c, g.current), guessed, math.NaN()
		}
	}
	g.queue.fill(g.gain)
	best, second := out, out
	for g.queue.len() > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := g.queue.top()
		if g.gain[c] < max(second-tieTolerance, tieTolerance) {
			break
		}
		if g.state[c] != priced {
			g.sharpen(c)
			g.queue.lowered()
			continue
		}
		if err := g.solve(ctx, c); err != nil {
			return err
		}
		g.queue.pop()
		best, second = ranked(g.gain[c], best, second)
	}
	return nil
}

// sharpen lowers the bound of a candidate to the next sharper one.
func (g *georag) sharpen(c int) {
	column := g.columns.at(c)
	if g.state[c] == guessed {
		g.gain[c] = min(g.gain[c], g.factor(c)*g.bounds.sharpen(c, column, g.current))
		g.state[c] = bounded
		return
	}
	below, potential := g.dual.below(column)
	g.gain[c], g.start[c] = min(g.gain[c], g.factor(c)*(g.current-below)), potential
	g.state[c] = priced
}

// factor is what multiplies ΔW.
func (g *georag) factor(c int) float64 {
	switch {
	case !g.o.Gate:
		return 1
	case g.gate[c] < g.o.MinGate:
		return 0
	}
	return g.gate[c]
}

// solve computes W and gain of candidate c.
func (g *georag) solve(ctx context.Context, c int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var result ot.Result
	var err error
	if cost := g.costs(c); g.o.Sinkhorn == Published {
		result, err = g.solver.Published(c, cost, g.o.Iterations)
	} else {
		result, err = g.solver.Converged(c, cost, g.start[c])
	}
	if err != nil {
		return fmt.Errorf("core/pick: georag: %w", err)
	}
	g.log = g.log || result.Domain == ot.Log
	g.w[c], g.state[c] = result.Cost, solved
	g.gain[c] = g.factor(c) * (g.current - result.Cost)
	return nil
}

// costs returns the costs 1−cos of candidate c, valid until the next call.
func (g *georag) costs(c int) []float64 {
	for i, x := range g.columns.at(c) {
		g.cost[i] = 1 - x
	}
	return g.cost
}

// fallback decides a step in which no passage lowers the transport cost.
func (g *georag) fallback(p *Problem, r *Result) Step {
	if g.o.DeltaW {
		g.cover.reset(p.Demand)
		for _, s := range r.Steps {
			g.cover.add(g.columns.at(s.Row))
		}
		for c := range g.gain {
			if g.gain[c] != out {
				g.gain[c] = g.cover.gain(g.columns.at(c))
			}
		}
		if g.gain[winner(g.gain, tieTolerance)] > tieTolerance {
			return take(g.gain, tieTolerance, RuleFacility)
		}
	}
	for c, q := range p.Query {
		if g.gain[c] != out {
			g.gain[c] = q
		}
	}
	return take(g.gain, tieTolerance, RuleRank)
}

// choose adds the step's row to the selection.
func (g *georag) choose(s Step, r *Result) error {
	c, before := s.Row, g.current
	column := g.columns.at(c)
	s.Gate = g.gate[c]
	for i, x := range column {
		if len(r.Steps) == 0 || 1-x < g.gate[i] {
			g.gate[i] = 1 - x
		}
	}
	if g.o.DeltaW {
		if err := g.settle(c); err != nil {
			return err
		}
		s.W, s.DeltaW = g.current, before-g.current
	}
	r.Steps = append(r.Steps, s)
	if g.o.DeltaW && g.o.Sinkhorn == Converged {
		g.price(r)
	}
	return nil
}

// price renews the dual bound for the passages chosen so far.
func (g *georag) price(r *Result) {
	g.prices = g.solver.Potentials(g.prices)
	g.dual.start()
	for j, s := range r.Steps {
		potential := 0.0
		if j < len(g.prices) {
			potential = g.prices[j]
		}
		g.dual.serve(g.columns.at(s.Row), potential)
	}
	g.dual.settle()
}

// settle adds c to the transport problem and makes W(S∪c) the current cost.
func (g *georag) settle(c int) error {
	if g.state[c] != solved {
		g.start[c] = math.NaN()
		if err := g.solve(context.Background(), c); err != nil {
			return err
		}
		g.gain[c] = out // solve gave it a gain, and it is chosen already
	}
	if err := g.solver.Add(c, g.costs(c)); err != nil {
		return fmt.Errorf("core/pick: georag: %w", err)
	}
	g.current = g.w[c]
	g.bounds.add(g.columns.at(c))
	clear(g.state)
	return nil
}
