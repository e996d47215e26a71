package plane_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/georag/georag/core/vec"
	"github.com/georag/georag/internal/plane"
)

func random(n, dim int) [][]float32 {
	r := rand.New(rand.NewPCG(1, 2))
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = make([]float32, dim)
		for j := range vectors[i] {
			vectors[i][j] = float32(r.NormFloat64() / float64(1+j))
		}
	}
	return vectors
}

// TestFitIsPrincipalComponents compares with gonum's principal components, which come from a singular value
// decomposition, on both sides of n = dim.
func TestFitIsPrincipalComponents(t *testing.T) {
	for _, shape := range [][2]int{{30, 80}, {80, 30}, {3, 2}} {
		n, dim := shape[0], shape[1]
		vectors := random(n, dim)
		points, explained, ok := plane.Fit(vectors, dim)
		if !ok {
			t.Fatal("no plane")
		}
		data := mat.NewDense(n, dim, nil)
		for i, v := range vectors {
			for j, x := range vec.Normalise(nil, v) {
				data.Set(i, j, float64(x))
			}
		}
		var pc stat.PC
		if !pc.PrincipalComponents(data, nil) {
			t.Fatal("gonum finds none")
		}
		variances, total := pc.VarsTo(nil), 0.0
		for _, v := range variances {
			total += v
		}
		var directions, placed mat.Dense
		pc.VectorsTo(&directions)
		placed.Mul(data, &directions)
		for axis := range 2 {
			if math.Abs(explained[axis]-variances[axis]/total) > 1e-9 {
				t.Errorf("%v: axis %d explains %v, want %v", shape, axis, explained[axis], variances[axis]/total)
			}
			if points[n-1][axis] < 0 {
				t.Errorf("%v: the last point lies at %v", shape, points[n-1])
			}
			for i := range n - 1 {
				got := math.Abs(points[i][axis] - points[n-1][axis])
				want := math.Abs(placed.At(i, axis) - placed.At(n-1, axis))
				if math.Abs(got-want) > 1e-9 {
					t.Fatalf("%v: point %d lies %v from the last along axis %d, want %v", shape, i, got, axis, want)
				}
			}
		}
	}
}

func TestFitTooFew(t *testing.T) {
	if _, _, ok := plane.Fit(random(2, 8), 8); ok {
		t.Error("two points span a plane")
	}
	if _, _, ok := plane.Fit(random(8, 1), 1); ok {
		t.Error("a line is a plane")
	}
}

func BenchmarkFit(b *testing.B) {
	vectors := random(280, 384)
	for b.Loop() {
		plane.Fit(vectors, 384)
	}
}
