package ot

import "math"

// steepest returns the pair u ≤ v of nodes with the largest |potential[u] − potential[v]| − length[u,v], the first
// such pair if there are several, and −1 when none exceeds tolerance. length is nodes×stride, +Inf where there is no
// edge, and stride is nodes rounded up to a multiple of lanes.
//
// It is the hot pass of transport on graphs. Whether an edge gains is as good as random, so a branch per edge would
// be mispredicted all the time; a whole row of the matrix is compared at once instead, missing edges included.
func steepest(potential, length []float64, stride int, tolerance float64) (u, v int32) {
	row := steepestRow(potential, length, stride, tolerance)
	if row < 0 {
		return -1, -1
	}
	best, column := math.Inf(-1), -1
	for j := row; j < len(potential); j++ {
		if gain := math.Abs(potential[row]-potential[j]) - length[row*stride+j]; gain > best {
			best, column = gain, j
		}
	}
	return int32(row), int32(column)
}

// steepestRowGo finds the row u of that pair.
func steepestRowGo(potential, length []float64, stride int, tolerance float64) int {
	best, row := tolerance, -1
	for i, p := range potential {
		for j := i; j < len(potential); j++ {
			if gain := math.Abs(p-potential[j]) - length[i*stride+j]; gain > best {
				best, row = gain, i
			}
		}
	}
	return row
}
