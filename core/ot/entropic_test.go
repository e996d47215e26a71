package ot

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/georag/georag/internal/shareddata"
	"pgregory.net/rapid"
)

// uniform returns the distribution of equal masses.
func uniform(s int) []float64 {
	e := make([]float64, s)
	for j := range e {
		e[j] = 1 / float64(s)
	}
	return e
}

// clustered returns an n×s cost 1 − cos between n points around five directions and s of them, a demand of very
// uneven masses, and the uniform column marginal.
func clustered(r *rand.Rand, n, s, dim int, noise float64) (cost, p, e []float64) {
	direction := func(around []float64) []float64 {
		x, norm := make([]float64, dim), 0.0
		for j := range x {
			x[j] = r.NormFloat64()
			if around != nil {
				x[j] = around[j] + noise*x[j]
			}
			norm += x[j] * x[j]
		}
		for j := range x {
			x[j] /= math.Sqrt(norm)
		}
		return x
	}
	var centres, points [][]float64
	for range 5 {
		centres = append(centres, direction(nil))
	}
	for range n {
		points = append(points, direction(centres[r.IntN(5)]))
	}
	sum := 0.0
	for i := range n {
		p = append(p, math.Exp(3*r.NormFloat64()))
		sum += p[i]
		for j := range s {
			dot := 0.0
			for l, x := range points[i] {
				dot += x * points[j*n/s][l]
			}
			cost = append(cost, 1-dot)
		}
	}
	for i := range p {
		p[i] /= sum
	}
	return cost, p, uniform(s)
}

func TestGolden(t *testing.T) {
	var cases []struct {
		Eps       float64
		Cost      [][]float64
		P, E      []float64
		Published float64 `json:"w_100_iterations"`
		RowError  float64 `json:"row_marginal_error_100"`
		Converged float64 `json:"w_converged"`
		Nearest   float64 `json:"nearest_server_lower_bound"`
	}
	if shareddata.ReadJSON(t, "golden/sinkhorn.json", &cases); len(cases) == 0 {
		t.Fatal("no golden cases")
	}
	var w Workspace
	for i, c := range cases {
		cost := slices.Concat(c.Cost...)
		r, err := w.Published(cost, c.P, c.E, c.Eps, PublishedIterations)
		if err != nil || math.Abs(r.Cost-c.Published) > 1e-9 || math.Abs(r.RowMarginalError-c.RowError) > 1e-9 {
			t.Errorf("case %d: published %+v, %v; want %v with row error %v", i, r, err, c.Published, c.RowError)
		}
		r, err = w.Converged(cost, c.P, c.E, c.Eps, nil)
		if err != nil || math.Abs(r.Cost-c.Converged) > 1e-9 || r.RowMarginalError > Tolerance {
			t.Errorf("case %d: converged %+v, %v; want %v", i, r, err, c.Converged)
		}
		if (c.Eps < 0.0028) != (r.Domain == Log) && len(c.E) > 1 {
			t.Errorf("case %d: domain %v at eps %v", i, r.Domain, c.Eps)
		}
		if got := NearestServer(cost, c.P); math.Abs(got-c.Nearest) > 1e-12 {
			t.Errorf("case %d: nearest server %v, want %v", i, got, c.Nearest)
		}
	}
}

// TestDomainsAgree forces the log domain beside the kernel domain.
func TestDomainsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var kernel, log Workspace
	for range 200 {
		cost, p, e := clustered(r, 2+r.IntN(40), 2+r.IntN(4), 2+r.IntN(20), 2*r.Float64())
		eps := 0.005 * math.Exp(4*r.Float64())
		iterations := 1 + r.IntN(150)
		a, err := kernel.Published(cost, p, e, eps, iterations)
		if err != nil || a.Domain != Kernel {
			t.Fatal(a, err)
		}
		if err := log.set(cost, p, e, eps); err != nil {
			t.Fatal(err)
		}
		log.begin()
		log.domain = Log
		b, err := log.finish(log.published(iterations), len(e))
		agree(t, "published", a, b, err)

		if a, err = kernel.Converged(cost, p, e, eps, nil); err != nil {
			t.Fatal(err)
		}
		log.begin()
		log.domain = Log
		b, err = log.converged(0, len(e))
		agree(t, "converged", a, b, err)
	}
}

func agree(t *testing.T, mode string, kernel, log Result, err error) {
	t.Helper()
	if err != nil || log.Domain != Log {
		t.Fatalf("%s: %+v, %v", mode, log, err)
	}
	if math.Abs(kernel.Cost-log.Cost) > 1e-10 || math.Abs(kernel.RowMarginalError-log.RowMarginalError) > 2e-10 {
		t.Fatalf("%s: kernel %+v, log %+v", mode, kernel, log)
	}
}

// TestLastResort checks the plain iterations that only pathological problems reach.
func TestLastResort(t *testing.T) {
	cost, p, e := clustered(rand.New(rand.NewPCG(4, 4)), 30, 4, 8, 0.5)
	var w Workspace
	want, err := w.Converged(cost, p, e, 0.1, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.begin()
	w.domain = Log
	w.enter(0)
	if got := w.lastResort(); math.Abs(got.Cost-want.Cost) > 1e-9 || got.RowMarginalError > Tolerance {
		t.Errorf("plain iterations %+v, Newton %+v", got, want)
	}
}

type instance struct {
	cost, p, e []float64
	eps        float64
}

var instances = rapid.Custom(func(t *rapid.T) instance {
	n, s := rapid.IntRange(1, 40).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "s")
	seed := rapid.Uint64().Draw(t, "seed")
	r := rand.New(rand.NewPCG(seed, 0))
	var in instance
	in.cost, in.p, in.e = clustered(r, n, s, rapid.IntRange(1, 12).Draw(t, "dim"), rapid.Float64Range(0, 3).Draw(t, "noise"))
	if rapid.Bool().Draw(t, "uneven columns") {
		sum := 0.0
		for j := range in.e {
			in.e[j] = max(0, r.Float64()-0.2)
			sum += in.e[j]
		}
		if sum == 0 {
			in.e, sum = uniform(s), 1
		}
		for j := range in.e {
			in.e[j] /= sum
		}
	}
	in.eps = 0.001 * math.Exp(rapid.Float64Range(0, math.Log(500)).Draw(t, "ln eps"))
	return in
})

func entropy(m []float64) (h float64) {
	for _, x := range m {
		if x > 0 {
			h -= x * math.Log(x)
		}
	}
	return h
}

// TestConvergedBrackets checks EMD ≤ W ≤ EMD + eps·min(H(P), H(E)) (package comment) and the marginals.
func TestConvergedBrackets(t *testing.T) {
	var w Workspace
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			in := instances.Draw(t, "instance")
			r, err := w.Converged(in.cost, in.p, in.e, in.eps, nil)
			if err != nil {
				t.Fatal(err)
			}
			exact, err := Exact(in.cost, in.p, in.e)
			if err != nil {
				t.Fatal(err)
			}
			bound := exact + in.eps*min(entropy(in.p), entropy(in.e))
			if r.Cost < exact-1e-9 || r.Cost > bound+1e-9 {
				t.Fatalf("W = %v outside [%v, %v]", r.Cost, exact, bound)
			}
			checkPlan(t, in, r)
		}
	})
}

// checkPlan rebuilds the plan from the dual, with exact rows, and checks its columns and its cost.
func checkPlan(t *rapid.T, in instance, r Result) {
	s := len(in.e)
	columns, cost := make([]float64, s), 0.0
	for i, mass := range in.p {
		row := in.cost[i*s : i*s+s]
		largest, sum := math.Inf(-1), 0.0
		for j, g := range r.Dual {
			largest = max(largest, (g-row[j])/in.eps)
		}
		for j, g := range r.Dual {
			sum += math.Exp((g-row[j])/in.eps - largest)
		}
		for j, g := range r.Dual {
			x := mass * math.Exp((g-row[j])/in.eps-largest) / sum
			columns[j] += x
			cost += x * row[j]
		}
	}
	off := 0.0
	for j, x := range columns {
		off += math.Abs(x - in.e[j])
	}
	if r.RowMarginalError > Tolerance || off > 2*Tolerance || math.Abs(cost-r.Cost) > 1e-8 {
		t.Fatalf("row error %v, column error %v, cost %v against %v", r.RowMarginalError, off, cost, r.Cost)
	}
}

func TestPermutationInvariance(t *testing.T) {
	var w Workspace
	rapid.Check(t, func(t *rapid.T) {
		in := instances.Draw(t, "instance")
		n, s := len(in.p), len(in.e)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		rows, columns := r.Perm(n), r.Perm(s)
		var to instance
		for _, i := range rows {
			to.p = append(to.p, in.p[i])
			for _, j := range columns {
				to.cost = append(to.cost, in.cost[i*s+j])
			}
		}
		for _, j := range columns {
			to.e = append(to.e, in.e[j])
		}
		solve := func(in instance) (published, converged float64) {
			a, err := w.Published(in.cost, in.p, in.e, in.eps, PublishedIterations)
			if err != nil {
				t.Fatal(err)
			}
			b, err := w.Converged(in.cost, in.p, in.e, in.eps, nil)
			if err != nil {
				t.Fatal(err)
			}
			return a.Cost, b.Cost
		}
		to.eps = in.eps
		a0, b0 := solve(in)
		a1, b1 := solve(to)
		if math.Abs(a0-a1) > 1e-9 || math.Abs(b0-b1) > 1e-9 {
			t.Fatalf("published %v and %v, converged %v and %v", a0, a1, b0, b1)
		}
	})
}

// TestGreedyMatchesWorkspace compares every solve of a greedy selection with the same problem solved afresh.
func TestGreedyMatchesWorkspace(t *testing.T) {
	var g Greedy
	var w Workspace
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "n")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		columns, p, _ := clustered(r, n, n, 6, rapid.Float64Range(0.1, 2).Draw(t, "noise"))
		columns = transpose(columns, n)
		eps := 0.001 * math.Exp(rapid.Float64Range(0, math.Log(500)).Draw(t, "ln eps"))
		if err := g.Reset(p, eps); err != nil {
			t.Fatal(err)
		}
		var chosen []float64
		for step := 1; step <= 5; step++ {
			column := func(c int) []float64 { return columns[c*n : (c+1)*n] }
			for range 3 {
				c := r.IntN(n)
				cost := transpose(append(slices.Clone(chosen), column(c)...), n)
				compare(t, "converged", first(g.Converged(c, column(c), math.NaN())), first(w.Converged(cost, p, uniform(step), eps, nil)))
				compare(t, "published", first(g.Published(c, column(c), 100)), first(w.Published(cost, p, uniform(step), eps, 100)))
			}
			c := r.IntN(n)
			if err := g.Add(c, column(c)); err != nil || g.Len() != step {
				t.Fatal(g.Len(), err)
			}
			chosen = append(chosen, column(c)...)
		}
	})
}

func first(r Result, err error) float64 {
	if err != nil {
		return math.NaN()
	}
	return r.Cost
}

func compare(t *rapid.T, mode string, got, want float64) {
	if !(math.Abs(got-want) <= 1e-9) {
		t.Fatalf("%s: %v, afresh %v", mode, got, want)
	}
}

// transpose turns an n-column row-major matrix into its transpose, and an n-row column-major one into row-major.
func transpose(m []float64, n int) []float64 {
	t := make([]float64, 0, len(m))
	for i := range n {
		for at := i; at < len(m); at += n {
			t = append(t, m[at])
		}
	}
	return t
}

func TestEdgeCases(t *testing.T) {
	cost, p, e := clustered(rand.New(rand.NewPCG(5, 5)), 20, 4, 8, 0.5)
	atom := make([]float64, 20)
	atom[7] = 1
	column := make([]float64, 20)
	twins := make([]float64, 40)
	for i := range column {
		column[i] = cost[4*i]
		twins[2*i], twins[2*i+1] = cost[4*i], cost[4*i]
	}
	along := func(p, column []float64) (sum float64) {
		for i := range p {
			sum += p[i] * column[i]
		}
		return sum
	}
	mean := (cost[28] + cost[29] + cost[30] + cost[31]) / 4
	antipodes := []float64{0, 2, 2, 0}
	tests := []struct {
		name       string
		cost, p, e []float64
		eps        float64
		want       float64
	}{
		{"one column", column, p, []float64{1}, 0.01, along(p, column)},
		{"one column, tiny eps", column, p, []float64{1}, 1e-4, along(p, column)},
		{"one column with mass", cost, p, []float64{0, 1, 0, 0}, 0.01, toColumn(cost, p, 1)},
		{"single atom", cost, atom, e, 0.01, mean},
		{"single atom, tiny eps", cost, atom, e, 1e-4, mean},
		{"identical columns", twins, p, uniform(2), 0.01, along(p, column)},
		{"zero cost", make([]float64, 80), p, e, 0.01, 0},
		{"antipodes", antipodes, []float64{0.5, 0.5}, uniform(2), 0.01, 0},
		{"antipodes, uneven", antipodes, []float64{0.75, 0.25}, uniform(2), 1e-4, 0.5},
		{"antipodes, tiny mass", antipodes, []float64{1 - 1e-12, 1e-12}, uniform(2), 0.01, 1 - 2e-12},
	}
	var w Workspace
	for _, c := range tests {
		got, err := w.Converged(c.cost, c.p, c.e, c.eps, nil)
		if err != nil || math.Abs(got.Cost-c.want) > 1e-9 {
			t.Errorf("%s: converged %+v, %v; want %v", c.name, got, err, c.want)
		}
	}
	for _, eps := range []float64{1e-4, 10, 1e6} {
		got, err := w.Converged(cost, p, e, eps, nil)
		exact, _ := Exact(cost, p, e)
		independent := 0.0
		for i, x := range cost {
			independent += p[i/4] * x / 4
		}
		if err != nil || got.Cost < exact-1e-9 || got.Cost > min(independent, exact+eps*math.Log(4))+1e-9 {
			t.Errorf("eps %v: %+v, %v; exact %v, independent %v", eps, got, err, exact, independent)
		}
	}
}

// toColumn returns the cost of sending everything to column j of four.
func toColumn(cost, p []float64, j int) (sum float64) {
	for i := range p {
		sum += p[i] * cost[4*i+j]
	}
	return sum
}

func TestWarmStart(t *testing.T) {
	cost, p, e := clustered(rand.New(rand.NewPCG(6, 6)), 60, 5, 8, 0.5)
	for _, eps := range []float64{0.001, 0.02} {
		var w Workspace
		cold, err := w.Converged(cost, p, e, eps, nil)
		if err != nil {
			t.Fatal(err)
		}
		dual := slices.Clone(cold.Dual)
		again, err := w.Converged(cost, p, e, eps, dual)
		if err != nil || again.Iterations > 2 || math.Abs(again.Cost-cold.Cost) > 1e-9 {
			t.Errorf("eps %v: from the solution %+v, %v; cold %+v", eps, again, err, cold)
		}
		for _, warm := range [][]float64{dual[:3], {}, {math.NaN(), 1}, {1e9, -1e9, 0, 0, 0}, {1e300, 0}} {
			got, err := w.Converged(cost, p, e, eps, warm)
			if err != nil || math.Abs(got.Cost-cold.Cost) > 1e-9 {
				t.Errorf("eps %v from %v: %+v, %v; want %v", eps, warm, got, err, cold.Cost)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	half, nan, inf := []float64{0.5, 0.5}, math.NaN(), math.Inf(1)
	square := []float64{0, 1, 1, 0}
	tests := []struct {
		name       string
		cost, p, e []float64
		eps        float64
		want       error
	}{
		{"no rows", nil, nil, half, 0.1, ErrShape},
		{"no columns", nil, half, nil, 0.1, ErrShape},
		{"short cost", square[:3], half, half, 0.1, ErrShape},
		{"NaN cost", []float64{0, nan, 1, 0}, half, half, 0.1, ErrNotFinite},
		{"NaN cost without mass", []float64{0, nan, 1, 0}, []float64{0, 1}, half, 0.1, ErrNotFinite},
		{"infinite cost", []float64{0, 1, inf, 0}, half, half, 0.1, ErrNotFinite},
		{"overflowing cost", []float64{0, 1, 1e300, 0}, half, half, 1e-10, ErrNotFinite},
		{"NaN mass", square, []float64{nan, 1}, half, 0.1, ErrNotFinite},
		{"infinite mass", square, half, []float64{inf, 1}, 0.1, ErrNotFinite},
		{"negative mass", square, []float64{-0.5, 1.5}, half, 0.1, ErrMass},
		{"too little mass", square, []float64{0.5, 0.49}, half, 0.1, ErrMass},
		{"too much mass", square, half, []float64{0.5, 0.51}, 0.1, ErrMass},
		{"zero eps", square, half, half, 0, ErrEpsilon},
		{"negative eps", square, half, half, -1, ErrEpsilon},
		{"NaN eps", square, half, half, nan, ErrEpsilon},
		{"infinite eps", square, half, half, inf, ErrEpsilon},
	}
	var w Workspace
	for _, c := range tests {
		if _, err := w.Converged(c.cost, c.p, c.e, c.eps, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: converged: %v, want %v", c.name, err, c.want)
		}
		if _, err := w.Published(c.cost, c.p, c.e, c.eps, 10); !errors.Is(err, c.want) {
			t.Errorf("%s: published: %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := w.Published(square, half, half, 0.1, 0); !errors.Is(err, ErrIterations) {
		t.Errorf("no iterations: %v", err)
	}
	if _, err := w.Converged(square, half, half, 0.1, make([]float64, 3)); !errors.Is(err, ErrShape) {
		t.Errorf("long warm start: %v", err)
	}
}

func TestGreedyErrors(t *testing.T) {
	var g Greedy
	if _, err := g.Converged(0, nil, math.NaN()); !errors.Is(err, ErrShape) {
		t.Errorf("before Reset: %v", err)
	}
	if err := g.Reset([]float64{0.5, 0.6}, 0.1); !errors.Is(err, ErrMass) {
		t.Errorf("too much mass: %v", err)
	}
	if err := g.Add(0, []float64{0, 1}); !errors.Is(err, ErrShape) {
		t.Errorf("after a failed Reset: %v", err)
	}
	if err := g.Reset([]float64{0.5, 0.5}, 0.1); err != nil {
		t.Fatal(err)
	}
	for _, c := range []int{-1, 2} {
		if _, err := g.Converged(c, []float64{0, 1}, math.NaN()); !errors.Is(err, ErrShape) {
			t.Errorf("candidate %d: %v", c, err)
		}
	}
	if _, err := g.Converged(0, []float64{0, math.NaN()}, math.NaN()); !errors.Is(err, ErrNotFinite) {
		t.Errorf("NaN: %v", err)
	}
	if _, err := g.Published(0, []float64{0, 1}, 0); !errors.Is(err, ErrIterations) {
		t.Errorf("no iterations: %v", err)
	}
}

func TestMassIsScaled(t *testing.T) {
	var w Workspace
	r, err := w.Converged([]float64{0, 1, 1, 0}, []float64{0.5, 0.5000009}, []float64{0.4999995, 0.5}, 0.1, nil)
	if err != nil || r.RowMarginalError > Tolerance {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestNoAllocation(t *testing.T) {
	cost, p, e := clustered(rand.New(rand.NewPCG(7, 7)), 50, 5, 8, 0.5)
	columns, demand, _ := clustered(rand.New(rand.NewPCG(7, 8)), 30, 30, 8, 0.5)
	columns = transpose(columns, 30)
	var w Workspace
	var g Greedy
	for _, eps := range []float64{0.001, 0.05} {
		runs := map[string]func(){
			"Published": func() { first(w.Published(cost, p, e, eps, 100)) },
			"Converged": func() { first(w.Converged(cost, p, e, eps, nil)) },
			"Greedy": func() {
				selectAll(t, &g, func(c int, cost []float64) (Result, error) { return g.Converged(c, cost, math.NaN()) }, columns, demand, eps, 4)
			},
		}
		for name, run := range runs {
			if got := testing.AllocsPerRun(3, run); got != 0 {
				t.Errorf("%s at eps %v: %v allocations", name, eps, got)
			}
		}
	}
}

func TestDeterminism(t *testing.T) {
	cost, p, e := clustered(rand.New(rand.NewPCG(8, 8)), 50, 5, 8, 0.5)
	var used Workspace
	for _, eps := range []float64{0.001, 0.02, 0.3} {
		var fresh Workspace
		a, b := first(used.Converged(cost, p, e, eps, nil)), first(fresh.Converged(cost, p, e, eps, nil))
		if a != b {
			t.Errorf("eps %v: %v with a used workspace, %v with a fresh one", eps, a, b)
		}
	}
}
