package pick

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Options holds the parameters of every selector. Every field is an explicit value: 0 means 0, so start from
// [DefaultOptions].
type Options struct {
	MMR      MMROptions      `koanf:"mmr"`
	DPP      DPPOptions      `koanf:"dpp"`
	Facility FacilityOptions `koanf:"facility"`
	GeoRAG   GeoRAGOptions   `koanf:"georag"`
	AdaGReS  AdaGReSOptions  `koanf:"adagres"`
	Smart    SmartOptions    `koanf:"smart"`
	RRF      RRFOptions      `koanf:"rrf"`
}

// DefaultOptions returns the values that each selector's publication, or the measurements behind the preset
// "default", recommend.
func DefaultOptions() Options {
	return Options{
		MMR: MMROptions{Lambda: 0.5},
		DPP: DPPOptions{Theta: 0.9},
		GeoRAG: GeoRAGOptions{
			ColdStart: true, Gate: true, DeltaW: true,
			Sinkhorn: Converged, Iterations: 100, Epsilon: 0.01,
		},
		AdaGReS: AdaGReSOptions{Alpha: 1, AdaptiveBeta: true},
		Smart:   SmartOptions{Gamma: 1, Pool: 20},
		RRF:     RRFOptions{K: 60},
	}
}

// Validate reports the first field out of its range, with its name and value, wrapped as [ErrOption].
func (o Options) Validate() error {
	for _, part := range []interface{ Validate() error }{o.MMR, o.DPP, o.GeoRAG, o.AdaGReS, o.Smart, o.RRF} {
		if err := part.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// method is what distinguishes one selector from another.
type method interface {
	// run appends the steps to r. p is valid and 1 ≤ k ≤ n.
	run(ctx context.Context, p *Problem, k int, r *Result) error
}

// registry lists the selectors in the order in which they are shown.
var registry = []struct {
	name string
	make func(Options) method
}{
	{"cosine", func(Options) method { return &ranking{mode: "cosine", score: byQuery} }},
	{"mmr", func(o Options) method { return &mmr{o: o.MMR} }},
	{"dpp", func(o Options) method { return &dpp{o: o.DPP} }},
	{"facility", func(o Options) method { return &facility{o: o.Facility} }},
	{"georag", func(o Options) method { return &georag{o: o.GeoRAG} }},
	{"adagres", func(o Options) method { return &adagres{o: o.AdaGReS} }},
	{"smart", func(o Options) method { return &smart{o: o.Smart} }},
	{"subq-max", func(Options) method { return &ranking{mode: "subq-max", score: bySubQueryMax} }},
	{"subq-avg", func(Options) method { return &ranking{mode: "subq-avg", score: bySubQueryMean} }},
	{"rrf", func(o Options) method { return &rrf{o: o.RRF} }},
	{"rerank", func(Options) method { return &ranking{mode: "rerank", score: byReranker, exact: true} }},
}

// Names returns the names that [New] knows.
func Names() []string {
	names := make([]string, len(registry))
	for i, r := range registry {
		names[i] = r.name
	}
	return names
}

// New returns the named selector. The result also implements [SelectorInto]. It returns [ErrUnknown] for another
// name and [ErrOption] for options out of range.
func New(name string, o Options) (Selector, error) {
	i := slices.IndexFunc(registry, func(r struct {
		name string
		make func(Options) method
	}) bool {
		return r.name == name
	})
	if i < 0 {
		return nil, fmt.Errorf("core/pick: %w %q; have %s", ErrUnknown, name, strings.Join(Names(), ", "))
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &selector{registry[i].make(o)}, nil
}

// SelectorInto is a [Selector] that can reuse the memory of a result.
type SelectorInto interface {
	Selector
	// SelectInto is Select with dst overwritten by the result; after an error its content is unspecified.
	SelectInto(ctx context.Context, dst *Result, p *Problem, k int) error
}

var _ SelectorInto = (*selector)(nil)

// selector does what is the same for all methods.
type selector struct{ method method }

func (s *selector) Select(ctx context.Context, p *Problem, k int) (Result, error) {
	var r Result
	if err := s.SelectInto(ctx, &r, p, k); err != nil {
		return Result{}, err
	}
	return r, nil
}

func (s *selector) SelectInto(ctx context.Context, dst *Result, p *Problem, k int) error {
	if k < 1 {
		return fmt.Errorf("core/pick: %w: k is %d, want at least 1", ErrOption, k)
	}
	if err := p.Validate(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	*dst = Result{Steps: dst.Steps[:0], Degraded: dst.Degraded[:0]}
	if n := p.Len(); n < k {
		dst.Degraded = append(dst.Degraded, fmt.Sprintf("%d of %d passages: there are no more candidates", n, k))
		k = n
	}
	if k == 0 {
		return nil
	}
	dst.Steps = slices.Grow(dst.Steps, k)
	return s.method.run(ctx, p, k, dst)
}

// fraction reports an option outside [0,1].
func fraction(name string, x float64) error {
	if !(x >= 0 && x <= 1) {
		return fmt.Errorf("core/pick: %w: %s is %v, want a value in [0,1]", ErrOption, name, x)
	}
	return nil
}
