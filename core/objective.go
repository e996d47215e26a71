package core

import "github.com/georag/georag/core/pick"

// objective is F_P(S) = Σ_i P_i·max(0, max_{s∈S} cos(c_i, s)) over the candidates that competed: the share of the
// demand that the selection covers, in [0, 1] up to rounding.
func (p *pool) objective(demand []float64, steps []pick.Step) float64 {
	n := len(p.candidates)
	best, column := make([]float64, n), make([]float64, n)
	for _, step := range steps {
		for i, cosine := range p.geometry.Column(column, step.Row) {
			best[i] = max(best[i], cosine)
		}
	}
	total := 0.0
	for i, share := range demand {
		total += share * best[i]
	}
	return total
}
