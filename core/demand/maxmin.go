package demand

import "gonum.org/v1/gonum/floats"

// MaxMin keeps the m most dispersed of n sub-queries by farthest-first traversal (eq. 6): it starts from the
// sub-query closest to the question, then repeatedly adds argmax_q min_{s∈S} (1 − cos(q, s)). Ties go to the
// lower index.
//
// toQuery holds cos(q_j, Q), length n; between holds cos(q_i, q_j), n × n. It returns min(m, n) indices in the
// order in which they were chosen; m < 1 returns none.
func MaxMin(toQuery []float64, between [][]float64, m int) []int {
	n := len(toQuery)
	if m < 1 || n == 0 {
		return nil
	}
	distance := make([]float64, n) // to the nearest kept sub-query; −1 once kept
	for j := range distance {
		distance[j] = 2
	}
	kept := make([]int, 0, min(m, n))
	for next := floats.MaxIdx(toQuery); ; next = floats.MaxIdx(distance) {
		kept = append(kept, next)
		if len(kept) == cap(kept) {
			return kept
		}
		for j := range distance {
			distance[j] = min(distance[j], 1-between[next][j])
		}
		for _, s := range kept {
			distance[s] = -1 // below any distance of a real pair, which rounding can make slightly negative
		}
	}
}
