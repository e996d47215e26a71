package ot

import (
	"fmt"
	"math"
)

const (
	// safeExponent bounds |M/eps| + |g/eps| in the kernel domain: exp(±600) leaves room for the masses and sums
	// that multiply it before float64 ends at exp(±708).
	safeExponent = 600
	// absorbAt is how far a potential g/eps moves in the log domain before it is absorbed into the kernel anew.
	absorbAt = 30
)

// Workspace solves entropic transport problems of any shape and reuses its memory: once it has seen the largest
// shape it allocates nothing. The zero value is ready. It must not be used by two goroutines at once.
type Workspace struct {
	problem
	domain Domain
	passes int       // kernel passes of this solve
	kernel []float64 // exp(-M/eps), laid out as cost
	h      []float64 // cols, potentials g/eps

	base     []float64 // cols, potentials absorbed in the log domain
	absorbed []float64 // exp(base - M/eps), each row divided by its largest entry
	rowLog   []float64 // stride, row potentials f/eps or other logarithms per row

	v, u []float64 // exp(h - base) and the row scalings p/(K·v)
	sum  []float64 // lanes of the column sums, then of the pair moments
	q    []float64 // scratch of momentPass

	semi semiDual
	dual []float64
}

// begin sizes the buffers for the packed problem and chooses the domain.
func (w *Workspace) begin() {
	s := w.cols
	w.passes = 0
	w.h, w.base, w.v = resize(w.h, s), resize(w.base, s), resize(w.v, s)
	w.u, w.rowLog = resize(w.u, w.stride), resize(w.rowLog, w.stride)
	w.q = resize(w.q, lanes*s)
	w.sum = resize(w.sum, lanes*(s+s*(s-1)/2))
	w.semi.begin(s)
	w.domain = Kernel
	if !(w.reach() > 0) {
		w.domain = Log
	}
}

// reach is the largest |g/eps| that the kernel domain can carry.
func (w *Workspace) reach() float64 { return safeExponent - w.top/w.eps }

// fillKernel computes exp(-M/eps) for all columns.
func (w *Workspace) fillKernel() {
	w.kernel = resize(w.kernel, w.cols*w.stride)
	exponential(w.kernel, w.cost[:w.cols*w.stride], -1/w.eps)
}

// only is the answer to a problem of one column, which has a single plan.
func (w *Workspace) only() Result {
	var cost float64
	for i, c := range w.column(0) {
		cost += float64(w.p[i] * c)
	}
	w.h[0] = 0
	return Result{Cost: cost}
}

// planCost returns W and the row-marginal error of the plan k_ij·u_i·v_j.
func (w *Workspace) planCost(k []float64) (cost, rowError float64) {
	row := w.rowLog
	copy(row, w.p)
	for j, vj := range w.v {
		col, m, u := k[j*w.stride:(j+1)*w.stride], w.column(j), w.u
		for i := range row {
			mass := col[i] * u[i] * vj
			row[i] -= mass
			cost += float64(mass * m[i])
		}
	}
	for _, x := range row {
		rowError += math.Abs(x)
	}
	return cost, rowError
}

// finish completes r with the duals of the caller's s columns, and refuses values that overflowed.
func (w *Workspace) finish(r Result, s int) (Result, error) {
	w.dual = resize(w.dual, s)
	for j := range w.dual {
		w.dual[j] = math.Inf(-1)
	}
	for k, j := range w.index {
		w.dual[j] = w.eps * w.h[k]
	}
	r.Dual, r.Domain, r.Iterations = w.dual, w.domain, w.passes
	if total := r.Cost + r.RowMarginalError; math.IsNaN(total) || math.IsInf(total, 0) {
		return Result{}, fmt.Errorf("core/ot: %w: transport cost %v", ErrNotFinite, r.Cost)
	}
	return r, nil
}
