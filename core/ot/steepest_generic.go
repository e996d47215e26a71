//go:build !amd64 || noasm

package ot

func steepestRow(potential, length []float64, stride int, tolerance float64) int {
	return steepestRowGo(potential, length, stride, tolerance)
}
