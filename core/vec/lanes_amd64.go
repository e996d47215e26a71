//go:build !noasm

package vec

// accelerated is decided once; the portable code computes the same.
var accelerated = AVX2() && fma()

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
