package filter

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/georag/georag/core/ot"
	"github.com/georag/georag/internal/shareddata"
)

// adjacent returns the graph of an adjacency matrix with its entries as lengths.
func adjacent(matrix [][]float64) *graph {
	g := &graph{nodes: len(matrix)}
	for i, row := range matrix {
		for j, w := range row {
			if j > i && w != 0 {
				g.edges = append(g.edges, ot.Edge{U: int32(i), V: int32(j)})
				g.lengths = append(g.lengths, w)
			}
		}
	}
	return g
}

// kappa computes the curvatures of a graph from scratch.
func kappa(t testing.TB, g *graph, alpha, p float64) []float64 {
	t.Helper()
	var c curvature
	if err := c.reset(g, alpha, p); err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, len(g.edges))
	if err := c.compute(dst, g); err != nil {
		t.Fatal(err)
	}
	return dst
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

func TestCurvatureAndFlowMatchGolden(t *testing.T) {
	var cases []struct {
		Adjacency [][]float64   `json:"adjacency"`
		Alpha     float64       `json:"alpha"`
		P         float64       `json:"p"`
		Curvature [][3]float64  `json:"curvature_unit_weights"`
		StepSize  float64       `json:"flow_step_size"`
		Flow      [][][]float64 `json:"normalised_flow"`
	}
	readJSON(t, shareddata.Shared(t, "golden/ricci.json"), &cases)
	if len(cases) == 0 {
		t.Fatal("no golden cases")
	}
	for i, c := range cases {
		g := adjacent(c.Adjacency)
		for k, got := range kappa(t, g, c.Alpha, c.P) {
			want := c.Curvature[k]
			if e := g.edges[k]; int(want[0]) != int(e.U) || int(want[1]) != int(e.V) || math.Abs(got-want[2]) > 1e-9 {
				t.Errorf("case %d: edge %v has curvature %v, want %v", i, e, got, want)
			}
		}
		for step, matrix := range c.Flow {
			var f RicciFlow
			f.graph = *adjacent(c.Adjacency)
			var steps int
			s := settings{alpha: c.Alpha, p: c.P, stepSize: c.StepSize, steps: step + 1}
			if collapsed, err := f.flow(s, &steps); err != nil || collapsed || steps != step+1 {
				t.Fatalf("case %d: collapsed %v, %d steps, %v", i, collapsed, steps, err)
			}
			for k, e := range f.graph.edges {
				if want := matrix[e.U][e.V]; math.Abs(f.graph.lengths[k]-want) > 1e-9 {
					t.Errorf("case %d step %d: edge %v has length %v, want %v", i, step, e, f.graph.lengths[k], want)
				}
			}
		}
	}
}
