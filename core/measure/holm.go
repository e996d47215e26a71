package measure

import (
	"cmp"
	"slices"
)

// Holm returns the p-values of a family of tests adjusted for their number by the step-down method of Holm (1979), in
// the order given and in [0, 1]: the r-th smallest of m becomes max_{s≤r} min(1, (m−s+1)·p_(s)). Rejecting where the
// result is at most α keeps the chance of any false rejection at most α, however the tests depend on each other.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted, floor := make([]float64, len(p)), 0.0
	for rank, i := range order {
		floor = max(floor, min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = floor
	}
	return adjusted
}
