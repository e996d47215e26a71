package pick

import "math"

// marginalSlack is what a solved plan can cost less than the bound, because its row marginals are off by up to
// [ot.Tolerance] and no cost exceeds 2; rounded up to a tie.
const marginalSlack = tieTolerance

// dualBound bounds W(S∪c) from below by weak duality. Every plan between P and the uniform marginal on S∪c, s' of
// them, costs at least
//
//	Σ_i P_i·min_{s∈S∪c}(M_is − g_s) + (1/s')·Σ_{s∈S∪c} g_s
//
// whatever the potentials g are, so W_ε, the cost of one such plan, does as well. With g = 0 this is the cost of the
// nearest server; the potentials that solved S make it far sharper, because they know that every selected passage
// must take its share. The potential of c itself is free: the bound is concave in it, and largest where the candidates
// that c would serve hold a share of 1/s' of the demand.
type dualBound struct {
	demand []float64
	reach  []float64 // a_i = min_{s∈S}(M_is − g_s)
	served float64   // Σ_i P_i·a_i
	prices float64   // Σ_{s∈S} g_s
	size   float64   // s'
	excess []float64 // M_ic − a_i of one candidate c
}

func (b *dualBound) reset(demand []float64) {
	b.demand, b.reach, b.excess = demand, rows(b.reach, len(demand)), rows(b.excess, len(demand))
	b.start()
}

// start forgets S. The selected passages follow, each with its potential.
func (b *dualBound) start() {
	b.prices, b.size = 0, 1
	for i := range b.reach {
		b.reach[i] = math.Inf(1)
	}
}

// serve adds a selected passage with the given cosines and potential.
func (b *dualBound) serve(column []float64, potential float64) {
	for i, x := range column {
		b.reach[i] = min(b.reach[i], 1-x-potential)
	}
	b.prices += potential
	b.size++
}

// settle completes S.
func (b *dualBound) settle() {
	b.served = 0
	for i, a := range b.reach {
		b.served += b.demand[i] * a
	}
}

// below returns a lower bound of W(S∪c), as a solve computes it, for the c whose cosines are given, and c's potential.
func (b *dualBound) below(column []float64) (bound, potential float64) {
	potential = b.share(b.exceed(column))
	return b.served + b.relief(potential) + (b.prices+potential)/b.size - marginalSlack, potential
}

// exceed sets excess and returns its range.
func (b *dualBound) exceed(column []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	reach, excess := b.reach[:len(column)], b.excess[:len(column)]
	for i, x := range column {
		d := 1 - x - reach[i]
		excess[i] = d
		if d < low {
			low = d
		}
		if d > high {
			high = d
		}
	}
	return low, high
}

// relief returns Σ_i P_i·min(0, M_ic − a_i − potential). min(0,x) is computed as (x−|x|)/2, which needs no branch.
func (b *dualBound) relief(potential float64) float64 {
	n := len(b.excess) &^ 3
	var s0, s1, s2, s3 float64
	for i := 0; i < n; i += 4 {
		d, p := b.excess[i:i+4:i+4], b.demand[i:i+4:i+4]
		x0, x1, x2, x3 := d[0]-potential, d[1]-potential, d[2]-potential, d[3]-potential
		s0 += p[0] * (x0 - math.Abs(x0))
		s1 += p[1] * (x1 - math.Abs(x1))
		s2 += p[2] * (x2 - math.Abs(x2))
		s3 += p[3] * (x3 - math.Abs(x3))
	}
	for i := n; i < len(b.excess); i++ {
		x := b.excess[i] - potential
		s0 += b.demand[i] * (x - math.Abs(x))
	}
	return ((s0 + s1) + (s2 + s3)) / 2
}

// share returns about the largest potential at which c serves no more than 1/s' of the demand. Any value is valid; a
// histogram finds one that loses little.
func (b *dualBound) share(low, high float64) float64 {
	const bins = 128
	if !(high > low) {
		return low
	}
	var mass [bins]float64
	scale := (bins - 1) / (high - low)
	demand := b.demand[:len(b.excess)]
	for i, d := range b.excess {
		mass[int((d-low)*scale)&(bins-1)] += demand[i]
	}
	left := 1 / b.size
	for bin, m := range mass {
		if m >= left {
			return low + (float64(bin)+min(1, left/m))/scale
		}
		left -= m
	}
	return high
}
