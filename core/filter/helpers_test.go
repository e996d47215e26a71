package filter

import "math"

// cosines returns the similarity matrix of vectors of any norm above 0.
func cosines(vectors [][]float64) []float64 {
	n := len(vectors)
	dot := func(a, b []float64) (sum float64) {
		for i := range a {
			sum += a[i] * b[i]
		}
		return sum
	}
	out := make([]float64, n*n)
	for i, a := range vectors {
		for j, b := range vectors {
			out[i*n+j] = dot(a, b) / math.Sqrt(dot(a, a)*dot(b, b))
		}
	}
	return out
}
