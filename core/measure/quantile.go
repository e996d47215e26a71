package measure

import (
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Quantile returns the smallest of the values that at least the share p, in [0, 1], of them does not exceed: p = 0.5
// is the median, 0.95 the 95th percentile. It is always one of the values; 0 where there are none. Values are finite
// and in any order.
func Quantile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return stat.Quantile(p, stat.Empirical, slices.Sorted(slices.Values(values)), nil)
}
