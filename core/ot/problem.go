package ot

import (
	"fmt"
	"math"
	"slices"
)

const (
	// lanes is how many partial sums the kernel passes keep of each total.
	lanes = 4
	// rowBlock is how many rows they take at a time. Rows are padded to a multiple of it.
	rowBlock = 8
)

// problem is a transport problem made ready for the kernel passes: column-major, so that a column can be
// replaced without touching the others; rows and columns without mass left out, because they carry none of the
// plan and would divide zero by zero; rows padded by massless ones at cost 0.
type problem struct {
	eps    float64
	rows   []int     // row of the caller for each kept row
	stride int       // kept rows, padded
	p      []float64 // stride, sums to 1
	cols   int       // kept columns
	index  []int     // column of the caller for each kept column
	e      []float64 // cols, sums to 1
	cost   []float64 // cols·stride
	top    float64   // largest |cost|
}

// setRows takes over the row marginal and the regularisation.
func (b *problem) setRows(p []float64, eps float64) error {
	if len(p) == 0 {
		return fmt.Errorf("core/ot: %w: no rows", ErrShape)
	}
	sum, err := checkMarginal("p", p)
	if err != nil {
		return err
	}
	if err := checkEpsilon(eps); err != nil {
		return err
	}
	b.eps = eps
	b.rows, b.p = b.rows[:0], b.p[:0]
	for i, x := range p {
		if x > 0 {
			b.rows = append(b.rows, i)
			b.p = append(b.p, x/sum)
		}
	}
	for len(b.p)%rowBlock != 0 {
		b.p = append(b.p, 0)
	}
	b.stride = len(b.p)
	b.cols, b.top = 0, 0
	return nil
}

// column is the packed cost of kept column j.
func (b *problem) column(j int) []float64 { return b.cost[j*b.stride : (j+1)*b.stride] }

// setColumn packs kept column j from every step-th element of cost, starting at from. It returns the largest
// absolute cost of the column.
func (b *problem) setColumn(j int, cost []float64, from, step int) (float64, error) {
	b.cost = resize(b.cost, max(len(b.cost), (j+1)*b.stride))
	dst := b.column(j)
	var top float64
	for k, i := range b.rows {
		c := cost[from+i*step]
		dst[k] = c
		top = max(top, math.Abs(c))
	}
	// max propagates NaN, so one comparison finds every value that is not finite.
	if !(top <= math.MaxFloat64) {
		return 0, fmt.Errorf("core/ot: %w: cost", ErrNotFinite)
	}
	if math.IsInf(top/b.eps, 1) {
		return 0, fmt.Errorf("core/ot: %w: cost %v over eps %v overflows", ErrNotFinite, top, b.eps)
	}
	clear(dst[len(b.rows):])
	return top, nil
}

// set packs a whole problem.
func (b *problem) set(cost, p, e []float64, eps float64) error {
	if len(e) == 0 || len(cost) != len(p)*len(e) {
		return fmt.Errorf("core/ot: %w: cost has %d entries for %d rows and %d columns", ErrShape, len(cost), len(p), len(e))
	}
	if err := b.setRows(p, eps); err != nil {
		return err
	}
	sum, err := checkMarginal("e", e)
	if err != nil {
		return err
	}
	// Massless rows and columns are dropped below, but a broken cost in one is still the caller's bug.
	for i, c := range cost {
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return fmt.Errorf("core/ot: %w: cost[%d] is %v", ErrNotFinite, i, c)
		}
	}
	b.e, b.index = b.e[:0], b.index[:0]
	for j, x := range e {
		if x == 0 {
			continue
		}
		top, err := b.setColumn(len(b.e), cost, j, len(e))
		if err != nil {
			return err
		}
		b.top = max(b.top, top)
		b.e = append(b.e, x/sum)
		b.index = append(b.index, j)
	}
	b.cols = len(b.e)
	return nil
}

// resize returns s with length n, keeping its content and reusing its memory where it can.
func resize[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return slices.Grow(s, n-len(s))[:n]
}
