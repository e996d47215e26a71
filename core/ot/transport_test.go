package ot

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/georag/georag/internal/shareddata"
)

func TestExactMatchesGolden(t *testing.T) {
	var cases []struct {
		Cost [][]float64 `json:"cost"`
		P, E []float64
		Want float64 `json:"exact_emd"`
	}
	if shareddata.ReadJSON(t, "golden/sinkhorn.json", &cases); len(cases) == 0 {
		t.Fatal("no golden cases")
	}
	var warm Transport
	for i, c := range cases {
		var cost []float64
		for _, row := range c.Cost {
			cost = append(cost, row...)
		}
		got, err := Exact(cost, c.P, c.E)
		if err != nil || math.Abs(got-c.Want) > 1e-9 {
			t.Errorf("case %d: %v, %v; want %v", i, got, err, c.Want)
		}
		got, err = warm.CostWarm(cost, c.P, c.E)
		if err != nil || math.Abs(got-c.Want) > 1e-9 {
			t.Errorf("case %d, warm: %v, %v; want %v", i, got, err, c.Want)
		}
	}
}

// randomProblem draws masses with zeros and ties and costs of few distinct values now and then, because those make
// the simplex degenerate.
func randomProblem(r *rand.Rand, n, s int) (cost, p, e []float64) {
	coarse := r.IntN(2) == 0
	value := func() float64 {
		if coarse {
			return float64(r.IntN(4))
		}
		return r.Float64()
	}
	marginal := func(n int) []float64 {
		m, sum := make([]float64, n), 0.0
		for i := range m {
			m[i] = value()
			sum += m[i]
		}
		if sum == 0 {
			m[0], sum = 1, 1
		}
		for i := range m {
			m[i] /= sum
		}
		return m
	}
	cost = make([]float64, n*s)
	for i := range cost {
		cost[i] = value() - 0.5
	}
	return cost, marginal(n), marginal(s)
}

// simplexLP solves the same problem as a general linear program; the last column constraint follows from the others.
func simplexLP(t *testing.T, cost, p, e []float64) float64 {
	t.Helper()
	n, s := len(p), len(e)
	a := mat.NewDense(n+s-1, n*s, nil)
	b := make([]float64, n+s-1)
	for i := range n {
		b[i] = p[i]
		for j := range s {
			a.Set(i, i*s+j, 1)
			if j < s-1 {
				a.Set(n+j, i*s+j, 1)
			}
		}
	}
	copy(b[n:], e[:s-1])
	opt, _, err := lp.Simplex(cost, a, b, 0, nil)
	if err != nil {
		t.Fatalf("reference program: %v", err)
	}
	return opt
}

func TestExactMatchesLinearProgram(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var warm Transport
	for range 300 {
		n, s := 2+r.IntN(5), 2+r.IntN(5)
		cost, p, e := randomProblem(r, n, s)
		want := simplexLP(t, cost, p, e)
		got, err := Exact(cost, p, e)
		if err != nil || math.Abs(got-want) > 1e-9 {
			t.Fatalf("%d×%d: %v, %v; want %v\ncost %v\np %v\ne %v", n, s, got, err, want, cost, p, e)
		}
		got, err = warm.CostWarm(cost, p, e)
		if err != nil || math.Abs(got-want) > 1e-9 {
			t.Fatalf("%d×%d, warm: %v, %v; want %v", n, s, got, err, want)
		}
	}
}

// Equal masses make optimal transport an assignment problem, small enough to try every permutation.
func TestExactMatchesBestPermutation(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		n := 1 + r.IntN(6)
		cost, _, _ := randomProblem(r, n, n)
		ones := make([]float64, n)
		for i := range ones {
			ones[i] = 1
		}
		want := bestPermutation(cost, n, 0, 0)
		if got, err := Exact(cost, ones, ones); err != nil || math.Abs(got-want) > 1e-12 {
			t.Fatalf("n=%d: %v, %v; want %v", n, got, err, want)
		}
	}
}

func bestPermutation(cost []float64, n, row, used int) float64 {
	if row == n {
		return 0
	}
	best := math.Inf(1)
	for j := range n {
		if used&(1<<j) == 0 {
			best = min(best, cost[row*n+j]+bestPermutation(cost, n, row+1, used|1<<j))
		}
	}
	return best
}

// Weak duality certifies large results without a second solver: potentials whose differences never exceed the cost
// give a lower bound, and the plan found must reach it.
func TestExactIsCertifiedByItsPotentials(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, shape := range [][2]int{{1, 1}, {1, 9}, {9, 1}, {30, 4}, {4, 30}, {60, 60}, {500, 200}} {
		n, s := shape[0], shape[1]
		for range 4 {
			cost, p, e := randomProblem(r, n, s)
			var ws Transport
			plan, value, err := ws.Plan(nil, cost, p, e)
			if err != nil {
				t.Fatal(err)
			}
			checkMarginals(t, plan, p, e)
			dual := 0.0
			u, v := ws.tree.potential[:n], ws.tree.potential[n:]
			for i := range n {
				dual += u[i] * p[i]
				for j := range s {
					if u[i]-v[j] > cost[i*s+j]+1e-11 {
						t.Fatalf("%d×%d: potentials exceed cost (%d,%d)", n, s, i, j)
					}
				}
			}
			for j := range s {
				dual -= v[j] * e[j]
			}
			if math.Abs(dual-value) > 1e-11 {
				t.Fatalf("%d×%d: plan costs %v, bound is %v", n, s, value, dual)
			}
		}
	}
}

func checkMarginals(t *testing.T, plan, p, e []float64) {
	t.Helper()
	columns := make([]float64, len(e))
	for i := range p {
		row := 0.0
		for j := range e {
			x := plan[i*len(e)+j]
			if x < 0 {
				t.Fatalf("negative flow %v", x)
			}
			row += x
			columns[j] += x
		}
		if math.Abs(row-p[i]) > 1e-13 {
			t.Fatalf("row %d ships %v of %v", i, row, p[i])
		}
	}
	for j := range e {
		if math.Abs(columns[j]-e[j]) > 1e-13 {
			t.Fatalf("column %d receives %v of %v", j, columns[j], e[j])
		}
	}
}

func TestExactWarmFollowsSlowChange(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	cost, p, e := randomProblem(r, 40, 15)
	var warm Transport
	for step := range 50 {
		for i := range cost {
			cost[i] += 0.05 * r.NormFloat64()
		}
		want, err := Exact(cost, p, e)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := warm.CostWarm(cost, p, e); err != nil || math.Abs(got-want) > 1e-11 {
			t.Fatalf("step %d: %v, %v; want %v", step, got, err, want)
		}
	}
}

func TestExactEdgeCases(t *testing.T) {
	plan, value, err := ExactPlan([]float64{0, 0, 0, 0}, []float64{1, 3}, []float64{2, 2})
	if err != nil || value != 0 {
		t.Fatalf("free transport costs %v, %v", value, err)
	}
	checkMarginals(t, plan, []float64{1, 3}, []float64{2, 2})

	nan := math.NaN()
	for name, c := range map[string]struct {
		cost, p, e []float64
		want       error
	}{
		"no source":       {nil, nil, []float64{1}, ErrShape},
		"short cost":      {[]float64{1}, []float64{1}, []float64{.5, .5}, ErrShape},
		"NaN cost":        {[]float64{nan}, []float64{1}, []float64{1}, ErrNotFinite},
		"infinite mass":   {[]float64{1}, []float64{math.Inf(1)}, []float64{1}, ErrNotFinite},
		"negative mass":   {[]float64{1, 1}, []float64{-1, 2}, []float64{1}, ErrMass},
		"no mass":         {[]float64{1}, []float64{0}, []float64{0}, ErrMass},
		"different total": {[]float64{1}, []float64{1}, []float64{1.001}, ErrMass},
	} {
		if _, err := Exact(c.cost, c.p, c.e); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	var ws Transport
	if _, _, err := ws.Plan(make([]float64, 3), []float64{1}, []float64{1}, []float64{1}); !errors.Is(err, ErrShape) {
		t.Errorf("plan of wrong length: %v", err)
	}
}

func TestTransportDoesNotAllocateOnceWarm(t *testing.T) {
	cost, p, e := randomProblem(rand.New(rand.NewPCG(9, 10)), 50, 12)
	var ws Transport
	run := func() {
		if _, err := ws.Cost(cost, p, e); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if n := testing.AllocsPerRun(20, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkExact(b *testing.B) {
	for _, bc := range []struct {
		name string
		n, s int
	}{{"10x10", 10, 10}, {"200x5", 200, 5}, {"500x10", 500, 10}, {"500x200", 500, 200}} {
		b.Run(bc.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(11, 12))
			p, e, cost := make([]float64, bc.n), make([]float64, bc.s), make([]float64, bc.n*bc.s)
			for i := range p {
				p[i] = 1 / float64(bc.n)
			}
			for j := range e {
				e[j] = 1 / float64(bc.s)
			}
			for i := range cost {
				cost[i] = r.Float64()
			}
			var ws Transport
			for b.Loop() {
				if _, err := ws.Cost(cost, p, e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
