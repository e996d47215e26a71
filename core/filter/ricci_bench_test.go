package filter

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// topical returns the similarities of a query and n candidates around a few topics, as retrieval returns them.
func topical(r *rand.Rand, n int) []float64 {
	const dim, topics = 64, 4
	centres := make([][]float64, topics)
	draw := func(around []float64, spread float64) []float64 {
		v := make([]float64, dim)
		for i := range v {
			v[i] = spread * r.NormFloat64()
			if around != nil {
				v[i] += around[i]
			}
		}
		return v
	}
	common := draw(nil, 1)
	for i := range centres {
		centres[i] = draw(common, 0.7)
	}
	vectors := make([][]float64, n+1)
	vectors[0] = draw(common, 0.5)
	for i := range n {
		vectors[i+1] = draw(centres[r.IntN(topics)], 0.6)
	}
	return cosines(vectors)
}

func BenchmarkRicci(b *testing.B) {
	for _, k := range []int{10, 20, 30, 50, 70, 100} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			similarity := topical(rand.New(rand.NewPCG(1, uint64(k))), k)
			var f RicciFlow
			var r Result
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Filter(&r, similarity, RicciOptions{Depth: k}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRicciBesideReference runs on the graphs that bench/ricci_reference.py times in Python.
func BenchmarkRicciBesideReference(b *testing.B) {
	for _, c := range loadReference(b).Filter {
		if c.K < 20 || c.Alpha != 0.5 {
			continue
		}
		b.Run(fmt.Sprintf("k=%d", c.K), func(b *testing.B) {
			var f RicciFlow
			var r Result
			for b.Loop() {
				if err := f.Filter(&r, c.Similarity, c.options()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkKMeans(b *testing.B) {
	similarity := topical(rand.New(rand.NewPCG(1, 20)), 20)
	for b.Loop() {
		if _, err := KMeans(similarity, KMeansOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
