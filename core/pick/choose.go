package pick

import "math"

// tieTolerance is how close two gains must be to count as tied. Stored vectors are float32, so a cosine is known
// to about 1e-7; a smaller difference is rounding and must not decide over the ID.
const tieTolerance = 1e-9

// out marks a row that can no longer be chosen.
var out = math.Inf(-1)

// winner returns the lowest row whose gain is within tolerance of the largest, -1 where all rows are out. The
// answer depends on the gains alone, not on the order in which they were computed.
func winner(gain []float64, tolerance float64) int {
	top := out
	for _, g := range gain {
		if g > top {
			top = g
		}
	}
	if top == out {
		return -1
	}
	for row, g := range gain {
		if g >= top-tolerance {
			return row
		}
	}
	return -1
}

// take chooses the winner and the runner-up, marks the winner as out and returns the step.
func take(gain []float64, tolerance float64, rule Rule) Step {
	row := winner(gain, tolerance)
	s := Step{Row: row, Rule: rule, Gain: gain[row]}
	gain[row] = out
	s.RunnerUp = winner(gain, tolerance)
	if s.RunnerUp >= 0 {
		s.RunnerUpGain = gain[s.RunnerUp]
	}
	return s
}

// rows returns dst with length n, its memory reused; the content is unspecified.
func rows[T any](dst []T, n int) []T {
	if cap(dst) < n {
		return make([]T, n)
	}
	return dst[:n]
}
