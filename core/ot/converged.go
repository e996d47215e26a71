package ot

import (
	"fmt"
	"math"
)

const (
	// newtonPasses limits Newton's method at one regularisation; it needs about 5 from a warm start.
	newtonPasses = 60
	// annealFactor is the ratio of successive regularisations when a solve has to come down from a large one.
	annealFactor = 4
	// annealTolerance is the marginal error at which a stage above the last one ends.
	annealTolerance = 1e-3
	// sinkhornIterations and sinkhornBlock are the limit of the last resort and how often it looks at the error.
	sinkhornIterations = 20000
	sinkhornBlock      = 50
)

// Converged returns W of the optimal entropic plan, solved to a row-marginal error of at most [Tolerance]. cost, p
// and e are as in [Workspace.Published]. warm holds column potentials g near the solution, such as Result.Dual of a
// similar problem, or is nil; where it is shorter than s, or not finite, the potentials are estimated.
//
// It maximises the semi-dual by Newton's method with a line search, in the kernel domain or, where eps is too small
// for that, in the log domain. A solve that stalls is restarted from a large eps that is lowered in stages, and
// after that goes on with plain log-domain Sinkhorn iterations.
//
// Errors: [ErrShape], [ErrNotFinite], [ErrMass], [ErrEpsilon], [ErrNotConverged].
func (w *Workspace) Converged(cost, p, e []float64, eps float64, warm []float64) (Result, error) {
	if len(warm) > len(e) {
		return Result{}, fmt.Errorf("core/ot: %w: %d warm potentials for %d columns", ErrShape, len(warm), len(e))
	}
	if err := w.set(cost, p, e, eps); err != nil {
		return Result{}, err
	}
	w.begin()
	if w.cols > 1 && w.domain == Kernel {
		w.fillKernel()
	}
	known := 0
	for j, x := range warm {
		if e[j] == 0 {
			continue
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			break
		}
		w.h[known] = x / eps
		known++
	}
	return w.converged(known, len(e))
}

// converged solves the packed problem, whose kernel is filled if it is to be used, from the first known potentials.
func (w *Workspace) converged(known, s int) (Result, error) {
	if w.cols == 1 {
		return w.finish(w.only(), s)
	}
	if w.fromWarm(known) || w.anneal() {
		return w.finish(w.converge(), s)
	}
	r, err := w.finish(w.lastResort(), s)
	if err == nil && r.RowMarginalError > Tolerance {
		err = fmt.Errorf("core/ot: %w: row-marginal error %v", ErrNotConverged, r.RowMarginalError)
	}
	return r, err
}

// fromWarm tries Newton's method right away: in the kernel domain always, in the log domain from known potentials
// only, because its steps are small against the distance from a cold start.
func (w *Workspace) fromWarm(known int) bool {
	if w.domain == Log && known == 0 {
		return false
	}
	return w.enter(known) && w.newton(newtonPasses, Tolerance)
}

// converge ends a solve by one g update, which makes the column marginals exact, and returns the plan's cost.
func (w *Workspace) converge() (r Result) {
	k := w.active()
	clear(w.sum)
	scalePass(w.sum[:lanes*w.cols], w.u, k, w.p, w.v)
	for j := range w.v {
		ratio := w.e[j] / w.semi.mass[j]
		w.v[j] *= ratio
		w.h[j] += math.Log(ratio)
	}
	r.Cost, r.RowMarginalError = w.planCost(k)
	return r
}

// enter estimates the potentials of the columns from known on: each gets a g update after the f update of those
// before it. It reports whether that stayed within the range of the kernel domain.
func (w *Workspace) enter(known int) bool {
	if known == 0 {
		for j, mass := range w.e {
			w.h[j] = math.Log(mass)
		}
		return true
	}
	for j := known; j < w.cols; j++ {
		if w.domain == Log {
			w.rowPotentials(j)
			w.h[j] = w.columnPotential(j)
			continue
		}
		reach := w.reach()
		for l, x := range w.h[:j] {
			if !(math.Abs(x) <= reach) {
				return false
			}
			w.v[l] = math.Exp(x)
		}
		clear(w.sum)
		scalePass(w.sum[:lanes*j], w.u, w.kernel, w.p, w.v[:j])
		var sum float64
		for i, x := range w.kernel[j*w.stride : (j+1)*w.stride] {
			sum += float64(x * w.u[i])
		}
		w.h[j] = math.Log(w.e[j] / sum)
	}
	return true
}

// anneal solves in the log domain from a regularisation as large as the costs down to the one asked for, each stage
// starting from the potentials of the one before.
func (w *Workspace) anneal() bool {
	w.domain = Log
	eps := w.eps
	defer func() { w.eps = eps }()
	w.eps = max(eps, w.top)
	w.enter(0)
	for w.eps > eps {
		w.newton(newtonPasses, annealTolerance)
		next := max(eps, w.eps/annealFactor)
		for j := range w.h {
			w.h[j] *= w.eps / next
		}
		w.eps = next
	}
	return w.newton(newtonPasses, Tolerance)
}

// lastResort goes on with log-domain Sinkhorn iterations, which converge from everywhere, if slowly.
func (w *Workspace) lastResort() (r Result) {
	for range sinkhornIterations / sinkhornBlock {
		for range sinkhornBlock {
			w.rowPotentials(w.cols)
			for j := range w.h {
				w.h[j] = w.columnPotential(j)
			}
		}
		w.passes += sinkhornBlock
		if r = w.logPlan(); r.RowMarginalError <= Tolerance {
			break
		}
	}
	return r
}
