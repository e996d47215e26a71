package pick

import (
	"context"
	"fmt"
)

// AdaGReSOptions are the parameters of selector "adagres" (Peng et al. 2025, arXiv 2512.25052): greedy ascent of
//
//	F(C) = Alpha·Σ_{c∈C} cos(c,Q) − β·Σ_{i<j∈C} cos(c_i,c_j)
//
// by the marginal gain Alpha·cos(x,Q) − β·Σ_{c∈C} cos(x,c), under a budget of tokens. The closed form of β puts
// relevance and redundancy of an average set of the expected size in balance:
//
//	β = Alpha·E[cos(x,Q)] / ( (k̄−1)/2 · E[cos(x,y)] ),  k̄ = ⌊TokenBudget/mean tokens⌋,
//
// with means over the n candidates and over their n(n−1)/2 pairs, k̄ at least 1 and at most k; without a budget
// k̄ = k. This is the formula of the paper's reviews and of its authors' published code (the paper itself was not
// accessible). Where it has no meaning (k̄ = 1, or a mean that is not positive) β is 0: there is no redundancy to
// balance.
type AdaGReSOptions struct {
	// Alpha > 0 weighs relevance.
	Alpha float64 `koanf:"alpha"`
	// AdaptiveBeta computes β in closed form; otherwise it is Beta.
	AdaptiveBeta bool `koanf:"adaptive_beta"`
	// Beta ≥ 0 weighs redundancy.
	Beta float64 `koanf:"beta"`
	// TokenBudget limits the sum of [Problem.Tokens] over the chosen passages; 0 is no limit. A passage that does
	// not fit is passed over for one that does.
	TokenBudget int `koanf:"token_budget"`
	// StopAtLoss ends the selection when no passage raises F; otherwise k passages are chosen all the same.
	StopAtLoss bool `koanf:"stop_at_loss"`
}

// Validate reports a field out of range.
func (o AdaGReSOptions) Validate() error {
	switch {
	case !(o.Alpha > 0 && o.Alpha <= 1e9):
		return fmt.Errorf("core/pick: %w: adagres.alpha is %v, want a value in (0,1e9]", ErrOption, o.Alpha)
	case !(o.Beta >= 0 && o.Beta <= 1e9):
		return fmt.Errorf("core/pick: %w: adagres.beta is %v, want a value in [0,1e9]", ErrOption, o.Beta)
	case o.TokenBudget < 0:
		return fmt.Errorf("core/pick: %w: adagres.token_budget is %d, want at least 0", ErrOption, o.TokenBudget)
	}
	return nil
}

type adagres struct {
	o       AdaGReSOptions
	columns columns
	gain    []float64
	overlap []float64 // Σ_{c∈C} cos(x,c)
}

func (a *adagres) run(ctx context.Context, p *Problem, k int, r *Result) error {
	n := p.Len()
	a.columns.reset(p.Similarity)
	a.gain, a.overlap = rows(a.gain, n), rows(a.overlap, n)
	clear(a.gain)
	clear(a.overlap)
	room, limited := a.o.TokenBudget, a.o.TokenBudget > 0
	if limited && len(p.Tokens) == 0 {
		return fmt.Errorf("core/pick: adagres %w: a token budget without token counts", ErrNeeds)
	}
	beta, err := a.beta(ctx, p, k)
	if err != nil {
		return err
	}
	r.Mode = "adagres"
	for len(r.Steps) < k {
		if err := ctx.Err(); err != nil {
			return err
		}
		a.score(p, beta, room, limited)
		top := winner(a.gain, tieTolerance)
		if top < 0 {
			r.Degraded = append(r.Degraded, fmt.Sprintf(
				"token budget %d ended the selection after %d of %d passages", a.o.TokenBudget, len(r.Steps), k))
			return nil
		}
		if a.o.StopAtLoss && a.gain[top] <= 0 {
			r.Degraded = append(r.Degraded, fmt.Sprintf(
				"no passage raises the objective after %d of %d passages", len(r.Steps), k))
			return nil
		}
		s := take(a.gain, tieTolerance, RuleGain)
		r.Steps = append(r.Steps, s)
		for i, c := range a.columns.at(s.Row) {
			a.overlap[i] += c
		}
		if limited {
			room -= p.Tokens[s.Row]
		}
	}
	return nil
}

func (a *adagres) score(p *Problem, beta float64, room int, limited bool) {
	for i, g := range a.gain {
		switch {
		case g == out:
		case limited && p.Tokens[i] > room:
			a.gain[i] = out // what does not fit now never will
		default:
			a.gain[i] = a.o.Alpha*p.Query[i] - beta*a.overlap[i]
		}
	}
}

// beta returns the weight of redundancy.
func (a *adagres) beta(ctx context.Context, p *Problem, k int) (float64, error) {
	if !a.o.AdaptiveBeta {
		return a.o.Beta, nil
	}
	n, size := p.Len(), k
	if a.o.TokenBudget > 0 {
		tokens := 0
		for _, t := range p.Tokens {
			tokens += t
		}
		if tokens > 0 {
			size = min(k, a.o.TokenBudget*n/tokens)
		}
	}
	if size <= 1 {
		return 0, nil
	}
	relevance, pairs := 0.0, 0.0
	for j, q := range p.Query {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		relevance += q
		for _, c := range a.columns.at(j)[:j] {
			pairs += c
		}
	}
	relevance /= float64(n)
	pairs /= float64(n) * float64(n-1) / 2
	if relevance <= 0 || pairs <= 0 {
		return 0, nil
	}
	return a.o.Alpha * relevance / (float64(size-1) / 2 * pairs), nil
}
