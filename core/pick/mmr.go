package pick

import "context"

// MMROptions are the parameters of selector "mmr", maximal marginal relevance (Carbonell and Goldstein 1998): the
// passage nearest to the query first, then repeatedly
//
//	argmax_c  Lambda·cos(c,Q) − (1−Lambda)·max_{s∈S} cos(c,s),
//
// where S is everything chosen so far. Similarities keep their sign.
type MMROptions struct {
	// Lambda in [0,1] weighs relevance: 1 is the relevance order, 0 is diversity alone (after the first passage).
	Lambda float64 `koanf:"lambda"`
}

// Validate reports a field out of range.
func (o MMROptions) Validate() error { return fraction("mmr.lambda", o.Lambda) }

type mmr struct {
	o       MMROptions
	columns columns
	gain    []float64
	closest []float64 // max_{s∈S} cos(c_i, s)
}

func (m *mmr) run(ctx context.Context, p *Problem, k int, r *Result) error {
	r.Mode = "mmr"
	m.columns.reset(p.Similarity)
	m.gain, m.closest = rows(m.gain, p.Len()), rows(m.closest, p.Len())
	for i := range m.closest {
		m.closest[i] = out
	}
	// With nothing chosen there is nothing to differ from: relevance decides, whatever Lambda is.
	r.Steps = append(r.Steps, chooseNearest(m.gain, p, RuleRank).weigh(m.o.Lambda))
	for len(r.Steps) < k {
		if err := ctx.Err(); err != nil {
			return err
		}
		m.score(p, m.columns.at(r.Steps[len(r.Steps)-1].Row))
		r.Steps = append(r.Steps, take(m.gain, tieTolerance, RuleGain))
	}
	return nil
}

// score renews the gains after a choice whose column is given.
func (m *mmr) score(p *Problem, column []float64) {
	lambda := m.o.Lambda
	for i, c := range column {
		if c > m.closest[i] {
			m.closest[i] = c
		}
		if m.gain[i] != out {
			m.gain[i] = lambda*p.Query[i] - (1-lambda)*m.closest[i]
		}
	}
}
