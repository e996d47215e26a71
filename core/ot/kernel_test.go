package ot

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestExponential(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	x := make([]float64, 4096)
	for i := range x {
		x[i] = r.Float64()*1400 - 700
	}
	copy(x, []float64{0, math.Copysign(0, -1), 1, -1, 700, -700, -701, -1e300, 1e-300, math.Ln2 / 2, -math.Ln2 / 2})
	got, portable := make([]float64, len(x)), make([]float64, len(x))
	exponential(got, x, 1)
	exponentialGo(portable, x, 1)
	for i := range x {
		want := math.Exp(max(x[i], expFloor))
		if got[i] != portable[i] {
			t.Fatalf("exp(%v): %v, portable code %v", x[i], got[i], portable[i])
		}
		if math.Abs(got[i]-want) > 5e-16*want {
			t.Fatalf("exp(%v) = %v, want %v", x[i], got[i], want)
		}
	}
}

func TestPassesAgreeWithPortableCode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Exp(20 * r.NormFloat64())
		}
		return x
	}
	for _, stride := range []int{8, 16, 200, 504} {
		for cols := 1; cols <= 11; cols++ {
			k, p, v := random(stride*cols), random(stride), random(cols)
			sum := random(lanes * (cols + cols*(cols-1)/2))
			want := slices.Clone(sum)
			u, wantU := make([]float64, stride), make([]float64, stride)
			scalePass(sum, u, k, p, v)
			scalePassGo(want, wantU, k, p, v)
			q := make([]float64, lanes*cols)
			momentPass(sum, q, k, p, v)
			momentPassGo(want, q, k, p, v)
			if !slices.Equal(u, wantU) || !slices.Equal(sum, want) {
				t.Fatalf("%d×%d: the assembly and the portable passes disagree", stride, cols)
			}
		}
	}
}

func BenchmarkPasses(b *testing.B) {
	const stride, cols = 200, 5
	ones := make([]float64, stride*cols)
	for i := range ones {
		ones[i] = 1
	}
	p, v := ones[:stride], ones[:cols]
	sum, u, q := make([]float64, lanes*cols*cols), make([]float64, stride), make([]float64, lanes*cols)
	b.Run("scale", func(b *testing.B) {
		for b.Loop() {
			scalePass(sum, u, ones, p, v)
		}
	})
	b.Run("moment", func(b *testing.B) {
		for b.Loop() {
			momentPass(sum, q, ones, p, v)
		}
	})
	b.Run("exponential", func(b *testing.B) {
		for b.Loop() {
			exponential(u, p, 1)
		}
	})
}
