package core

import (
	"fmt"

	"github.com/georag/georag/core/demand"
	"github.com/georag/georag/core/pick"
)

// Names of the presets.
const (
	PresetDefault = "default"
	PresetPaper   = "paper"
)

// PresetNames lists the presets.
func PresetNames() []string { return []string{PresetDefault, PresetPaper} }

// Preset returns the settings of the given name; the error wraps [ErrInvalid].
func Preset(name string) (Settings, error) {
	switch name {
	case PresetDefault:
		return DefaultPreset(), nil
	case PresetPaper:
		return PaperPreset(), nil
	}
	return Settings{}, fmt.Errorf("core: %w: preset is %q, want one of %q", ErrInvalid, name, PresetNames())
}

// PaperPreset returns the published method with the published settings.
func PaperPreset() Settings {
	s := Settings{
		Preset: PresetPaper, Selector: "georag", K: 5, Candidates: 200, Pool: PoolDense,
		SubQueries: SubQuerySettings{Write: 20, Keep: 10, Depth: 20, MaxMin: true},
		Demand:     demand.Published(),
		Selectors:  pick.DefaultOptions(),
		Filter:     NoFilter(),
	}
	s.Selectors.GeoRAG.Sinkhorn = pick.Published
	return s
}

// DefaultPreset returns the settings that win on real questions: the same method with the demand sharpened by a
// posterior per sub-query, the hits of the sub-queries in the pool, Sinkhorn solved to convergence, a tenth of the demand
// kept for the question itself, and no copies of what is selected. docs/adr/0007 tells how the last two were chosen.
func DefaultPreset() Settings {
	s := PaperPreset()
	s.Preset = PresetDefault
	s.Pool = PoolUnion
	s.Demand = demand.Posterior()
	s.Demand.QuestionWeight = 0.1
	s.Selectors.GeoRAG.Sinkhorn = pick.Converged
	s.Selectors.GeoRAG.MinGate = 0.05
	return s
}
