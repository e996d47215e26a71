package ot

import "math"

const (
	// maxStep bounds a Newton step, max−min over the columns in units of eps. The semi-dual is close to its
	// quadratic model only within a few units; the bound stops the wild steps of a nearly singular model.
	maxStep = 40
	// searchTries is how often a step that overshoots is shortened before a Sinkhorn step takes its place.
	searchTries = 6
)

// semiDual is the state of Newton's method on the semi-dual of entropic transport, the concave function
//
//	D(h) = Σ_j e_j·h_j − Σ_i p_i·ln Σ_j exp(h_j − M_ij/eps),  h = g/eps,
//
// in which the row potentials have been eliminated: the plan π_ij = p_i·softmin_j has exact row marginals, the
// gradient is e_j − Σ_i π_ij, and the negative Hessian is the Laplacian of the graph with the weights
// Σ_i π_ij·π_il/p_i between columns j and l. With a handful of columns each step is one pass over the kernel.
type semiDual struct {
	mass     []float64 // Σ_i π_ij
	gradient []float64 // e − mass
	residual float64   // Σ_j |gradient_j|, which bounds the row-marginal error after one more g update
	from     []float64 // h the step starts at
	sinkhorn []float64 // h after a g update at from
	step     []float64 // Newton direction at from
	weight   []float64 // pair moments
}

func (d *semiDual) begin(s int) {
	d.mass, d.gradient, d.from = resize(d.mass, s), resize(d.gradient, s), resize(d.from, s)
	d.sinkhorn, d.step = resize(d.sinkhorn, s), resize(d.step, s)
	d.weight = resize(d.weight, s*(s-1)/2)
}

// newton raises D from h until the residual is at most tolerance, and reports whether it got there within limit
// passes over the kernel without leaving the range of the domain.
func (w *Workspace) newton(limit int, tolerance float64) bool {
	d := &w.semi
	limit += w.passes
	if w.domain == Log {
		w.absorb()
	}
	if !w.evaluate() {
		return false
	}
	for d.residual > tolerance {
		if w.passes >= limit {
			return false
		}
		copy(d.from, w.h)
		for j, mass := range d.mass {
			// A column that underflowed is raised by a bounded amount at a time.
			d.sinkhorn[j] = w.h[j] + math.Log(w.e[j]/max(mass, 1e-200))
		}
		if !w.newtonStep() {
			copy(w.h, d.sinkhorn)
			centre(w.h)
			if !w.evaluate() {
				return false
			}
		}
	}
	return true
}

// newtonStep moves h along Newton's direction and evaluates there. It shortens the step until it does not pass the
// maximum along the direction (where a concave function has certainly risen) or clearly reduces the residual.
func (w *Workspace) newtonStep() bool {
	d := &w.semi
	for k := range d.weight {
		d.weight[k] = addLanes(w.sum, w.cols+k)
	}
	copy(d.step, d.gradient)
	if !laplacian(d.step, d.weight) {
		return false
	}
	low, high, slope := 0.0, 0.0, 0.0
	for j, x := range d.step {
		low, high = min(low, x), max(high, x)
		slope += x * d.gradient[j]
	}
	if !(slope > 0 && high-low < math.MaxFloat64) {
		return false
	}
	t, before := min(1, maxStep/(high-low)), d.residual
	for range searchTries {
		for j, x := range d.step {
			w.h[j] = d.from[j] + float64(t*x)
		}
		centre(w.h)
		if !w.evaluate() {
			t /= 4
			continue
		}
		var now float64
		for j, x := range d.step {
			now += x * d.gradient[j]
		}
		if now >= 0 || d.residual <= before/2 {
			return true
		}
		t *= max(0.1, min(0.5, slope/(slope-now)))
	}
	return false
}

// centre shifts h, which counts only up to a constant, so that max = −min: the range the kernel carries best.
func centre(h []float64) {
	low, high := h[0], h[0]
	for _, x := range h {
		low, high = min(low, x), max(high, x)
	}
	middle := low + (high-low)/2
	for j := range h {
		h[j] -= middle
	}
}

// evaluate computes masses, gradient, residual and pair moments at h, and reports whether h is within the range of
// the domain and everything is finite.
func (w *Workspace) evaluate() bool {
	if !w.scalings() {
		return false
	}
	w.passes++
	clear(w.sum)
	momentPass(w.sum, w.q, w.active(), w.p, w.v)
	d := &w.semi
	d.residual = 0
	for j := range d.mass {
		d.mass[j] = addLanes(w.sum, j)
		d.gradient[j] = w.e[j] - d.mass[j]
		d.residual += math.Abs(d.gradient[j])
	}
	return d.residual <= 2+marginalTolerance
}

// active is the kernel that v multiplies.
func (w *Workspace) active() []float64 {
	if w.domain == Log {
		return w.absorbed
	}
	return w.kernel
}

// scalings sets v = exp(h), in the log domain relative to the absorbed potentials.
func (w *Workspace) scalings() bool {
	if w.domain == Kernel {
		reach := w.reach()
		for j, x := range w.h {
			if !(math.Abs(x) <= reach) {
				return false
			}
			w.v[j] = math.Exp(x)
		}
		return true
	}
	for j, x := range w.h {
		if !(math.Abs(x-w.base[j]) <= absorbAt) {
			w.absorb()
			break
		}
	}
	for j, x := range w.h {
		w.v[j] = math.Exp(x - w.base[j])
	}
	return true
}

// absorb writes exp(h − M/eps), each row divided by its largest entry, to absorbed and h to base. What underflows is
// below exp(−700) of its row and stays negligible until h has moved by more than absorbAt.
func (w *Workspace) absorb() {
	copy(w.base, w.h)
	w.absorbed = resize(w.absorbed, w.cols*w.stride)
	largest := w.rowLog
	for i := range largest {
		largest[i] = math.Inf(-1)
	}
	for j, hj := range w.h {
		for i, m := range w.column(j) {
			largest[i] = max(largest[i], hj-m/w.eps)
		}
	}
	for j, hj := range w.h {
		dst := w.absorbed[j*w.stride : (j+1)*w.stride]
		for i, m := range w.column(j) {
			dst[i] = hj - m/w.eps - largest[i]
		}
	}
	exponential(w.absorbed, w.absorbed, 1)
}
