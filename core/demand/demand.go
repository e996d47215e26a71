// Package demand says where a question needs evidence: it turns what the index answered to the sub-queries into a
// distribution P over the n candidates.
//
//	sub-queries ─ MaxMin ─► ReverseValidate ─► Weights ─► Likelihood × Prior ─► P
//
// Everything here is numbers; equation numbers are those of the publication.
package demand

import "fmt"

// Input is what the index answered. n is the number of candidates, m of sub-queries.
type Input struct {
	Scores      []float64    // the store's score of each candidate, length n
	Query       []float64    // cos(c_i, Q), length n; the demand when there are no sub-queries
	SubQueries  [][]float64  // cos(c_i, q_j), m slices of length n
	Validations []Validation // length m
}

// Demand is the answer. P sums to 1.
type Demand struct {
	P          []float64 // length n
	Prior      []float64 // r, length n
	Likelihood []float64 // L, length n
	Weights    []float64 // q̃, length m; what was used, after any fallback
	Drifted    []bool    // length m: sub-queries whose overlap is below the drift threshold
	Fallbacks  []Fallback
}

// Fallback tells where the data did not allow what the options ask.
type Fallback struct {
	Kind   FallbackKind
	Detail string
}

// FallbackKind names what was used instead.
type FallbackKind int

const (
	FallbackQuestion FallbackKind = iota // there are no sub-queries: the question alone is the demand
	FallbackWeights                      // no sub-query passes the checks: another weighting
	FallbackPrior                        // the likelihood has no mass: the retrieval prior alone
)

// Build computes the demand (eq. 8–11). Without sub-queries, or without any mass in the likelihood, the question
// itself is the only thing that needs evidence, and Fallbacks says so. It returns [ErrShape] or [ErrOption].
func Build(in Input, o Options) (Demand, error) {
	if err := o.Validate(); err != nil {
		return Demand{}, err
	}
	if err := in.validate(); err != nil {
		return Demand{}, err
	}
	n, m := len(in.Scores), len(in.SubQueries)
	d := Demand{
		P: make([]float64, n), Prior: make([]float64, n), Likelihood: make([]float64, n),
		Weights: make([]float64, m), Drifted: make([]bool, m),
	}
	if n == 0 {
		return d, nil
	}
	Prior(d.Prior, in.Scores, o.PriorTemperature)
	atoms, weights := in.SubQueries, d.Weights
	if m == 0 {
		d.fallBack(FallbackQuestion, "no sub-queries: the demand is the question alone")
		atoms, weights = [][]float64{in.Query}, []float64{1}
	} else {
		d.weigh(in.Validations, o)
		atoms, weights = withQuestion(in, d.Weights, o.QuestionWeight)
	}
	d.spread(atoms, weights, o)
	d.fuse(o)
	return d, nil
}

// withQuestion adds the question to the sub-queries, which share what it leaves.
func withQuestion(in Input, weights []float64, share float64) ([][]float64, []float64) {
	if share == 0 {
		return in.SubQueries, weights
	}
	atoms, shares := append([][]float64{in.Query}, in.SubQueries...), []float64{share}
	for _, w := range weights {
		shares = append(shares, (1-share)*w)
	}
	return atoms, shares
}

func (d *Demand) weigh(v []Validation, o Options) {
	if !o.ReverseValidation {
		for j := range d.Weights {
			d.Weights[j] = 1 / float64(len(d.Weights))
		}
		return
	}
	for j := range v {
		d.Drifted[j] = v[j].Overlap < o.DriftThreshold
	}
	if used, fellBack := Weights(d.Weights, v, o.Weights, o.QualityThreshold, o.DriftThreshold); fellBack {
		d.fallBack(FallbackWeights, fmt.Sprintf("no sub-query passes the %s check: weighted by %s", o.Weights, used))
	}
}

func (d *Demand) spread(atoms [][]float64, weights []float64, o Options) {
	if o.Likelihood == LikelihoodPosterior {
		PosteriorLikelihood(d.Likelihood, atoms, weights, o.LikelihoodTemperature, d.P)
		return
	}
	Likelihood(d.Likelihood, atoms, weights)
}

func (d *Demand) fuse(o Options) {
	combine := FuseProduct
	if o.Fusion == FusionAdditive {
		combine = FuseSum
	}
	if !combine(d.P, d.Prior, d.Likelihood, o.Alpha, o.Beta) {
		d.fallBack(FallbackPrior, "no candidate resembles any sub-query: the demand is the retrieval prior")
		copy(d.P, d.Prior)
	}
}

func (d *Demand) fallBack(kind FallbackKind, detail string) {
	d.Fallbacks = append(d.Fallbacks, Fallback{Kind: kind, Detail: detail})
}

func (in Input) validate() error {
	n, m := len(in.Scores), len(in.SubQueries)
	if len(in.Query) != n {
		return fmt.Errorf("core/demand: %w: Query has length %d, want %d", ErrShape, len(in.Query), n)
	}
	if len(in.Validations) != m {
		return fmt.Errorf("core/demand: %w: Validations has length %d, want %d", ErrShape, len(in.Validations), m)
	}
	for j, cosines := range in.SubQueries {
		if len(cosines) != n {
			return fmt.Errorf("core/demand: %w: SubQueries[%d] has length %d, want %d", ErrShape, j, len(cosines), n)
		}
	}
	return nil
}
