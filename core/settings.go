package core

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/georag/georag/core/demand"
	"github.com/georag/georag/core/pick"
)

// Settings say how a [Stage] selects. Every value is explicit, 0 means 0: start from [DefaultPreset] or
// [PaperPreset] and change what you need.
type Settings struct {
	// Preset names the settings this value started from; a trace repeats it.
	Preset string `koanf:"preset" json:"preset"`
	// Selector is a name of [pick.Names], or [SelectorQdrantMMR].
	Selector string `koanf:"selector" json:"selector"`
	// K is how many passages are wanted (k = 5 in the publication), 1 to [MaxK].
	K int `koanf:"k" json:"k"`
	// Candidates is how many nearest passages compete (K = 200), K to [MaxCandidates].
	Candidates int  `koanf:"candidates" json:"candidates"`
	Pool       Pool `koanf:"pool" json:"pool"`

	SubQueries SubQuerySettings `koanf:"subqueries" json:"subqueries"`
	Demand     demand.Options   `koanf:"demand" json:"demand"`
	Selectors  pick.Options     `koanf:"selectors" json:"selectors"`
	Filter     FilterSettings   `koanf:"filter" json:"filter"`

	// Strict turns everything that would be listed as degraded into an error that wraps [ErrStrict].
	Strict bool `koanf:"strict" json:"strict"`
	// Timeout bounds one whole selection; 0 leaves that to the caller's context.
	Timeout time.Duration `koanf:"timeout" json:"timeout"`
}

// SubQuerySettings say how many sub-queries are asked for and how many survive.
type SubQuerySettings struct {
	Write int `koanf:"write" json:"write"` // n asked of the writer (20), 0 to [MaxSubQueries]
	Keep  int `koanf:"keep" json:"keep"`   // m kept by farthest-first (10); ignored without MaxMin
	Depth int `koanf:"depth" json:"depth"` // hits per sub-query (20), 1 to 1,000
	// MaxMin off keeps every sub-query, in the order written.
	MaxMin bool `koanf:"max_min" json:"max_min"`
}

// Limits of Settings. They keep one request's memory and time bounded.
const (
	MaxK          = 100
	MaxCandidates = 4096 // their cosines with each other take 134 MB
	MaxSubQueries = 64
	maxDepth      = 1000
)

// Validate reports the first setting out of its range, naming it and its value; the error wraps [ErrInvalid].
func (s Settings) Validate() error {
	for _, number := range []struct {
		name        string
		value       int
		least, most int
	}{
		{"k", s.K, 1, MaxK},
		{"candidates", s.Candidates, 1, MaxCandidates},
		{"subqueries.write", s.SubQueries.Write, 0, MaxSubQueries},
		{"subqueries.keep", s.SubQueries.Keep, 1, MaxSubQueries},
		{"subqueries.depth", s.SubQueries.Depth, 1, maxDepth},
	} {
		if number.value < number.least || number.value > number.most {
			return fmt.Errorf("core: %w: %s is %d, want %d to %d", ErrInvalid, number.name, number.value, number.least, number.most)
		}
	}
	if s.Candidates < s.K {
		return fmt.Errorf("core: %w: candidates is %d, fewer than k = %d", ErrInvalid, s.Candidates, s.K)
	}
	if s.Timeout < 0 {
		return fmt.Errorf("core: %w: timeout is %s, want 0 or more", ErrInvalid, s.Timeout)
	}
	if !slices.Contains(SelectorNames(), s.Selector) {
		return fmt.Errorf("core: %w: selector is %q, want one of %s", ErrInvalid, s.Selector, strings.Join(SelectorNames(), ", "))
	}
	// Pool and filter name their own keys; the packages below do not know under which section theirs stand.
	for _, part := range []struct {
		section string
		options interface{ Validate() error }
	}{{"", s.Pool}, {"demand", s.Demand}, {"selectors", s.Selectors}, {"", s.Filter}} {
		err := part.options.Validate()
		if err != nil && part.section != "" {
			err = fmt.Errorf("core: %w: %s: %w", ErrInvalid, part.section, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SelectorQdrantMMR is the one selector that runs in the store: Qdrant's own MMR, for comparison.
const SelectorQdrantMMR = "qdrant-mmr"

// SelectorNames lists the selectors a stage knows.
func SelectorNames() []string { return append(pick.Names(), SelectorQdrantMMR) }

// Pool names the candidates that compete: how the main ones are retrieved, and "+union" where the hits of the
// sub-queries join them. "union" alone is "dense+union".
type Pool string

const (
	PoolDense   Pool = "dense"   // C_K alone, the nearest passages of the question, as published
	PoolUnion   Pool = "union"   // C_K and the hits of the sub-queries
	PoolHyDE    Pool = "hyde"    // the nearest passages of a hypothetical answer passage
	PoolHybrid  Pool = "hybrid"  // the store's fusion of dense and sparse, or of several vector fields
	PoolLexical Pool = "lexical" // BM25
	PoolGiven   Pool = "given"   // chosen by someone else, by ID
)

const unionSuffix = "+union"

// Union reports whether the hits of the sub-queries join the candidates.
func (p Pool) Union() bool { return p == PoolUnion || strings.HasSuffix(string(p), unionSuffix) }

// Base is how the main candidates are retrieved.
func (p Pool) Base() Pool {
	if p == PoolUnion {
		return PoolDense
	}
	return Pool(strings.TrimSuffix(string(p), unionSuffix))
}

// PoolNames lists the pools without their "+union" forms.
func PoolNames() []string {
	return []string{string(PoolDense), string(PoolUnion), string(PoolHyDE), string(PoolHybrid), string(PoolLexical), string(PoolGiven)}
}

// Validate reports an unknown pool; the error wraps [ErrInvalid].
func (p Pool) Validate() error {
	known := slices.Contains(PoolNames(), string(p.Base())) && p.Base() != PoolUnion
	if !known {
		return fmt.Errorf("core: %w: pool is %q, want one of %s, each also with %q", ErrInvalid, string(p), strings.Join(PoolNames(), ", "), unionSuffix)
	}
	return nil
}
