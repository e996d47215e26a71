package pick

import (
	"context"
	"fmt"
)

// bySubQueryMax is selector "subq-max" (SubQ-MaxCos): score_i = max_j cos(c_i, q_j), every sub-query alike, so a
// passage counts by the one sub-question it answers best. It returns [ErrNeeds] without sub-queries.
func bySubQueryMax(_ context.Context, dst []float64, p *Problem) error {
	if err := needSubQueries("subq-max", p); err != nil {
		return err
	}
	copy(dst, p.SubQueries[0])
	for _, column := range p.SubQueries[1:] {
		for i, c := range column {
			dst[i] = max(dst[i], c)
		}
	}
	return nil
}

// bySubQueryMean is selector "subq-avg" (SubQ-AvgCos): score_i = (1/m)·Σ_j cos(c_i, q_j), every sub-query alike.
// It returns [ErrNeeds] without sub-queries.
func bySubQueryMean(_ context.Context, dst []float64, p *Problem) error {
	if err := needSubQueries("subq-avg", p); err != nil {
		return err
	}
	clear(dst)
	for _, column := range p.SubQueries {
		for i, c := range column {
			dst[i] += c
		}
	}
	for i := range dst {
		dst[i] /= float64(len(p.SubQueries))
	}
	return nil
}

func needSubQueries(selector string, p *Problem) error {
	if len(p.SubQueries) == 0 {
		return fmt.Errorf("core/pick: %s %w: no sub-queries", selector, ErrNeeds)
	}
	return nil
}
