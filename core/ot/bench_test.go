package ot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func BenchmarkPublished(b *testing.B) {
	eachShape(b, func(b *testing.B, cost, p, e []float64) {
		var w Workspace
		for b.Loop() {
			if _, err := w.Published(cost, p, e, 0.01, PublishedIterations); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkConverged(b *testing.B) {
	eachShape(b, func(b *testing.B, cost, p, e []float64) {
		var w Workspace
		passes := 0
		for b.Loop() {
			r, err := w.Converged(cost, p, e, 0.01, nil)
			if err != nil {
				b.Fatal(err)
			}
			passes = r.Iterations
		}
		b.ReportMetric(float64(passes), "passes")
	})
}

func eachShape(b *testing.B, run func(b *testing.B, cost, p, e []float64)) {
	for _, n := range []int{200, 500} {
		for s := 2; s <= 5; s++ {
			b.Run(fmt.Sprintf("n=%d/s=%d", n, s), func(b *testing.B) {
				cost, p, e := clustered(rand.New(rand.NewPCG(1, 1)), n, s, 20, 1)
				b.ReportAllocs()
				run(b, cost, p, e)
			})
		}
	}
}

// BenchmarkGreedy evaluates all candidates in each of five steps and adds the one of lowest cost: what a whole
// selection takes without pruning.
func BenchmarkGreedy(b *testing.B) {
	for _, n := range []int{200, 500} {
		columns, p, _ := clustered(rand.New(rand.NewPCG(1, 1)), n, n, 20, 1)
		columns = transpose(columns, n)
		var g Greedy
		modes := map[string]func(c int, cost []float64) (Result, error){
			"converged": func(c int, cost []float64) (Result, error) { return g.Converged(c, cost, math.NaN()) },
			"published": func(c int, cost []float64) (Result, error) { return g.Published(c, cost, PublishedIterations) },
		}
		for _, mode := range []string{"converged", "published"} {
			b.Run(fmt.Sprintf("%s/n=%d", mode, n), func(b *testing.B) {
				b.ReportAllocs()
				solves, passes := 0, 0
				for b.Loop() {
					solves, passes = selectAll(b, &g, modes[mode], columns, p, 0.01, 5)
				}
				b.ReportMetric(float64(passes)/float64(solves), "passes/solve")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*solves), "ns/solve")
			})
		}
	}
}

func selectAll(tb testing.TB, g *Greedy, solve func(int, []float64) (Result, error), columns, p []float64, eps float64, k int) (solves, passes int) {
	n := len(p)
	if err := g.Reset(p, eps); err != nil {
		tb.Fatal(err)
	}
	for range k {
		best, lowest := 0, 3.0
		for c := range n {
			r, err := solve(c, columns[c*n:(c+1)*n])
			if err != nil {
				tb.Fatal(err)
			}
			if r.Cost < lowest {
				best, lowest = c, r.Cost
			}
			passes += r.Iterations
			solves++
		}
		if err := g.Add(best, columns[best*n:(best+1)*n]); err != nil {
			tb.Fatal(err)
		}
	}
	return solves, passes
}
