package ot

import (
	"fmt"
	"math"
)

// Greedy evaluates W_ε(P, E_{S∪c}) for many candidates c over one growing selection S, as Algorithm 1 needs it: P is
// the demand over n candidates, E the uniform marginal over the selected ones, and a column holds the costs of all n
// candidates to one of them. Between evaluations it keeps the packed columns of S, the kernel column of every
// candidate seen, and the potentials of S, from which the solve for S∪c starts.
//
// Use: Reset, then in each step Converged or Published for the candidates of interest and Add for the chosen one.
// The zero value is ready for Reset; once it has seen the largest n and selection it allocates nothing. It must not
// be used by two goroutines at once.
type Greedy struct {
	work     Workspace
	n        int       // candidates, len(p)
	selected int       // |S|
	top      float64   // largest |cost| of S
	kernels  []float64 // n columns exp(-M/eps) of work.stride
	filled   []bool    // n, which of them are
	warm     []float64 // potentials g/eps of S, possibly shorter
	solved   []bool    // n, candidates whose S∪c has been solved in this step
	duals    []float64 // n·(selected+1), the potentials of those
}

// Reset starts an empty selection under demand p (length n, a distribution, zeros allowed) and regularisation eps.
// Errors: [ErrShape], [ErrNotFinite], [ErrMass], [ErrEpsilon].
func (g *Greedy) Reset(p []float64, eps float64) error {
	g.n, g.selected, g.top, g.warm = 0, 0, 0, g.warm[:0]
	if err := g.work.setRows(p, eps); err != nil {
		return err
	}
	g.n = len(p)
	g.kernels = resize(g.kernels, g.n*g.work.stride)
	g.filled, g.solved = resize(g.filled, g.n), resize(g.solved, g.n)
	clear(g.filled)
	g.startStep()
	return nil
}

// Len returns |S|.
func (g *Greedy) Len() int { return g.selected }

// Add moves candidate c, whose column is cost, into S. The next step starts from the potentials that Converged found
// for S∪c, if it was asked for them in this step.
// Errors: [ErrShape] for c outside [0,n) or len(cost) ≠ n, [ErrNotFinite].
func (g *Greedy) Add(c int, cost []float64) error {
	if err := g.extend(c, cost); err != nil {
		return err
	}
	g.top = g.work.top
	g.selected++
	if g.solved[c] {
		g.warm = append(g.warm[:0], g.duals[c*g.selected:(c+1)*g.selected]...)
	}
	g.startStep()
	return nil
}

// Potentials returns the potentials g of S in the unit of the costs, one for each column in the order added, as the
// last solve left them: the optimum of S where its last column was solved for, and of an earlier S, and shorter,
// where not. The slice is dst, grown as needed.
func (g *Greedy) Potentials(dst []float64) []float64 {
	dst = resize(dst, len(g.warm))
	for j, h := range g.warm {
		dst[j] = g.work.eps * h
	}
	return dst
}

// Converged returns W of the optimal entropic plan between P and the uniform marginal on S∪c, as
// [Workspace.Converged] does. cost is the column of c, length n, the same whenever c is named between two Resets;
// c is in [0,n). start is a potential of c near the solution, beside [Greedy.Potentials] of S and in the unit of the
// costs; NaN has it estimated. Errors: [ErrShape], [ErrNotFinite], [ErrNotConverged].
func (g *Greedy) Converged(c int, cost []float64, start float64) (Result, error) {
	if err := g.extend(c, cost); err != nil {
		return Result{}, err
	}
	w := &g.work
	known := copy(w.h, g.warm)
	if known == g.selected && known > 0 && math.Abs(start) <= math.MaxFloat64 {
		w.h[known] = start / w.eps
		centre(w.h)
		known++
	}
	r, err := w.converged(known, w.cols)
	if err == nil {
		g.solved[c] = true
		copy(g.duals[c*w.cols:(c+1)*w.cols], w.h)
	}
	return r, err
}

// Published returns W after the given number of Sinkhorn iterations between P and the uniform marginal on S∪c, as
// [Workspace.Published] does; arguments as for Converged.
// Errors: [ErrShape], [ErrNotFinite], [ErrIterations].
func (g *Greedy) Published(c int, cost []float64, iterations int) (Result, error) {
	if iterations < 1 {
		return Result{}, fmt.Errorf("core/ot: %w: %d", ErrIterations, iterations)
	}
	if err := g.extend(c, cost); err != nil {
		return Result{}, err
	}
	return g.work.finish(g.work.published(iterations), g.work.cols)
}

// startStep forgets the solutions of the step before.
func (g *Greedy) startStep() {
	clear(g.solved)
	g.duals = resize(g.duals, g.n*(g.selected+1))
}

// extend makes the workspace hold the problem of S∪c.
func (g *Greedy) extend(c int, cost []float64) error {
	if c < 0 || c >= g.n || len(cost) != g.n {
		return fmt.Errorf("core/ot: %w: candidate %d with a column of %d entries for %d candidates", ErrShape, c, len(cost), g.n)
	}
	w, s := &g.work, g.selected
	top, err := w.setColumn(s, cost, 0, 1)
	if err != nil {
		return err
	}
	w.top, w.cols = max(g.top, top), s+1
	w.e, w.index = w.e[:0], w.index[:0]
	for j := range w.cols {
		w.e = append(w.e, 1/float64(w.cols))
		w.index = append(w.index, j)
	}
	w.begin()
	if w.domain == Kernel {
		g.placeKernel(c)
	}
	return nil
}

// placeKernel puts the kernel column of c beside those of S. Where some column of S was too large for the kernel
// domain, so is the problem of S∪c; hence those of S are in place whenever this is called.
func (g *Greedy) placeKernel(c int) {
	w, s := &g.work, g.selected
	kernel := g.kernels[c*w.stride : (c+1)*w.stride]
	if !g.filled[c] {
		exponential(kernel, w.column(s), -1/w.eps)
		g.filled[c] = true
	}
	w.kernel = resize(w.kernel, w.cols*w.stride)
	copy(w.kernel[s*w.stride:], kernel)
}
