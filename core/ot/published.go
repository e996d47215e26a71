package ot

import (
	"fmt"
	"math"
)

// stillness is the relative change of any plan entry that the published mode may leave out, see scaleIterations.
const stillness = 1e-13

// Published returns W after exactly the given number of Sinkhorn iterations from g = 0 (Algorithm 2; 100 in the
// publication, [PublishedIterations]):
//
//	f_i ← eps·(ln p_i − ln Σ_j exp((g_j − M_ij)/eps)),  g_j ← eps·(ln e_j − ln Σ_i exp((f_i − M_ij)/eps)).
//
// cost is n×s row-major with n = len(p), s = len(e), any finite values (1−cos gives [0,2]); p and e are
// distributions, zeros allowed, whose sums may be off by 1e-6, which is scaled away. It computes these iterates in
// the kernel domain where that is safe and falls back to the log domain when a scaling leaves the safe range. The
// kernel domain skips iterations that could change W only by rounding; Result.Iterations counts those computed.
//
// Errors: [ErrShape], [ErrNotFinite], [ErrMass], [ErrEpsilon], [ErrIterations].
func (w *Workspace) Published(cost, p, e []float64, eps float64, iterations int) (Result, error) {
	if iterations < 1 {
		return Result{}, fmt.Errorf("core/ot: %w: %d", ErrIterations, iterations)
	}
	if err := w.set(cost, p, e, eps); err != nil {
		return Result{}, err
	}
	w.begin()
	if w.cols > 1 && w.domain == Kernel {
		w.fillKernel()
	}
	return w.finish(w.published(iterations), len(e))
}

// published iterates on the packed problem, whose kernel is filled if it is to be used.
func (w *Workspace) published(iterations int) Result {
	if w.cols == 1 {
		return w.only()
	}
	if w.domain == Kernel {
		if w.scaleIterations(iterations) {
			cost, rowError := w.planCost(w.kernel)
			for j, vj := range w.v {
				w.h[j] = math.Log(vj)
			}
			return Result{Cost: cost, RowMarginalError: rowError}
		}
		w.domain = Log
	}
	w.logIterations(iterations)
	return w.logPlan()
}

// scaleIterations runs u = p/(K·v), v = e/(Kᵀ·u) from v = 1 and reports whether every v stayed in the safe range.
//
// A Sinkhorn iteration never expands Hilbert's metric, the logarithm of max(v'/v)/min(v'/v): each later one moves v
// at most as far as this one did. So once the move times the iterations left is below rounding, the rest of the
// iterations return the same plan and are skipped.
func (w *Workspace) scaleIterations(iterations int) bool {
	for j := range w.v {
		w.v[j] = 1
	}
	largest := math.Exp(w.reach())
	smallest := 1 / largest
	sum := w.sum[:lanes*w.cols]
	for w.passes = 0; w.passes < iterations; {
		clear(sum)
		scalePass(sum, w.u, w.kernel, w.p, w.v)
		w.passes++
		low, high := math.Inf(1), 0.0
		for j, old := range w.v {
			vj := w.e[j] / addLanes(sum, j)
			if !(vj >= smallest && vj <= largest) {
				return false
			}
			w.v[j] = vj
			low, high = min(low, vj/old), max(high, vj/old)
		}
		if (high/low-1)*float64(iterations-w.passes) <= stillness {
			break
		}
	}
	return true
}

// logIterations is Algorithm 2 as it is written, on potentials divided by eps.
func (w *Workspace) logIterations(iterations int) {
	clear(w.h)
	for w.passes = 0; w.passes < iterations; w.passes++ {
		w.rowPotentials(w.cols)
		for j := range w.h {
			w.h[j] = w.columnPotential(j)
		}
	}
}

// rowPotentials sets rowLog_i = ln p_i − ln Σ_{j<s} exp(h_j − M_ij/eps), f/eps of Algorithm 2.
func (w *Workspace) rowPotentials(s int) {
	for i := range w.rows {
		largest := math.Inf(-1)
		for j := range s {
			largest = max(largest, w.h[j]-w.cost[j*w.stride+i]/w.eps)
		}
		var sum float64
		for j := range s {
			sum += math.Exp(w.h[j] - w.cost[j*w.stride+i]/w.eps - largest)
		}
		w.rowLog[i] = math.Log(w.p[i]) - largest - math.Log(sum)
	}
}

// columnPotential returns ln e_j − ln Σ_i exp(rowLog_i − M_ij/eps), g_j/eps of Algorithm 2.
func (w *Workspace) columnPotential(j int) float64 {
	column := w.column(j)
	largest := math.Inf(-1)
	for i := range w.rows {
		largest = max(largest, w.rowLog[i]-column[i]/w.eps)
	}
	var sum float64
	for i := range w.rows {
		sum += math.Exp(w.rowLog[i] - column[i]/w.eps - largest)
	}
	return math.Log(w.e[j]) - largest - math.Log(sum)
}

// logPlan returns W and the row-marginal error of the plan exp(rowLog_i + h_j − M_ij/eps).
func (w *Workspace) logPlan() (r Result) {
	for i := range w.rows {
		left := w.p[i]
		for j, hj := range w.h {
			m := w.cost[j*w.stride+i]
			mass := math.Exp(w.rowLog[i] + hj - m/w.eps)
			left -= mass
			r.Cost += float64(mass * m)
		}
		r.RowMarginalError += math.Abs(left)
	}
	return r
}
