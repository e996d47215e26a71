package pick_test

import (
	"context"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/georag/georag/core/pick"
	"github.com/georag/georag/internal/shareddata"
)

// golden is the part of a case of pipeline.json that begins where the demand is known.
type golden struct {
	K            int         `json:"k"`
	IndexVectors [][]float64 `json:"index_vectors"`
	Query        []float64   `json:"query"`
	Candidates   []int       `json:"candidates"`
	Demand       []float64   `json:"demand"`
	GeoRAG       []int       `json:"georag"`
	Steps        []struct {
		Chosen int     `json:"chosen"`
		Score  float64 `json:"score"`
		Gate   float64 `json:"gate"`
		DeltaW float64 `json:"delta_w"`
		W      float64 `json:"w"`
	} `json:"georag_steps"`
	Facility     []int            `json:"facility_location"`
	FacilityCold []int            `json:"facility_location_cold_start"`
	MMR          map[string][]int `json:"mmr"`
	Cosine       []int            `json:"cosine"`
}

// problem arranges the candidates by ID and returns, with the problem, the ID of each row.
func (g golden) problem(t *testing.T) (*pick.Problem, []int) {
	t.Helper()
	ids := slices.Sorted(slices.Values(g.Candidates))
	n := len(ids)
	cosine := make([]float64, n*n)
	p := &pick.Problem{}
	for i, a := range ids {
		for j, b := range ids[:i+1] {
			c := max(-1, min(1, dot(g.IndexVectors[a], g.IndexVectors[b])))
			cosine[i*n+j], cosine[j*n+i] = c, c
		}
		p.Query = append(p.Query, dot(g.IndexVectors[a], g.Query))
		p.Demand = append(p.Demand, g.Demand[slices.Index(g.Candidates, a)])
	}
	dense, err := pick.NewDense(n, cosine)
	if err != nil {
		t.Fatal(err)
	}
	p.Similarity = dense
	return p, ids
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func TestSelectorsMatchGolden(t *testing.T) {
	var cases []golden
	shareddata.ReadJSON(t, "golden/pipeline.json", &cases)
	for _, g := range cases {
		o := pick.DefaultOptions()
		o.GeoRAG.Sinkhorn = pick.Published
		steps := expect(t, g, "georag", o, g.GeoRAG)
		for i, want := range g.Steps {
			got := steps[i+1]
			for _, pair := range [][2]float64{{got.Gain, want.Score}, {got.Gate, want.Gate}, {got.DeltaW, want.DeltaW}, {got.W, want.W}} {
				if !(math.Abs(pair[0]-pair[1]) <= 1e-8) {
					t.Errorf("georag step %d: got %+v, want %+v", i+1, got, want)
					break
				}
			}
		}
		expect(t, g, "cosine", o, g.Cosine)
		o.Facility.ColdStart = false
		expect(t, g, "facility", o, g.Facility)
		o.Facility.ColdStart = true
		expect(t, g, "facility", o, g.FacilityCold)
		for lambda, want := range g.MMR {
			var err error
			if o.MMR.Lambda, err = strconv.ParseFloat(lambda, 64); err != nil {
				t.Fatal(err)
			}
			expect(t, g, "mmr", o, want)
		}
	}
}

func expect(t *testing.T, g golden, name string, o pick.Options, want []int) []pick.Step {
	t.Helper()
	p, ids := g.problem(t)
	selector, err := pick.New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	result, err := selector.Select(context.Background(), p, g.K)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var got []int
	for _, row := range result.Rows() {
		got = append(got, ids[row])
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s chose %v, want %v", name, got, want)
	}
	return result.Steps
}
