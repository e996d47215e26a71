package pick_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/georag/georag/core/pick"
	"github.com/georag/georag/core/vec"
)

// benchK is how many passages each benchmark selects, as in the publication.
const benchK = 5

// retrieved is a question as retrieval leaves it: n candidates around a few topics, the demand from 10 sub-queries,
// each a posterior over the candidates at temperature 0.05 as in the preset "default".
type retrieved struct {
	dim  int
	unit []float32
	pick.Problem
}

func retrieve(b *testing.B, n, dim int) *retrieved {
	b.Helper()
	r := rand.New(rand.NewPCG(uint64(n), uint64(dim)))
	around := func(centre []float32, spread float64) []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(spread * r.NormFloat64())
			if centre != nil {
				v[i] += centre[i]
			}
		}
		return vec.Normalise(v, v)
	}
	spread := 1 / math.Sqrt(float64(dim))
	query := around(nil, 1)
	var topics [][]float32
	for range 8 {
		topics = append(topics, around(query, 0.9*spread))
	}
	p := &retrieved{dim: dim}
	for range n {
		p.unit = append(p.unit, around(topics[r.IntN(len(topics))], 0.8*spread)...)
	}
	v, err := pick.NewVectors(dim, p.unit)
	if err != nil {
		b.Fatal(err)
	}
	p.Similarity, p.Query, p.Demand = v, v.Cosines(make([]float64, n), query), make([]float64, n)
	const m = 10
	for range m {
		cosines := v.Cosines(make([]float64, n), around(topics[r.IntN(len(topics))], 0.5*spread))
		p.SubQueries = append(p.SubQueries, cosines)
		p.Weights = append(p.Weights, 1.0/m)
		p.Lists = append(p.Lists, r.Perm(n)[:20])
		sum := 0.0
		for _, c := range cosines {
			sum += math.Exp(c / 0.05)
		}
		for i, c := range cosines {
			p.Demand[i] += math.Exp(c/0.05) / sum / m
		}
	}
	for range n {
		p.Tokens = append(p.Tokens, 40+r.IntN(100))
	}
	scores := p.Query
	p.Rerank = func(context.Context) ([]float64, error) { return scores, nil }
	p.Conflict = func(_ context.Context, pairs [][2]int) ([]float64, error) { return make([]float64, len(pairs)), nil }
	return p
}

// benchmarked are the selectors and the variants that take a different path.
func benchmarked() (names []string, options map[string]pick.Options) {
	options = make(map[string]pick.Options)
	for _, name := range pick.Names() {
		names, options[name] = append(names, name), pick.DefaultOptions()
	}
	published := pick.DefaultOptions()
	published.GeoRAG.Sinkhorn = pick.Published
	options["georag published"] = published
	return append(names, "georag published"), options
}

func selectorName(variant string) string {
	if variant == "georag published" {
		return "georag"
	}
	return variant
}

// eachSize runs a benchmark at the sizes of the speed targets.
func eachSize(b *testing.B, run func(b *testing.B, p *retrieved)) {
	for _, n := range []int{200, 500} {
		for _, dim := range []int{384, 1024} {
			b.Run(fmt.Sprintf("K=%d/d=%d", n, dim), func(b *testing.B) { run(b, retrieve(b, n, dim)) })
		}
	}
}

// BenchmarkSelect times a selection with a warmed workspace, the similarity columns it needs already known; their
// time is BenchmarkColumns.
func BenchmarkSelect(b *testing.B) {
	names, options := benchmarked()
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			eachSize(b, func(b *testing.B, p *retrieved) {
				selector := newSelector(b, selectorName(name), options[name]).(pick.SelectorInto)
				var result pick.Result
				run := func() {
					if err := selector.SelectInto(context.Background(), &result, &p.Problem, benchK); err != nil {
						b.Fatal(err)
					}
				}
				run()
				b.ReportAllocs()
				for b.Loop() {
					run()
				}
			})
		})
	}
}

// BenchmarkColumns times the same selection with no similarity column known before it, and reports how many of the n
// columns it asked for.
func BenchmarkColumns(b *testing.B) {
	names, options := benchmarked()
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			eachSize(b, func(b *testing.B, p *retrieved) {
				selector := newSelector(b, selectorName(name), options[name]).(pick.SelectorInto)
				columns := &countedVectors{Vectors: p.Similarity.(*pick.Vectors), asked: make(map[int]bool)}
				p.Similarity = columns
				var result pick.Result
				for b.Loop() {
					clear(columns.asked)
					if err := columns.Reset(p.dim, p.unit); err != nil {
						b.Fatal(err)
					}
					if err := selector.SelectInto(context.Background(), &result, &p.Problem, benchK); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(columns.asked)), "columns")
			})
		})
	}
}

// countedVectors counts the columns that are asked for.
type countedVectors struct {
	*pick.Vectors
	asked map[int]bool
}

func (c *countedVectors) View(j int) []float64 {
	c.asked[j] = true
	return c.Vectors.View(j)
}

// BenchmarkAllColumns times the whole similarity matrix.
func BenchmarkAllColumns(b *testing.B) {
	eachSize(b, func(b *testing.B, p *retrieved) {
		v := p.Similarity.(*pick.Vectors)
		for b.Loop() {
			if err := v.Reset(p.dim, p.unit); err != nil {
				b.Fatal(err)
			}
			for j := range v.Len() {
				v.View(j)
			}
		}
	})
}

// TestSelectionAllocatesNothingOnceWarm leaves out "smart", which puts its questions to a model into a new slice.
func TestSelectionAllocatesNothingOnceWarm(t *testing.T) {
	names, options := benchmarked()
	for _, name := range names {
		if name == "smart" {
			continue
		}
		selector := newSelector(t, selectorName(name), options[name]).(pick.SelectorInto)
		p := generic(rand.New(rand.NewPCG(1, 22)), 40, 12).problem(t)
		var result pick.Result
		run := func() {
			if err := selector.SelectInto(context.Background(), &result, p, benchK); err != nil {
				t.Fatal(err)
			}
		}
		run()
		if n := testing.AllocsPerRun(20, run); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
