package pick

import (
	"context"
	"fmt"
	"math"
)

// DPPOptions are the parameters of selector "dpp", greedy maximum a posteriori inference for a determinantal point
// process by incremental Cholesky factors (Chen, Zhang and Zhou 2018, "Fast greedy MAP inference for determinantal
// point process to improve recommendation diversity", Algorithm 1). The kernel is theirs for recommendation,
//
//	L_ij = exp(a·r_i)·S_ij·exp(a·r_j),  a = θ/(2(1−θ)),  r = cos(c,Q),  S_ij = cos(c_i,c_j),  S_ii = 1,
//
// whose log det over a set Y is, times 1−θ, θ·Σ_{i∈Y} r_i + (1−θ)·log det S_Y. Each step maximises the rise of the
// latter, θ·r_i + (1−θ)·log d_i², where d_i² is what the chosen passages leave of S_ii. That form has no overflow
// and a meaning at θ = 1. The first choice is the passage nearest to the query for every θ.
//
// When no passage is left whose d_i² exceeds rounding, the determinant vanishes whatever is added; the remaining
// places then go by relevance, and the result says so.
type DPPOptions struct {
	// Theta in [0,1] weighs relevance: 1 is the relevance order, 0 is diversity alone (after the first passage).
	Theta float64 `koanf:"theta"`
}

// Validate reports a field out of range.
func (o DPPOptions) Validate() error { return fraction("dpp.theta", o.Theta) }

type dpp struct {
	o       DPPOptions
	columns columns
	factor  cholesky
	gain    []float64
}

func (d *dpp) run(ctx context.Context, p *Problem, k int, r *Result) error {
	r.Mode = "dpp"
	n := p.Len()
	d.columns.reset(p.Similarity)
	d.factor.reset(n, k)
	for i := range d.factor.residual {
		d.factor.residual[i] = 1
	}
	d.gain = rows(d.gain, n)
	r.Steps = append(r.Steps, chooseNearest(d.gain, p, RuleRank).weigh(d.o.Theta))
	for len(r.Steps) < k {
		if err := ctx.Err(); err != nil {
			return err
		}
		d.score(p, r.Steps[len(r.Steps)-1].Row)
		if winner(d.gain, tieTolerance) < 0 {
			return fillDeterminant(ctx, p, d.gain, k, r)
		}
		r.Steps = append(r.Steps, take(d.gain, tieTolerance, RuleGain))
	}
	return nil
}

// score renews the gains after the choice of the row last.
func (d *dpp) score(p *Problem, last int) {
	theta := d.o.Theta
	if theta == 1 {
		return // gain holds the cosines with the query already
	}
	d.factor.add(last, d.columns.at(last))
	for i, left := range d.factor.residual {
		switch {
		case d.gain[i] == out:
		case left <= residualFloor:
			d.gain[i] = out
		default:
			d.gain[i] = theta*p.Query[i] + (1-theta)*math.Log(left)
		}
	}
}

// fillDeterminant gives the places that the determinant cannot decide to the most relevant passages.
func fillDeterminant(ctx context.Context, p *Problem, gain []float64, k int, r *Result) error {
	r.Degraded = append(r.Degraded, fmt.Sprintf(
		"determinant vanishes after %d of %d passages: the rest by relevance", len(r.Steps), k))
	return fillByQuery(ctx, p, gain, k, r)
}
