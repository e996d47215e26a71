package evaluate

import (
	"fmt"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/demand"
)

// Group is one table of an ablation: variants of one part of the method, which differ from Base in that part only.
type Group struct {
	Name     string
	Variants []Variant
}

// Ablations lists the publication's ablations of settings base: what each part of the method is worth, and how the
// result depends on its numbers. base itself is the first variant of every group.
func Ablations(base core.Settings) []Group {
	groups := []Group{
		{"parts", parts(base)},
		{"weights of sub-queries", weights(base)},
		{"prior and likelihood", spectrum(base)},
		{"temperatures", temperatures(base)},
	}
	for _, sweep := range []struct {
		name   string
		values []float64
		set    func(*core.Settings, float64)
	}{
		{"epsilon", []float64{0.001, 0.005, 0.01, 0.05, 0.1}, func(s *core.Settings, x float64) { s.Selectors.GeoRAG.Epsilon = x }},
		{"k", []float64{3, 5, 8, 10}, func(s *core.Settings, x float64) { s.K = int(x) }},
		{"K", []float64{10, 20, 50, 100, 200, 500}, func(s *core.Settings, x float64) { s.Candidates = int(x) }},
		{"share of the question", []float64{0, 0.05, 0.1, 0.2, 0.4}, func(s *core.Settings, x float64) { s.Demand.QuestionWeight = x }},
		{"sub-queries kept", []float64{3, 5, 10, 15, 20}, func(s *core.Settings, x float64) { s.SubQueries.Keep = int(x) }},
	} {
		var variants []Variant
		for _, x := range sweep.values {
			variants = append(variants, change(base, fmt.Sprintf("%s=%v", sweep.name, x), func(s *core.Settings) { sweep.set(s, x) }))
		}
		groups = append(groups, Group{sweep.name, variants})
	}
	for g := range groups {
		groups[g].Variants = append([]Variant{{Name: "as it is", Settings: base}}, groups[g].Variants...)
	}
	return groups
}

// change is base with one thing changed.
func change(base core.Settings, name string, set func(*core.Settings)) Variant {
	set(&base)
	return Variant{Name: name, Settings: base}
}

func parts(base core.Settings) []Variant {
	return []Variant{
		change(base, "without max-min", func(s *core.Settings) { s.SubQueries.MaxMin = false }),
		change(base, "without reverse validation", func(s *core.Settings) { s.Demand.ReverseValidation = false }),
		change(base, "without gate", func(s *core.Settings) { s.Selectors.GeoRAG.Gate = false }),
		change(base, "without fall of W", func(s *core.Settings) { s.Selectors.GeoRAG.DeltaW = false }),
		change(base, "without cold start", func(s *core.Settings) { s.Selectors.GeoRAG.ColdStart = false }),
		change(base, "additive fusion", func(s *core.Settings) {
			s.Demand.Fusion, s.Demand.Alpha, s.Demand.Beta = demand.FusionAdditive, 0.5, 0.5
		}),
		change(base, "facility location", func(s *core.Settings) { s.Selector = "facility" }),
		change(base, "pool dense", func(s *core.Settings) { s.Pool = core.PoolDense }),
		change(base, "pool union", func(s *core.Settings) { s.Pool = core.PoolUnion }),
		change(base, "likelihood by clipped cosine", func(s *core.Settings) { s.Demand.Likelihood = demand.LikelihoodCosine }),
		change(base, "likelihood by posterior", func(s *core.Settings) { s.Demand.Likelihood = demand.LikelihoodPosterior }),
	}
}

func weights(base core.Settings) []Variant {
	var variants []Variant
	for _, w := range []demand.Weighting{demand.WeightQuality, demand.WeightOverlap, demand.WeightUniform} {
		variants = append(variants, change(base, string(w), func(s *core.Settings) { s.Demand.Weights = w }))
	}
	return variants
}

// spectrum goes from the prior alone to the likelihood alone.
func spectrum(base core.Settings) []Variant {
	var variants []Variant
	for _, x := range [][2]float64{{1, 0}, {1, 0.5}, {1, 1}, {0.5, 1}, {0, 1}} {
		variants = append(variants, change(base, fmt.Sprintf("α=%v β=%v", x[0], x[1]), func(s *core.Settings) {
			s.Demand.Alpha, s.Demand.Beta = x[0], x[1]
		}))
	}
	return variants
}

// temperatures sharpen the posterior, and the prior where it counts.
func temperatures(base core.Settings) []Variant {
	var variants []Variant
	for _, t := range []float64{0.01, 0.02, 0.05, 0.1, 0.2, 1} {
		variants = append(variants, change(base, fmt.Sprintf("T_L=%v", t), func(s *core.Settings) {
			s.Demand.Likelihood, s.Demand.LikelihoodTemperature = demand.LikelihoodPosterior, t
		}))
	}
	for _, t := range []float64{0.02, 0.05, 0.2, 1} {
		variants = append(variants, change(base, fmt.Sprintf("α=1 T_r=%v", t), func(s *core.Settings) {
			s.Demand.Alpha, s.Demand.PriorTemperature = 1, t
		}))
	}
	return variants
}
