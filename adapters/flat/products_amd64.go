//go:build !noasm

package flat

import "golang.org/x/sys/cpu"

// accelerated is decided once; without it [vec.Dot] computes the same.
var accelerated = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// laneSumsAVX2 is laneSums in assembly; width is a positive multiple of lanes.
//
//go:noescape
func laneSumsAVX2(sums *float64, row *float32, group *float64, width int)

// laneSums sets sums to the lane sums of a row with each query of a group, whose first width components are in
// group.
func laneSums(sums *[groupSize * lanes]float64, row []float32, group []float64, width int) {
	_, _ = row[width-1], group[groupSize*width-1]
	laneSumsAVX2(&sums[0], &row[0], &group[0], width)
}
