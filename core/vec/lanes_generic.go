//go:build !amd64 || noasm

package vec

const accelerated, wide = false, false

// AVX2 reports whether the processor has AVX2 and this build uses it.
func AVX2() bool { return false }

func dotLanes(sums *[lanes]float64, a, b []float32, width int) { dotLanesGo(sums, a, b, width) }

// groupLanes is only reached where accelerated.
func groupLanes(*[groupSize * lanes]float64, []float32, []float64, int) {
	panic("core/vec: group of queries without acceleration")
}

// pairLanes is only reached where wide.
func pairLanes(*[2 * groupSize * lanes]float64, []float32, []float32, []float64, int) {
	panic("core/vec: pair of rows without acceleration")
}
