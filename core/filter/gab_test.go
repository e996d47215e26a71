package filter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/georag/georag/core/ot"
)

// cliques builds G(a,b), a > b ≥ 2: bridges p_1…p_b joined pairwise, each of them also joined to the a members of
// its own clique of a+1 nodes. kind tells the type of each edge: 0 between bridges, 1 between a bridge and a member,
// 2 between members. lengths gives the length of each type.
func cliques(a, b int, lengths [3]float64) (g *graph, kind []int) {
	g = &graph{nodes: b * (a + 1)}
	join := func(u, v, k int) {
		g.edges = append(g.edges, ot.Edge{U: int32(u), V: int32(v)})
		g.lengths = append(g.lengths, lengths[k])
		kind = append(kind, k)
	}
	for p := range b {
		for q := p + 1; q < b; q++ {
			join(p, q, 0)
		}
		for i := range a {
			join(p, b+p*a+i, 1)
			for j := i + 1; j < a; j++ {
				join(b+p*a+i, b+p*a+j, 2)
			}
		}
	}
	return g, kind
}

// closedForms are the transport costs of the three edge types for α = 0, p = 0 (uniform measures on neighbours),
// lengths w1, w2, w3 and w3 ≤ 2·w2. A bridge has D = a+b−1 neighbours, a member a.
func closedForms(a, b int, lengths [3]float64) [3]float64 {
	fa, fb := float64(a), float64(b)
	d := fa + fb - 1
	w1, w2, w3 := lengths[0], lengths[1], lengths[2]
	// Bridges p, q: the 1/D on each of p's members must leave its clique through p, where 1/D is missing; the other
	// a−1 parts cross to q, join the 1/D surplus there, and spread over q's members.
	bridges := ((fa-1)*w1 + 2*fa*w2) / d
	// Member x, bridge p: each of the b−1 other bridges lacks 1/D, which all comes through p. Each of the a−1 other
	// members has 1/a − 1/D too much, x lacks 1/D, and p is left with 1/a − (b−1)/D. What p has left goes to x; what
	// it lacks the members bring.
	left := 1/fa - (fb-1)/d
	mixed := (fb-1)/d*w1 + math.Abs(left)*w2 + min(1/d, (fa-1)*(1/fa-1/d))*w3
	// Members x, y: 1/a moves from y to x.
	return [3]float64{bridges, mixed, w3 / fa}
}

func TestClosedFormsOnCliquesJoinedByBridges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for a := 3; a <= 8; a++ {
		for b := 2; b < a; b++ {
			for range 3 {
				w2 := 0.5 + r.Float64()
				lengths := [3]float64{0.5 + 2*r.Float64(), w2, 2 * w2 * r.Float64()}
				g, kind := cliques(a, b, lengths)
				want := closedForms(a, b, lengths)
				for i, got := range kappa(t, g, 0, 0) {
					k := kind[i]
					if math.Abs(got-(1-want[k]/lengths[k])) > 1e-9 {
						t.Fatalf("G(%d,%d), lengths %v: type %d has curvature %v, want %v", a, b, lengths, k, got,
							1-want[k]/lengths[k])
					}
				}
			}
		}
	}
}

// With half of the mass at home and Gaussian weights no closed form is short, but the order is what separates the
// communities: bridges curve least and grow longest, members curve most and end shortest.
func TestOrderOfCliqueEdgesUnderPublishedMeasure(t *testing.T) {
	for a := 3; a <= 8; a++ {
		for b := 2; b < a; b++ {
			t.Run(fmt.Sprintf("G(%d,%d)", a, b), func(t *testing.T) {
				var f RicciFlow
				g, kind := cliques(a, b, [3]float64{1, 1, 1})
				f.graph = *g
				requireDescending(t, "curvature", kind, negated(kappa(t, g, 0.5, 2)))
				var steps int
				if _, err := f.flow(settings{alpha: 0.5, p: 2, stepSize: 1, steps: 5}, &steps); err != nil {
					t.Fatal(err)
				}
				requireDescending(t, "length", kind, f.graph.lengths)
			})
		}
	}
}

func negated(values []float64) []float64 {
	for i := range values {
		values[i] = -values[i]
	}
	return values
}

// requireDescending requires equal values within a type and smaller values from type to type.
func requireDescending(t *testing.T, what string, kind []int, values []float64) {
	t.Helper()
	var low, high [3]float64
	for k := range low {
		low[k], high[k] = math.Inf(1), math.Inf(-1)
	}
	for i, v := range values {
		low[kind[i]], high[kind[i]] = min(low[kind[i]], v), max(high[kind[i]], v)
	}
	for k := range low {
		if high[k]-low[k] > 1e-9 {
			t.Errorf("%s varies within type %d: %v to %v", what, k, low[k], high[k])
		}
	}
	if !(low[0] > high[1]+1e-9 && low[1] > high[2]+1e-9) {
		t.Errorf("%s out of order: %v", what, low)
	}
}
