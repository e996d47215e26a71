package demand_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/georag/georag/core/demand"
)

func TestWeightsFallBackFromQualityToOverlapToUniform(t *testing.T) {
	for _, c := range []struct {
		name     string
		v        []demand.Validation
		scheme   demand.Weighting
		want     []float64
		used     demand.Weighting
		fellBack bool
	}{
		{"quality above threshold", []demand.Validation{{1, 0.3, 0.3}, {0.5, 0.02, 0.01}, {1, 0.1, 0.1}},
			demand.WeightQuality, []float64{0.75, 0, 0.25}, demand.WeightQuality, false},
		{"every quality below threshold", []demand.Validation{{0.6, 0, 0}, {0.2, 0.1, 0.02}},
			demand.WeightQuality, []float64{0.75, 0.25}, demand.WeightOverlap, true},
		{"no overlap either", []demand.Validation{{0, 1, 0}, {0, 1, 0}},
			demand.WeightQuality, []float64{0.5, 0.5}, demand.WeightUniform, true},
		{"uniform leaves out what drifted", []demand.Validation{{0.9, 0, 0}, {0, 1, 0}, {0.05, 0, 0}},
			demand.WeightUniform, []float64{0.5, 0, 0.5}, demand.WeightUniform, false},
		{"uniform where all drifted", []demand.Validation{{0, 1, 0}, {0.02, 1, 0.02}},
			demand.WeightUniform, []float64{0.5, 0.5}, demand.WeightUniform, true},
	} {
		got := make([]float64, len(c.v))
		used, fellBack := demand.Weights(got, c.v, c.scheme, 0.05, 0.05)
		if used != c.used || fellBack != c.fellBack {
			t.Errorf("%s: used %s, fell back %v", c.name, used, fellBack)
		}
		near(t, c.name, got, c.want)
	}
}

func TestWithoutSubQueriesTheQuestionIsTheDemand(t *testing.T) {
	d, err := demand.Build(demand.Input{Scores: []float64{0.9, 0.1}, Query: []float64{0.9, 0.1}}, demand.Posterior())
	if err != nil {
		t.Fatal(err)
	}
	e := math.Exp(-0.8 / 0.05)
	near(t, "P", d.P, []float64{1 / (1 + e), e / (1 + e)})
	if len(d.Fallbacks) != 1 || d.Fallbacks[0].Kind != demand.FallbackQuestion {
		t.Errorf("fallbacks %v", d.Fallbacks)
	}
}

// TestQuestionKeepsItsShare: with a share of 1/4 the demand is a quarter of the question's own and three quarters of
// what the sub-queries alone would ask for.
func TestQuestionKeepsItsShare(t *testing.T) {
	in := demand.Input{
		Scores: []float64{0.9, 0.1, 0.4}, Query: []float64{0.9, 0.1, 0.4},
		SubQueries:  [][]float64{{0.2, 0.7, 0.1}, {0.1, 0.3, 0.6}},
		Validations: []demand.Validation{{1, 0.5, 0.5}, {1, 0.5, 0.5}},
	}
	o := demand.Posterior()
	parts, err := demand.Build(in, o)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := demand.Build(demand.Input{Scores: in.Scores, Query: in.Query}, o)
	if err != nil {
		t.Fatal(err)
	}
	o.QuestionWeight = 0.25
	both, err := demand.Build(in, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range both.P {
		if want := 0.25*alone.P[i] + 0.75*parts.P[i]; math.Abs(both.P[i]-want) > 1e-15 {
			t.Errorf("P[%d] = %v, want %v", i, both.P[i], want)
		}
	}
	near(t, "weights", both.Weights, parts.Weights)
}

func TestAllNegativeSimilaritiesLeaveThePrior(t *testing.T) {
	d, err := demand.Build(demand.Input{
		Scores: []float64{0, math.Log(3)}, Query: []float64{-1, -1},
		SubQueries: [][]float64{{-0.5, -0.2}}, Validations: []demand.Validation{{1, 1, 1}},
	}, demand.Published())
	if err != nil {
		t.Fatal(err)
	}
	near(t, "P", d.P, []float64{0.25, 0.75})
	if len(d.Fallbacks) != 1 || d.Fallbacks[0].Kind != demand.FallbackPrior {
		t.Errorf("fallbacks %v", d.Fallbacks)
	}
}

func TestExponentZeroLeavesItsFactorOut(t *testing.T) {
	in := demand.Input{
		Scores: []float64{0, math.Log(3)}, Query: []float64{1, 1},
		SubQueries: [][]float64{{0.2, 0.6}}, Validations: []demand.Validation{{1, 1, 1}},
	}
	for _, c := range []struct {
		alpha, beta float64
		fusion      demand.Fusion
		want        []float64
	}{
		{1, 0, demand.FusionProduct, []float64{0.25, 0.75}},
		{0, 1, demand.FusionProduct, []float64{0.25, 0.75}},
		{1, 1, demand.FusionProduct, []float64{0.1, 0.9}},
		{0, 2, demand.FusionProduct, []float64{0.1, 0.9}},
		{1, 1, demand.FusionAdditive, []float64{0.25, 0.75}},
		{0, 1, demand.FusionAdditive, []float64{0.25, 0.75}},
	} {
		o := demand.Published()
		o.Alpha, o.Beta, o.Fusion = c.alpha, c.beta, c.fusion
		d, err := demand.Build(in, o)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "P", d.P, c.want)
	}
}

func TestOptionsNameTheFieldAndTheValue(t *testing.T) {
	for field, change := range map[string]func(*demand.Options){
		"alpha is -1":                 func(o *demand.Options) { o.Alpha = -1 },
		"beta is NaN":                 func(o *demand.Options) { o.Beta = math.NaN() },
		"alpha and beta are both 0":   func(o *demand.Options) { o.Alpha, o.Beta = 0, 0 },
		"likelihood_temperature is 0": func(o *demand.Options) { o.LikelihoodTemperature = 0 },
		"prior_temperature is +Inf":   func(o *demand.Options) { o.PriorTemperature = math.Inf(1) },
		"quality_threshold is 2":      func(o *demand.Options) { o.QualityThreshold = 2 },
		"drift_threshold is -0.1":     func(o *demand.Options) { o.DriftThreshold = -0.1 },
		`fusion is "sum"`:             func(o *demand.Options) { o.Fusion = "sum" },
		`likelihood is ""`:            func(o *demand.Options) { o.Likelihood = "" },
		`weights is "Quality", want `: func(o *demand.Options) { o.Weights = "Quality" },
	} {
		o := demand.Published()
		change(&o)
		_, err := demand.Build(demand.Input{}, o)
		if !errors.Is(err, demand.ErrOption) || !strings.Contains(err.Error(), field) {
			t.Errorf("want %q in the error, got %v", field, err)
		}
	}
}

func TestShapesAreChecked(t *testing.T) {
	for _, in := range []demand.Input{
		{Scores: []float64{1}},
		{Scores: []float64{1}, Query: []float64{1}, SubQueries: [][]float64{{1}}},
		{Scores: []float64{1}, Query: []float64{1}, SubQueries: [][]float64{{1, 2}}, Validations: make([]demand.Validation, 1)},
	} {
		if _, err := demand.Build(in, demand.Published()); !errors.Is(err, demand.ErrShape) {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

// Whatever the index answers, P is a distribution and the weights are too.
func TestDemandIsADistribution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(1, 8).Draw(t, "n"), rapid.IntRange(0, 5).Draw(t, "m")
		cosine := rapid.SliceOfN(rapid.Float64Range(-1, 1), n, n)
		in := demand.Input{Scores: rapid.SliceOfN(rapid.Float64Range(-50, 50), n, n).Draw(t, "scores"), Query: cosine.Draw(t, "query")}
		for range m {
			in.SubQueries = append(in.SubQueries, cosine.Draw(t, "sub-query"))
			v := demand.Validation{Overlap: rapid.Float64Range(0, 1).Draw(t, "overlap"), Novelty: rapid.Float64Range(0, 1).Draw(t, "novelty")}
			v.Quality = v.Overlap * v.Novelty
			in.Validations = append(in.Validations, v)
		}
		o := rapid.SampledFrom([]demand.Options{demand.Published(), demand.Posterior()}).Draw(t, "options")
		o.Fusion = rapid.SampledFrom([]demand.Fusion{demand.FusionProduct, demand.FusionAdditive}).Draw(t, "fusion")
		o.Weights = rapid.SampledFrom([]demand.Weighting{demand.WeightOverlap, demand.WeightQuality, demand.WeightUniform}).Draw(t, "weights")
		d, err := demand.Build(in, o)
		if err != nil {
			t.Fatal(err)
		}
		distribution(t, d.P)
		if m > 0 {
			distribution(t, d.Weights)
		}
	})
}

func distribution(t *rapid.T, p []float64) {
	var sum float64
	for _, x := range p {
		if !(x >= 0) {
			t.Fatalf("%v has a negative or NaN entry", p)
		}
		sum += x
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Fatalf("%v sums to %v", p, sum)
	}
}

func TestMaxMinKeepsDistinctSubQueriesWhereAllAreAlike(t *testing.T) {
	same := [][]float64{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}
	got := demand.MaxMin([]float64{1, 1, 1}, same, 10)
	slices.Sort(got)
	if !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("kept %v", got)
	}
	if got := demand.MaxMin([]float64{1}, [][]float64{{1}}, 0); got != nil {
		t.Errorf("m = 0 kept %v", got)
	}
}

func TestReverseValidationCountsEachIDOnce(t *testing.T) {
	got := demand.ReverseValidate([][]string{{"a", "a", "b"}, {"b", "c"}, nil}, func(id string) bool { return id != "c" })
	want := []demand.Validation{{Overlap: 1, Novelty: 0.5, Quality: 0.5}, {Overlap: 0.5, Novelty: 0.5, Quality: 0.25}, {}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
