package filter

import (
	"fmt"
	"math"
	"testing"

	"github.com/georag/georag/core/ot"
)

// reference is testdata/reference.json, written by testdata/reference.py.
type reference struct {
	Curvature []struct {
		Nodes     int          `json:"nodes"`
		Alpha     float64      `json:"alpha"`
		P         float64      `json:"p"`
		Lengths   [][3]float64 `json:"lengths"`
		Curvature [][3]float64 `json:"curvature"`
	} `json:"curvature"`
	Flow []struct {
		Nodes    int          `json:"nodes"`
		Alpha    float64      `json:"alpha"`
		P        float64      `json:"p"`
		StepSize float64      `json:"step_size"`
		Steps    int          `json:"steps"`
		Edges    [][2]int32   `json:"edges"`
		Lengths  [][3]float64 `json:"lengths"`
	} `json:"flow"`
	Filter []referenceFilter `json:"filter"`
}

type referenceFilter struct {
	K             int       `json:"k"`
	TauPercentile float64   `json:"tau_percentile"`
	P             float64   `json:"p"`
	Alpha         float64   `json:"alpha"`
	Steps         int       `json:"steps"`
	StepSize      float64   `json:"step_size"`
	Similarity    []float64 `json:"similarity"`
	QueryLengths  []float64 `json:"query_lengths"`
}

func (c referenceFilter) options() RicciOptions {
	return RicciOptions{TauPercentile: &c.TauPercentile, P: &c.P, Alpha: &c.Alpha, Steps: c.Steps, StepSize: c.StepSize,
		Depth: c.K}
}

func loadReference(t testing.TB) (r reference) {
	t.Helper()
	readJSON(t, "testdata/reference.json", &r)
	if len(r.Curvature) == 0 || len(r.Flow) == 0 || len(r.Filter) == 0 {
		t.Fatal("reference is incomplete")
	}
	return r
}

func TestCurvatureAgreesWithGraphRicciCurvature(t *testing.T) {
	for i, c := range loadReference(t).Curvature {
		g := &graph{nodes: c.Nodes}
		for _, e := range c.Lengths {
			g.edges = append(g.edges, ot.Edge{U: int32(e[0]), V: int32(e[1])})
			g.lengths = append(g.lengths, e[2])
		}
		for k, got := range kappa(t, g, c.Alpha, c.P) {
			if want := c.Curvature[k][2]; math.Abs(got-want) > 1e-9 {
				t.Errorf("case %d: edge %v has curvature %v, want %v", i, g.edges[k], got, want)
			}
		}
	}
}

func TestFlowAgreesWithGraphRicciCurvature(t *testing.T) {
	for i, c := range loadReference(t).Flow {
		var f RicciFlow
		f.graph.nodes = c.Nodes
		for _, e := range c.Edges {
			f.graph.edges = append(f.graph.edges, ot.Edge{U: e[0], V: e[1]})
			f.graph.lengths = append(f.graph.lengths, 1)
		}
		var steps int
		s := settings{alpha: c.Alpha, p: c.P, stepSize: c.StepSize, steps: c.Steps}
		if collapsed, err := f.flow(s, &steps); err != nil || collapsed {
			t.Fatal(collapsed, err)
		}
		for k, got := range f.graph.lengths {
			if want := c.Lengths[k][2]; math.Abs(got-want) > 1e-9 {
				t.Errorf("case %d: edge %v has length %v, want %v", i, f.graph.edges[k], got, want)
			}
		}
	}
}

func TestFilterAgreesWithReferenceOverPOT(t *testing.T) {
	var f RicciFlow
	for _, c := range loadReference(t).Filter {
		t.Run(fmt.Sprintf("k=%d", c.K), func(t *testing.T) {
			var r Result
			if err := f.Filter(&r, c.Similarity, c.options()); err != nil {
				t.Fatal(err)
			}
			worst := 0.0
			for i, want := range c.QueryLengths {
				worst = max(worst, math.Abs(r.QueryLengths[i]-want))
			}
			t.Logf("largest difference %.1e", worst)
			if worst > 1e-9 {
				t.Errorf("lengths %v, want %v", r.QueryLengths, c.QueryLengths)
			}
		})
	}
}
