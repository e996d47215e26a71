package pick

import (
	"context"
	"math"
)

// FacilityOptions are the parameters of selector "facility", greedy facility location of the demand:
//
//	F_P(S) = Σ_i P_i·max(0, max_{s∈S} cos(c_i,s)).
//
// F_P is monotone and submodular, so the greedy choice without cold start reaches at least 1−1/e of the best F_P
// of any k passages (Nemhauser, Wolsey and Fisher 1978). When no passage raises F_P any more, the remaining places
// go to the passages nearest to the query ([RuleRank]).
type FacilityOptions struct {
	// ColdStart takes the passage nearest to the query first, as Algorithm 1 does.
	ColdStart bool `koanf:"cold_start"`
}

type facility struct {
	o       FacilityOptions
	columns columns
	cover   cover
	gain    []float64 // of F_P; an upper bound where not fresh
	fresh   []bool
}

func (f *facility) run(ctx context.Context, p *Problem, k int, r *Result) error {
	r.Mode = "facility"
	n := p.Len()
	f.columns.reset(p.Similarity)
	f.cover.reset(p.Demand)
	f.gain, f.fresh = rows(f.gain, n), rows(f.fresh, n)
	clear(f.fresh)
	if f.o.ColdStart {
		s := chooseNearest(f.gain, p, RuleColdStart)
		s.Gain, s.RunnerUpGain = f.cover.gain(f.columns.at(s.Row)), 0
		if s.RunnerUp >= 0 {
			s.RunnerUpGain = f.cover.gain(f.columns.at(s.RunnerUp))
		}
		f.choose(r, s)
	}
	// Nothing bounds a gain before it is computed once, which takes all columns.
	for i := range f.gain {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.gain[i] != out || !f.o.ColdStart {
			f.renew(i)
		}
	}
	for len(r.Steps) < k {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.evaluate()
		if top := winner(f.gain, tieTolerance); f.gain[top] <= tieTolerance {
			return fillByQuery(ctx, p, f.gain, k, r)
		}
		f.choose(r, take(f.gain, tieTolerance, RuleGain))
	}
	return nil
}

// choose records a step. Its gate is what the passage keeps from the ones before it.
func (f *facility) choose(r *Result, s Step) {
	column := f.columns.at(s.Row)
	s.Gate = gate(r, column)
	f.cover.add(column)
	clear(f.fresh)
	r.Steps = append(r.Steps, s)
}

// evaluate renews gains until the best and the second best are certain. A gain of an earlier step is an upper bound,
// in floating point too: every term P_i·max(0, cos−b_i) can only fall as b_i rises, and sums of non-negative terms in
// the same order fall with them. The two rows that promise most come first; their gains rule out most of the others,
// which are then gone through once, in order.
func (f *facility) evaluate() {
	best, second := out, out
	for i, g := range f.gain {
		if f.fresh[i] && g != out {
			best, second = ranked(g, best, second)
		}
	}
	for range 2 {
		if row := f.mostPromising(second - tieTolerance); row >= 0 {
			best, second = ranked(f.renew(row), best, second)
		}
	}
	for i, g := range f.gain {
		if !f.fresh[i] && g != out && g >= second-tieTolerance {
			best, second = ranked(f.renew(i), best, second)
		}
	}
}

// mostPromising returns the row whose gain is not fresh and largest, if that is at least floor; else -1.
func (f *facility) mostPromising(floor float64) int {
	row := -1
	for i, g := range f.gain {
		if g >= floor && !f.fresh[i] && g != out {
			row, floor = i, g
		}
	}
	return row
}

// renew computes the gain of a row.
func (f *facility) renew(row int) float64 {
	g := f.cover.gain(f.columns.at(row))
	f.gain[row], f.fresh[row] = g, true
	return g
}

// ranked returns the two largest of three values, best ≥ second.
func ranked(x, best, second float64) (float64, float64) {
	if x > best {
		return x, best
	}
	return best, max(second, x)
}

// gate returns 1 − max_{s∈S} cos(c,s), where column holds the cosines of c; 1 when nothing is chosen.
func gate(r *Result, column []float64) float64 {
	closest := 0.0
	for i, s := range r.Steps {
		if c := column[s.Row]; i == 0 || c > closest {
			closest = c
		}
	}
	return 1 - closest
}

// cover holds how well a growing selection serves each candidate: b_i = max(0, max_{s∈S} cos(c_i,s)).
type cover struct {
	demand []float64
	best   []float64
}

func (v *cover) reset(demand []float64) {
	v.demand, v.best = demand, rows(v.best, len(demand))
	clear(v.best)
}

// add puts the passage whose cosines are given into the selection.
func (v *cover) add(column []float64) {
	for i, c := range column {
		if c > v.best[i] {
			v.best[i] = c
		}
	}
}

// gain returns F_P(S∪c) − F_P(S) = Σ_i P_i·max(0, cos(c_i,c) − b_i). max(0,x) is computed as (x+|x|)/2, which
// needs no branch; the four lanes are added in a fixed order.
func (v *cover) gain(column []float64) float64 {
	n := len(v.demand) &^ 3
	var s0, s1, s2, s3 float64
	for i := 0; i < n; i += 4 {
		c, b, p := column[i:i+4:i+4], v.best[i:i+4:i+4], v.demand[i:i+4:i+4]
		x0, x1, x2, x3 := c[0]-b[0], c[1]-b[1], c[2]-b[2], c[3]-b[3]
		s0 += p[0] * (x0 + math.Abs(x0))
		s1 += p[1] * (x1 + math.Abs(x1))
		s2 += p[2] * (x2 + math.Abs(x2))
		s3 += p[3] * (x3 + math.Abs(x3))
	}
	for i := n; i < len(v.demand); i++ {
		x := column[i] - v.best[i]
		s0 += v.demand[i] * (x + math.Abs(x))
	}
	return ((s0 + s1) + (s2 + s3)) / 2
}
