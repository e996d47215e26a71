package pick_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/georag/georag/core/ot"
	"github.com/georag/georag/core/pick"
)

// FuzzSelect runs every selector on an instance drawn from the seed and then spoilt by the given numbers. A problem
// is either refused for its values or answered with a whole selection.
func FuzzSelect(f *testing.F) {
	f.Add(uint64(1), uint8(5), uint8(3), uint8(3), 0.01, 0.5, 0.2)
	f.Add(uint64(2), uint8(1), uint8(1), uint8(9), 1e-6, 0.0, 1.0)
	f.Add(uint64(3), uint8(9), uint8(2), uint8(5), 1000.0, 1.0, -1.0)
	f.Add(uint64(4), uint8(7), uint8(1), uint8(4), 0.001, 0.9, math.NaN())
	f.Add(uint64(5), uint8(8), uint8(4), uint8(2), math.Inf(1), 2.0, 1e308)
	f.Fuzz(func(t *testing.T, seed uint64, n, dim, k uint8, epsilon, weight, cosine float64) {
		r := rand.New(rand.NewPCG(seed, 21))
		in := nasty(r, 1+int(n%10), 1+int(dim%6))
		in.query[r.IntN(in.n)] = cosine
		o := pick.DefaultOptions()
		o.GeoRAG.Epsilon, o.MMR.Lambda, o.DPP.Theta = epsilon, weight, weight
		o.GeoRAG.ColdStart, o.Facility.ColdStart = seed%2 == 0, seed%2 == 0
		if seed%3 == 0 {
			o.GeoRAG.Sinkhorn = pick.Published
		}
		for _, name := range pick.Names() {
			selector, err := pick.New(name, o)
			if err != nil {
				if !errors.Is(err, pick.ErrOption) {
					t.Fatal(err)
				}
				return
			}
			result, err := selector.Select(context.Background(), in.problem(t), int(k))
			switch {
			case err == nil:
				checkWhole(t, name, in.n, int(k), result)
			case errors.Is(err, ot.ErrNotConverged) && epsilon < 1e-5: // float64 does not reach the tolerance there
			case !errors.Is(err, pick.ErrOption) && !errors.Is(err, pick.ErrValue):
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
}
