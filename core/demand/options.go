package demand

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrOption: an option is out of its range; the message names it and its value.
var ErrOption = errors.New("option out of range")

// ErrShape: the parts of an Input disagree about n or m.
var ErrShape = errors.New("shapes disagree")

// Weighting names how validated sub-queries are weighted.
type Weighting string

const (
	WeightQuality Weighting = "quality" // overlap · novelty, as published
	WeightOverlap Weighting = "overlap"
	WeightUniform Weighting = "uniform" // all that have not drifted, alike
)

// LikelihoodKind names how a sub-query spreads its weight over the candidates.
type LikelihoodKind string

const (
	LikelihoodCosine    LikelihoodKind = "cosine"    // clipped cosine, as published
	LikelihoodPosterior LikelihoodKind = "posterior" // softmax over the candidates, per sub-query
)

// Fusion names how the prior and the likelihood are combined.
type Fusion string

const (
	FusionProduct  Fusion = "product" // r^α · L^β, as published
	FusionAdditive Fusion = "additive"
)

// Options of the demand model. Every value is explicit: 0 means 0. Start from [Published] or [Posterior].
type Options struct {
	Alpha                 float64        `koanf:"alpha" json:"alpha"` // exponent or share of the retrieval prior, ≥ 0
	Beta                  float64        `koanf:"beta" json:"beta"`   // exponent or share of the likelihood, ≥ 0
	Fusion                Fusion         `koanf:"fusion" json:"fusion"`
	Likelihood            LikelihoodKind `koanf:"likelihood" json:"likelihood"`
	LikelihoodTemperature float64        `koanf:"likelihood_temperature" json:"likelihood_temperature"` // T_L > 0
	PriorTemperature      float64        `koanf:"prior_temperature" json:"prior_temperature"`           // T_r > 0
	// ReverseValidation off weights all sub-queries alike and runs no check of them.
	ReverseValidation bool      `koanf:"reverse_validation" json:"reverse_validation"`
	Weights           Weighting `koanf:"weights" json:"weights"`
	QualityThreshold  float64   `koanf:"quality_threshold" json:"quality_threshold"` // τ of eq. 8, in [0, 1]
	// DriftThreshold is the overlap below which a sub-query counts as drifted, in [0, 1].
	DriftThreshold float64 `koanf:"drift_threshold" json:"drift_threshold"`
	// QuestionWeight is the share of the demand that the question itself keeps beside its sub-queries, in [0, 1).
	// The publication gives it none.
	QuestionWeight float64 `koanf:"question_weight" json:"question_weight"`
}

// Published returns the settings of the publication.
func Published() Options {
	return Options{
		Alpha: 1, Beta: 1, Fusion: FusionProduct,
		Likelihood: LikelihoodCosine, LikelihoodTemperature: 0.05, PriorTemperature: 1,
		ReverseValidation: true, Weights: WeightQuality, QualityThreshold: 0.05, DriftThreshold: 0.05,
	}
}

// Posterior returns the settings under which real questions gain: a posterior per sub-query and no prior.
func Posterior() Options {
	o := Published()
	o.Alpha = 0
	o.Likelihood = LikelihoodPosterior
	o.Weights = WeightUniform
	return o
}

// Validate reports the first option out of its range, wrapped as [ErrOption].
func (o Options) Validate() error {
	for _, number := range []struct {
		name  string
		value float64
		ok    bool
		want  string
	}{
		{"alpha", o.Alpha, o.Alpha >= 0, "0 or more"},
		{"beta", o.Beta, o.Beta >= 0, "0 or more"},
		{"likelihood_temperature", o.LikelihoodTemperature, o.LikelihoodTemperature > 0, "more than 0"},
		{"prior_temperature", o.PriorTemperature, o.PriorTemperature > 0, "more than 0"},
		{"quality_threshold", o.QualityThreshold, o.QualityThreshold >= 0 && o.QualityThreshold <= 1, "0 to 1"},
		{"question_weight", o.QuestionWeight, o.QuestionWeight >= 0 && o.QuestionWeight < 1, "0 to below 1"},
		{"drift_threshold", o.DriftThreshold, o.DriftThreshold >= 0 && o.DriftThreshold <= 1, "0 to 1"},
	} {
		if !number.ok || math.IsInf(number.value, 0) {
			return fmt.Errorf("core/demand: %w: %s is %v, want %s", ErrOption, number.name, number.value, number.want)
		}
	}
	if o.Alpha == 0 && o.Beta == 0 {
		return fmt.Errorf("core/demand: %w: alpha and beta are both 0, which leaves no demand", ErrOption)
	}
	for _, name := range []struct {
		option, value string
		allowed       []string
	}{
		{"fusion", string(o.Fusion), []string{string(FusionProduct), string(FusionAdditive)}},
		{"likelihood", string(o.Likelihood), []string{string(LikelihoodCosine), string(LikelihoodPosterior)}},
		{"weights", string(o.Weights), []string{string(WeightQuality), string(WeightOverlap), string(WeightUniform)}},
	} {
		if !slices.Contains(name.allowed, name.value) {
			return fmt.Errorf("core/demand: %w: %s is %q, want one of %q", ErrOption, name.option, name.value, name.allowed)
		}
	}
	return nil
}
