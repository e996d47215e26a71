package core

import (
	"fmt"
	"slices"

	"github.com/georag/georag/core/filter"
)

// FilterSettings say whether candidates are dropped before selection, and how. Every value is explicit; start from
// [NoFilter].
type FilterSettings struct {
	Name string `koanf:"name" json:"name"` // none, ricci or kmeans
	// Depth is how many candidates, nearest first, the filter looks at (k = 20 in the publication of ricci, which
	// compares with k-means on the same ones); the others are dropped.
	Depth int `koanf:"depth" json:"depth"`
	// Protect keeps the best server of every kept sub-query, which the question's own geometry may drop.
	Protect bool `koanf:"protect" json:"protect"`

	TauPercentile float64 `koanf:"tau_percentile" json:"tau_percentile"` // ricci: edge threshold τ, 0 to 100
	P             float64 `koanf:"p" json:"p"`                           // ricci: exponent of the node measure
	Alpha         float64 `koanf:"alpha" json:"alpha"`                   // ricci: mass left on the node, [0, 1)
	Steps         int     `koanf:"steps" json:"steps"`                   // ricci: M
	StepSize      float64 `koanf:"step_size" json:"step_size"`           // ricci: ε, (0, 1]
	Eta           float64 `koanf:"eta" json:"eta"`                       // ricci: longest query edge kept

	Seed uint64 `koanf:"seed" json:"seed"` // kmeans: of the first centres; the same seed gives the same result
}

// Names of the filters.
const (
	FilterNone   = "none"
	FilterRicci  = "ricci"  // discrete Ricci flow over question and candidates, see [filter.Ricci]
	FilterKMeans = "kmeans" // the question's cluster of two, see [filter.KMeans]
)

// FilterNames lists the filters.
func FilterNames() []string { return []string{FilterNone, FilterRicci, FilterKMeans} }

// NoFilter returns the published parameters of the filters with none of them on.
func NoFilter() FilterSettings {
	return FilterSettings{
		Name: FilterNone, Depth: filter.DefaultDepth, Protect: false,
		TauPercentile: 50, P: 2, Alpha: 0.5, Steps: 20, StepSize: 1, Eta: 1, Seed: 0,
	}
}

// Validate reports the first setting out of its range; the error wraps [ErrInvalid].
func (f FilterSettings) Validate() error {
	if !slices.Contains(FilterNames(), f.Name) {
		return fmt.Errorf("core: %w: filter.name is %q, want one of %q", ErrInvalid, f.Name, FilterNames())
	}
	for _, number := range []struct {
		name        string
		value       float64
		least, most float64
		open        bool // least itself is out of range
	}{
		{"depth", float64(f.Depth), 1, 1000, false},
		{"tau_percentile", f.TauPercentile, 0, 100, false},
		{"p", f.P, 0, 100, false},
		{"alpha", f.Alpha, 0, 0.999999, false},
		{"steps", float64(f.Steps), 1, 1000, false},
		{"step_size", f.StepSize, 0, 1, true},
		{"eta", f.Eta, 0, 1e6, true},
	} {
		inside := number.value >= number.least && number.value <= number.most && !(number.open && number.value == number.least)
		if !inside {
			return fmt.Errorf("core: %w: filter.%s is %v, want %v to %v", ErrInvalid, number.name, number.value, number.least, number.most)
		}
	}
	return nil
}
