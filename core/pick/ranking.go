package pick

import (
	"context"
	"fmt"
)

// ranking takes the k rows of best score.
type ranking struct {
	mode string
	// score writes the score of every row to dst, of length n.
	score func(ctx context.Context, dst []float64, p *Problem) error
	// exact: scores of any unit, in which no difference is too small to count.
	exact bool
	gain  []float64
}

func (r *ranking) run(ctx context.Context, p *Problem, k int, res *Result) error {
	r.gain = rows(r.gain, p.Len())
	if err := r.score(ctx, r.gain, p); err != nil {
		return err
	}
	res.Mode = r.mode
	tolerance := tieTolerance
	if r.exact {
		tolerance = 0
	}
	return rankRest(ctx, r.gain, tolerance, k, res)
}

// rankRest appends rows in the order of their gain until res has k steps.
func rankRest(ctx context.Context, gain []float64, tolerance float64, k int, res *Result) error {
	for len(res.Steps) < k {
		if err := ctx.Err(); err != nil {
			return err
		}
		res.Steps = append(res.Steps, take(gain, tolerance, RuleRank))
	}
	return nil
}

// fillByQuery completes res with the rows nearest to the query that are not chosen yet, using gain as memory.
func fillByQuery(ctx context.Context, p *Problem, gain []float64, k int, res *Result) error {
	copy(gain, p.Query)
	for _, s := range res.Steps {
		gain[s.Row] = out
	}
	return rankRest(ctx, gain, tieTolerance, k, res)
}

// chooseNearest returns the step that takes the row nearest to the query. It leaves -Inf in gain for that row and
// the cosines with the query for the others.
func chooseNearest(gain []float64, p *Problem, rule Rule) Step {
	copy(gain, p.Query)
	return take(gain, tieTolerance, rule)
}

// weigh scales the gains of a step.
func (s Step) weigh(factor float64) Step {
	s.Gain *= factor
	s.RunnerUpGain *= factor
	return s
}

// byReranker scores by the cross-encoder behind [Problem.Rerank], such as bge-reranker: each passage is read
// together with the question. It returns [ErrNeeds] without one.
func byReranker(ctx context.Context, dst []float64, p *Problem) error {
	if p.Rerank == nil {
		return fmt.Errorf("core/pick: rerank %w: no reranker", ErrNeeds)
	}
	scores, err := p.Rerank(ctx)
	if err != nil {
		return fmt.Errorf("core/pick: rerank: %w", err)
	}
	if len(scores) != len(dst) {
		return fmt.Errorf("core/pick: %w: reranker scored %d of %d passages", ErrShape, len(scores), len(dst))
	}
	copy(dst, scores)
	return allFinite("reranker score", scores)
}
