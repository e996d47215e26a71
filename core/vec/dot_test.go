package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// dims has every remainder of the lanes, and the dimensions of common models.
var dims = []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 100, 384, 385, 768, 1024}

func random(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// portable is the inner product without assembly.
func portable(a, b []float32) float64 {
	var sums [lanes]float64
	width := len(a) &^ (lanes - 1)
	dotLanesGo(&sums, a, b, width)
	return total(sums[:], a, b, width)
}

func TestDotIsTheSumOfProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dim := range dims {
		a, b := random(r, dim), random(r, dim)
		exact, size := new(big.Float).SetPrec(200), 0.0
		for i := range a {
			exact.Add(exact, new(big.Float).Mul(big.NewFloat(float64(a[i])), big.NewFloat(float64(b[i]))))
			size += math.Abs(float64(a[i]) * float64(b[i]))
		}
		want, _ := exact.Float64()
		if got := Dot(a, b); math.Abs(got-want) > 1e-15*size*float64(dim) {
			t.Errorf("dimension %d: %v, want %v", dim, got, want)
		}
	}
}

func TestEveryCodeGivesTheSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var queries Queries
	for _, dim := range dims {
		for n := 0; n <= 9; n++ {
			vectors := make([][]float32, n)
			for i := range vectors {
				vectors[i] = random(r, dim)
			}
			queries.Reset(vectors)
			row := random(r, dim)
			dots := queries.Dots(make([]float64, n), row)
			for i, v := range vectors {
				if want := portable(row, v); dots[i] != want || Dot(row, v) != want || Dot(v, row) != want {
					t.Fatalf("dimension %d, query %d of %d: %v and %v, want %v", dim, i, n, dots[i], Dot(row, v), want)
				}
			}
		}
	}
}

func TestManyRowsGiveTheSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	var queries Queries
	for _, dim := range dims {
		for n := 0; n <= 9; n++ {
			vectors, rows, dots := make([][]float32, 1+n%6), make([][]float32, n), make([][]float64, 1+n%6)
			for i := range rows {
				rows[i] = random(r, dim)
			}
			for j := range vectors {
				vectors[j], dots[j] = random(r, dim), make([]float64, n)
			}
			queries.Reset(vectors)
			queries.DotsOf(dots, n, func(i int) []float32 { return rows[i] })
			for j, v := range vectors {
				for i, row := range rows {
					if want := portable(row, v); dots[j][i] != want {
						t.Fatalf("dimension %d, query %d, row %d of %d: %v, want %v", dim, j, i, n, dots[j][i], want)
					}
				}
			}
		}
	}
}

func TestReusedQueriesAllocateNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	vectors := [][]float32{random(r, 384), random(r, 384), random(r, 384)}
	row, dst := random(r, 384), make([]float64, 3)
	var queries Queries
	queries.Reset(vectors)
	if n := testing.AllocsPerRun(10, func() { queries.Reset(vectors); queries.Dots(dst, row) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDot(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	x, y := random(r, 384), random(r, 384)
	b.Run("accelerated", func(b *testing.B) {
		for b.Loop() {
			Dot(x, y)
		}
	})
	b.Run("portable", func(b *testing.B) {
		for b.Loop() {
			portable(x, y)
		}
	})
	var queries Queries
	queries.Reset([][]float32{y, y, y, y})
	dst := make([]float64, 4)
	b.Run("four at once", func(b *testing.B) {
		for b.Loop() {
			queries.Dots(dst, x)
		}
	})
}
