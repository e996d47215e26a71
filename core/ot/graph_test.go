package ot

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// randomGraph returns a connected graph (a random tree and then each other pair with probability density) with
// lengths that are now and then few distinct values, zero among them.
func randomGraph(r *rand.Rand, nodes int, density float64) (edges []Edge, lengths []float64) {
	coarse := r.IntN(2) == 0
	for v := 1; v < nodes; v++ {
		in := r.IntN(v)
		for u := range v {
			if u == in || r.Float64() < density {
				edges = append(edges, Edge{int32(u), int32(v)})
			}
		}
	}
	for range edges {
		if coarse {
			lengths = append(lengths, float64(r.IntN(4)))
		} else {
			lengths = append(lengths, 2*r.Float64())
		}
	}
	return edges, lengths
}

func shortestPaths(nodes int, edges []Edge, lengths []float64) []float64 {
	d := make([]float64, nodes*nodes)
	for i := range d {
		d[i] = math.Inf(1)
	}
	for x := range nodes {
		d[x*nodes+x] = 0
	}
	for i, e := range edges {
		u, v := int(e.U), int(e.V)
		d[u*nodes+v], d[v*nodes+u] = lengths[i], lengths[i]
	}
	for k := range nodes {
		for i := range nodes {
			for j := range nodes {
				d[i*nodes+j] = min(d[i*nodes+j], d[i*nodes+k]+d[k*nodes+j])
			}
		}
	}
	return d
}

// The value of the cheapest flow along edges is the transport cost over shortest-path distances.
func TestGraphTransportMatchesExactOverShortestPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var g GraphTransport
	for range 100 {
		nodes := 2 + r.IntN(20)
		edges, lengths := randomGraph(r, nodes, r.Float64())
		if err := g.Reset(nodes, edges, 2); err != nil {
			t.Fatal(err)
		}
		for step := range 6 {
			_, p, e := randomProblem(r, nodes, nodes)
			excess := make([]float64, nodes)
			for i := range excess {
				excess[i] = p[i] - e[i]
			}
			want, err := Exact(shortestPaths(nodes, edges, lengths), p, e)
			if err != nil {
				t.Fatal(err)
			}
			if err := g.SetLengths(lengths); err != nil {
				t.Fatal(err)
			}
			got, err := g.Cost(step%2, excess)
			if err != nil || math.Abs(got-want) > 1e-11 {
				t.Fatalf("%d nodes, step %d: %v, %v; want %v", nodes, step, got, err, want)
			}
			for i := range lengths {
				lengths[i] *= 0.9 + 0.2*r.Float64()
			}
		}
	}
}

func TestGraphTransportWithinOneNodeIsFree(t *testing.T) {
	var g GraphTransport
	if err := g.Reset(1, nil, 1); err != nil {
		t.Fatal(err)
	}
	if got, err := g.Cost(0, []float64{0}); err != nil || got != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestGraphTransportRejects(t *testing.T) {
	var g GraphTransport
	for name, edges := range map[string][]Edge{
		"loop": {{0, 1}, {1, 2}, {2, 2}}, "out of range": {{0, 1}, {1, 3}}, "not connected": {{0, 1}},
	} {
		if err := g.Reset(3, edges, 1); !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := g.Reset(2, []Edge{{0, 1}}, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Cost(1, []float64{1, -1}); !errors.Is(err, ErrShape) {
		t.Errorf("slot out of range: %v", err)
	}
	if err := g.SetLengths([]float64{1, 1}); !errors.Is(err, ErrShape) {
		t.Errorf("too many lengths: %v", err)
	}
}

func TestGraphTransportDoesNotAllocateOnceWarm(t *testing.T) {
	edges, lengths := randomGraph(rand.New(rand.NewPCG(2, 2)), 30, 0.4)
	excess := make([]float64, 30)
	excess[3], excess[20] = 1, -1
	var g GraphTransport
	run := func() {
		if err := g.Reset(30, edges, 1); err != nil {
			t.Fatal(err)
		}
		if err := g.SetLengths(lengths); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := g.Cost(0, excess); err != nil {
				t.Fatal(err)
			}
		}
	}
	run()
	if n := testing.AllocsPerRun(20, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestSteepestRowInAssemblyAgreesWithGo(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 2000 {
		nodes := 1 + r.IntN(40)
		stride := (nodes + lanes - 1) / lanes * lanes
		potential, length := make([]float64, nodes, stride), make([]float64, nodes*stride)
		for i := range potential {
			potential[i] = float64(r.IntN(20))
		}
		for i := range length {
			length[i] = math.Inf(1)
		}
		for i := range nodes {
			for j := range i {
				if r.IntN(2) == 0 {
					w := float64(r.IntN(20))
					length[i*stride+j], length[j*stride+i] = w, w
				}
			}
		}
		tolerance := float64(r.IntN(15))
		got, want := steepestRow(potential, length, stride, tolerance), steepestRowGo(potential, length, stride, tolerance)
		if got != want {
			t.Fatalf("%d nodes: row %d, want %d", nodes, got, want)
		}
	}
}
