//go:build !noasm

package ot

// steepestRowAVX2 is steepestRowGo in assembly. stride is a positive multiple of lanes; potential is readable, and
// finite, up to stride.
//
//go:noescape
func steepestRowAVX2(potential, length *float64, nodes, stride int, tolerance float64) int

func steepestRow(potential, length []float64, stride int, tolerance float64) int {
	if useAVX2 {
		nodes := len(potential)
		_, _ = potential[:stride], length[nodes*stride-1]
		return steepestRowAVX2(&potential[0], &length[0], nodes, stride, tolerance)
	}
	return steepestRowGo(potential, length, stride, tolerance)
}
