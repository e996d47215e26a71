//go:build !noasm

package vec

// accelerated is decided once; the portable code computes the same.
var accelerated = AVX2() && fma()

// wide: two rows at a time in registers of 512 bits.
var wide = accelerated && avx512()

func avx512() bool

// pairLanesAVX512 is pairLanes in assembly; width is a positive multiple of lanes.
//
//go:noescape
func pairLanesAVX512(sums *float64, row0, row1 *float32, group *float64, width int)

// AVX2 reports whether the processor has AVX2 and the operating system saves its registers.
func AVX2() bool

func fma() bool

// dotLanesAVX2 is dotLanes in assembly; width is a positive multiple of lanes.
//
//go:noescape
func dotLanesAVX2(sums *float64, a, b *float32, width int)

// groupLanesAVX2 is groupLanes in assembly; width is a positive multiple of lanes.
//
//go:noescape
func groupLanesAVX2(sums *float64, row *float32, group *float64, width int)

func dotLanes(sums *[lanes]float64, a, b []float32, width int) {
	if !accelerated {
		dotLanesGo(sums, a, b, width)
		return
	}
	_, _ = a[width-1], b[width-1]
	dotLanesAVX2(&sums[0], &a[0], &b[0], width)
}

// groupLanes sets sums to the lane sums of a row with each query of a group, whose first width components are in
// group.
func groupLanes(sums *[groupSize * lanes]float64, row []float32, group []float64, width int) {
	_, _ = row[width-1], group[groupSize*width-1]
	groupLanesAVX2(&sums[0], &row[0], &group[0], width)
}

// pairLanes is groupLanes of two rows, where wide: the sums of row1 follow those of row0.
func pairLanes(sums *[2 * groupSize * lanes]float64, row0, row1 []float32, group []float64, width int) {
	_, _, _ = row0[width-1], row1[width-1], group[groupSize*width-1]
	pairLanesAVX512(&sums[0], &row0[0], &row1[0], &group[0], width)
}
