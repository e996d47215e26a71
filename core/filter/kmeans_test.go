package filter

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestKMeansKeepsTheClusterOfTheQuery(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		n := 4 + random.IntN(16)
		vectors := make([][]float64, n+1)
		var want []int
		for i := range vectors {
			vectors[i] = []float64{1, 0.2 * random.NormFloat64(), 0.2 * random.NormFloat64()}
			if i > 0 && random.IntN(2) == 0 {
				vectors[i][0] = -1
			} else if i > 0 {
				want = append(want, i-1)
			}
		}
		if len(want) == 0 || len(want) == n {
			continue
		}
		r, err := KMeans(cosines(vectors), KMeansOptions{Seed: random.Uint64()})
		if err != nil || !slices.Equal(r.Kept, want) || r.FellBack || r.Reason != "" {
			t.Fatalf("%+v, %v; want %v", r, err, want)
		}
	}
}

// The distances reported, worked out from similarities, are those to the mean of the cluster's vectors, and every
// node is with the nearer mean.
func TestKMeansEndsAtACentre(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	for range 20 {
		vectors := make([][]float64, 16)
		for i := range vectors {
			v := []float64{random.NormFloat64(), random.NormFloat64(), random.NormFloat64(), random.NormFloat64()}
			norm := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2] + v[3]*v[3])
			for j := range v {
				v[j] /= norm
			}
			vectors[i] = v
		}
		r, err := KMeans(cosines(vectors), KMeansOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var centres [2][4]float64
		size := [2]float64{}
		of := func(i int) int {
			if i == 0 {
				return 0
			}
			return r.Communities[i-1]
		}
		for i, v := range vectors {
			size[of(i)]++
			for j := range v {
				centres[of(i)][j] += v[j]
			}
		}
		distance := func(i, c int) (sum float64) {
			for j, x := range vectors[i] {
				sum += (x - centres[c][j]/size[c]) * (x - centres[c][j]/size[c])
			}
			return math.Sqrt(sum)
		}
		for i := range vectors {
			if distance(i, of(i)) > distance(i, 1-of(i))+1e-9 {
				t.Errorf("node %d is nearer to the other centre", i)
			}
			if i > 0 && math.Abs(r.QueryLengths[i-1]-distance(i, 0)) > 1e-9 {
				t.Errorf("distance %v, want %v", r.QueryLengths[i-1], distance(i, 0))
			}
		}
	}
}

func TestKMeansIsDeterministic(t *testing.T) {
	similarity := topical(rand.New(rand.NewPCG(3, 1)), 20)
	first, err := KMeans(similarity, KMeansOptions{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if again, _ := KMeans(similarity, KMeansOptions{Seed: 7}); !slices.Equal(first.Kept, again.Kept) {
			t.Fatalf("kept %v, then %v", first.Kept, again.Kept)
		}
	}
}

func TestKMeansEdgeCases(t *testing.T) {
	identical := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1}
	r, err := KMeans(identical, KMeansOptions{})
	if err != nil || r.Reason != ReasonAllKept || r.FellBack || len(r.Kept) != 2 {
		t.Errorf("identical vectors: %+v, %v", r, err)
	}
	alone := cosines([][]float64{{1, 0}, {-1, 0.1}, {-1, -0.1}, {-1, 0}})
	r, err = KMeans(alone, KMeansOptions{})
	if err != nil || r.Reason != ReasonNoneKept || !r.FellBack || len(r.Kept) != 3 {
		t.Errorf("query on its own: %+v, %v", r, err)
	}
	split := cosines([][]float64{{1, 0}, {1, 0.1}, {-1, 0.1}, {-1, 0}})
	r, err = KMeans(split, KMeansOptions{Protected: []int{2}})
	if err != nil || !slices.Equal(r.Kept, []int{0, 2}) || !slices.Equal(r.Saved, []int{2}) {
		t.Errorf("protected: %+v, %v", r, err)
	}
	for n := range 2 {
		r, err := KMeans(topical(rand.New(rand.NewPCG(4, 1)), n), KMeansOptions{})
		if err != nil || r.Reason != ReasonTooFew || len(r.Kept) != n {
			t.Errorf("n=%d: %+v, %v", n, r, err)
		}
	}
	for name, o := range map[string]KMeansOptions{
		"starts": {Starts: -1}, "rounds": {Rounds: -1}, "depth": {Depth: -1}, "protected": {Protected: []int{3}},
	} {
		if _, err := KMeans(split, o); !errors.Is(err, ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := KMeans([]float64{1, 0}, KMeansOptions{}); !errors.Is(err, ErrShape) {
		t.Errorf("not square: %v", err)
	}
}
