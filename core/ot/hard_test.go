package ot

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// hard draws a problem of the kind that breaks naive solvers: identical columns, identical rows, costs of only 0 and
// 2, demand on one row up to rounding or exactly, more columns than rows.
func hard(r *rand.Rand) (cost, p, e []float64) {
	n, s := 1+r.IntN(12), 1+r.IntN(6)
	p, cost = make([]float64, n), make([]float64, n*s)
	for i := range cost {
		cost[i] = []float64{0, 2, 1, 2 * r.Float64(), 1 + 1e-9*r.Float64()}[r.IntN(5)]
	}
	if s > 1 && r.IntN(2) == 0 {
		from, to := r.IntN(s), r.IntN(s)
		for i := range n {
			cost[i*s+to] = cost[i*s+from]
		}
	}
	if r.IntN(2) == 0 {
		copy(cost[r.IntN(n)*s:][:s], cost[r.IntN(n)*s:][:s])
	}
	switch r.IntN(3) {
	case 0:
		p[r.IntN(n)] = 1
	case 1:
		for i := range p {
			p[i] = 1e-13 / float64(n)
		}
		p[r.IntN(n)] += 1 - 1e-13
	default:
		sum := 0.0
		for i := range p {
			p[i] = math.Exp(4 * r.NormFloat64())
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
	}
	return cost, p, uniform(s)
}

// bracket checks EMD ≤ W ≤ EMD + eps·min(H(P), H(E)) for the converged plan, and W ≥ the nearest-server cost.
func bracket(t *testing.T, w *Workspace, cost, p, e []float64, eps float64) {
	t.Helper()
	r, err := w.Converged(cost, p, e, eps, nil)
	if err != nil {
		t.Fatalf("eps %v: %v", eps, err)
	}
	exact, err := Exact(cost, p, e)
	if err != nil {
		t.Fatal(err)
	}
	upper := exact + eps*min(entropy(p), entropy(e))
	if r.Cost < exact-1e-9 || r.Cost > upper+1e-9 || r.RowMarginalError > Tolerance {
		t.Fatalf("eps %v: W = %v with row error %v outside [%v, %v] for cost %v, p %v, e %v",
			eps, r.Cost, r.RowMarginalError, exact, upper, cost, p, e)
	}
	if nearest := NearestServer(cost, p); r.Cost < nearest-1e-9 {
		t.Fatalf("W = %v below the nearest-server cost %v", r.Cost, nearest)
	}
}

func TestConvergedBracketsWhereItIsHard(t *testing.T) {
	var w Workspace
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 5))
		cost, p, e := hard(r)
		bracket(t, &w, cost, p, e, 0.001*math.Pow(500, r.Float64()))
	}
}

// FuzzTransport spoils a hard problem with the given numbers. Each solver refuses it for a reason it names, or the
// answers agree: the converged cost lies in its bracket, and the published one is finite.
func FuzzTransport(f *testing.F) {
	f.Add(uint64(1), 0.01, 0.5, 0.3)
	f.Add(uint64(2), 0.5, -1.0, 0.0)
	f.Add(uint64(3), 0.001, 2.0, 1.0)
	f.Add(uint64(4), 1e-300, math.NaN(), 1e300)
	f.Add(uint64(5), math.Inf(1), 1e308, -0.1)
	f.Fuzz(func(t *testing.T, seed uint64, eps, entry, mass float64) {
		r := rand.New(rand.NewPCG(seed, 6))
		cost, p, e := hard(r)
		cost[r.IntN(len(cost))] = entry
		if i := r.IntN(len(p)); seed%4 == 0 {
			p[i] = mass
		}
		var w Workspace
		published, err := w.Published(cost, p, e, eps, 1+r.IntN(50))
		if refused(t, err) {
			return
		}
		if total := published.Cost + published.RowMarginalError; math.IsNaN(total) || math.IsInf(total, 0) {
			t.Fatalf("published %+v", published)
		}
		// Where costs are very large against eps, float64 does not resolve the potentials to the tolerance.
		if scale := max(1, math.Abs(entry)); scale > 1e3 || eps/scale < 1e-5 {
			return
		}
		bracket(t, &w, cost, p, e, eps)
	})
}

// refused reports whether a problem was refused, and fails where the reason is none of the package's.
func refused(t *testing.T, err error) bool {
	t.Helper()
	for _, reason := range []error{ErrShape, ErrNotFinite, ErrMass, ErrEpsilon} {
		if errors.Is(err, reason) {
			return true
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return false
}
