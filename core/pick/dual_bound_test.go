package pick

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/georag/georag/core/ot"
)

// TestDualBoundIsBelow: on random instances, many of them with equal passages, sharp demands and potentials that have
// nothing to do with S, the bound stays below the converged W(S∪c); with the potentials of S it is above the cost of
// the nearest server often enough to be worth its price.
func TestDualBoundIsBelow(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	sharper, instances := 0, 3000
	for range instances {
		n, s := 3+r.IntN(12), 1+r.IntN(3)
		cosine := randomCosines(r, n, 2+r.IntN(4))
		demand := randomDemand(r, n)
		eps := []float64{0.005, 0.01, 0.05, 0.3}[r.IntN(4)]
		column := func(j int) []float64 { return cosine[j*n : (j+1)*n] }
		cost := func(j int) []float64 {
			m := make([]float64, n)
			for i, x := range column(j) {
				m[i] = 1 - x
			}
			return m
		}
		var solver ot.Greedy
		if err := solver.Reset(demand, eps); err != nil {
			t.Fatal(err)
		}
		for j := range s {
			if _, err := solver.Converged(j, cost(j), math.NaN()); err != nil {
				t.Fatal(err)
			}
			if err := solver.Add(j, cost(j)); err != nil {
				t.Fatal(err)
			}
		}
		potentials := solver.Potentials(nil)
		if r.IntN(3) == 0 {
			for j := range potentials {
				potentials[j] = r.NormFloat64()
			}
		}
		var b dualBound
		b.reset(demand)
		for j := range s {
			b.serve(column(j), potentials[j])
		}
		b.settle()
		for c := s; c < n; c++ {
			w, err := solver.Converged(c, cost(c), math.NaN())
			if err != nil {
				t.Fatal(err)
			}
			below, _ := b.below(column(c))
			if below > w.Cost {
				t.Fatalf("n=%d s=%d eps=%v: bound %v above W %v", n, s, eps, below, w.Cost)
			}
			if c == s && below > nearestServer(demand, cosine, n, s, c)+1e-6 {
				sharper++
			}
		}
	}
	if sharper < instances/3 {
		t.Errorf("sharper than the nearest server on %d of %d instances only", sharper, instances)
	}
}

func nearestServer(demand, cosine []float64, n, s, c int) float64 {
	total := 0.0
	for i, p := range demand {
		least := 1 - cosine[c*n+i]
		for j := range s {
			least = math.Min(least, 1-cosine[j*n+i])
		}
		total += p * least
	}
	return total
}

func randomCosines(r *rand.Rand, n, dim int) []float64 {
	vectors := make([][]float64, n)
	for i := range vectors {
		if i > 0 && r.IntN(4) == 0 {
			vectors[i] = vectors[r.IntN(i)]
			continue
		}
		v, norm := make([]float64, dim), 0.0
		for d := range v {
			v[d] = r.NormFloat64()
			norm += v[d] * v[d]
		}
		for d := range v {
			v[d] /= math.Sqrt(norm)
		}
		vectors[i] = v
	}
	cosine := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for d, x := range vectors[i] {
				cosine[i*n+j] += x * vectors[j][d]
			}
			cosine[i*n+j] = math.Max(-1, math.Min(1, cosine[i*n+j]))
		}
	}
	return cosine
}

func randomDemand(r *rand.Rand, n int) []float64 {
	demand, total := make([]float64, n), 0.0
	sharpness := []float64{1, 5, 20}[r.IntN(3)]
	for i := range demand {
		demand[i] = math.Exp(sharpness * r.Float64())
		total += demand[i]
	}
	for i := range demand {
		demand[i] /= total
	}
	return demand
}
