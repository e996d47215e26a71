package pick

import "math"

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

// below returns a lower bound of W(S∪c) for the c whose cosines are given.
func (b *dualBound) below(column []float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for i, x := range column {
		d := 1 - x - b.reach[i]
		b.excess[i] = d
		low, high = min(low, d), max(high, d)
	}
	potential := b.share(low, high)
	relief := 0.0
	for i, d := range b.excess {
		relief += b.demand[i] * min(0, d-potential)
	}
	return b.served + relief + (b.prices+potential)/b.size
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
	for i, d := range b.excess {
		mass[int((d-low)*scale)&(bins-1)] += b.demand[i]
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
