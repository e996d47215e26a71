package demand_test

import (
	"math"
	"slices"
	"testing"

	"github.com/georag/georag/core/demand"
	"github.com/georag/georag/internal/shareddata"
)

// golden is one case of pipeline.json: the answers of an independent implementation in float64.
type golden struct {
	M               int         `json:"m"`
	IndexVectors    [][]float64 `json:"index_vectors"`
	Query           []float64   `json:"query"`
	SubQueries      [][]float64 `json:"subqueries"`
	Candidates      []int       `json:"candidates"`
	Scores          []float64   `json:"scores"`
	MaxMinOrder     []int       `json:"maxmin_order"`
	ReverseTop20    [][]int     `json:"reverse_top20"`
	Quality         []float64   `json:"quality"`
	Weights         []float64   `json:"weights"`
	AllFiltered     bool        `json:"all_filtered"`
	RetrievalPrior  []float64   `json:"retrieval_prior"`
	Likelihood      []float64   `json:"likelihood"`
	ExpectedDemands []float64   `json:"demand"`
}

func TestPublishedDemandMatchesGolden(t *testing.T) {
	var cases []golden
	shareddata.ReadJSON(t, "golden/pipeline.json", &cases)
	for _, c := range cases {
		order := demand.MaxMin(cosines(c.SubQueries, c.Query), cosineMatrix(c.SubQueries), c.M)
		if !slices.Equal(order, c.MaxMinOrder) {
			t.Fatalf("max-min order %v, want %v", order, c.MaxMinOrder)
		}
		kept := make([][]float64, len(order))
		for j, s := range order {
			kept[j] = c.SubQueries[s]
			if got := nearest(c.IndexVectors, kept[j], 20); !slices.Equal(got, c.ReverseTop20[j]) {
				t.Fatalf("top 20 of sub-query %d: %v, want %v", j, got, c.ReverseTop20[j])
			}
		}
		validations := demand.ReverseValidate(c.ReverseTop20, func(id int) bool { return slices.Contains(c.Candidates, id) })
		d := build(t, c, kept, validations)
		quality := make([]float64, len(validations))
		for j, v := range validations {
			quality[j] = v.Quality
		}
		near(t, "quality", quality, c.Quality)
		near(t, "weights", d.Weights, c.Weights)
		near(t, "prior", d.Prior, c.RetrievalPrior)
		near(t, "likelihood", d.Likelihood, c.Likelihood)
		near(t, "demand", d.P, c.ExpectedDemands)
		if filtered := len(d.Fallbacks) > 0; filtered != c.AllFiltered {
			t.Errorf("fallbacks %v, want all filtered = %v", d.Fallbacks, c.AllFiltered)
		}
	}
}

func build(t *testing.T, c golden, kept [][]float64, v []demand.Validation) demand.Demand {
	t.Helper()
	candidates := make([][]float64, len(c.Candidates))
	for i, id := range c.Candidates {
		candidates[i] = c.IndexVectors[id]
	}
	in := demand.Input{Scores: c.Scores, Query: cosines(candidates, c.Query), Validations: v}
	for _, q := range kept {
		in.SubQueries = append(in.SubQueries, cosines(candidates, q))
	}
	d, err := demand.Build(in, demand.Published())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has length %d, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-9) {
			t.Fatalf("%s[%d] = %.12f, want %.12f", what, i, got[i], want[i])
		}
	}
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func cosines(rows [][]float64, q []float64) []float64 {
	result := make([]float64, len(rows))
	for i, row := range rows {
		result[i] = dot(row, q)
	}
	return result
}

func cosineMatrix(rows [][]float64) [][]float64 {
	result := make([][]float64, len(rows))
	for i, row := range rows {
		result[i] = cosines(rows, row)
	}
	return result
}

func nearest(index [][]float64, q []float64, depth int) []int {
	scores := cosines(index, q)
	order := make([]int, len(index))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return a - b
	})
	return order[:depth]
}
