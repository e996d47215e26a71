package core

import (
	"github.com/georag/georag/core/measure"
	"github.com/georag/georag/core/pick"
)

// objective is F_P of the chosen passages over the candidates that competed, see [measure.FacilityObjective].
func (p *pool) objective(demand []float64, steps []pick.Step) float64 {
	n, k := len(p.candidates), len(steps)
	column, cosines, entries := make([]float64, n), make([][]float64, n), make([]float64, n*k)
	for i := range cosines {
		cosines[i] = entries[i*k : (i+1)*k]
	}
	for s, step := range steps {
		for i, cosine := range p.geometry.Column(column, step.Row) {
			cosines[i][s] = cosine
		}
	}
	return measure.FacilityObjective(demand, cosines)
}
