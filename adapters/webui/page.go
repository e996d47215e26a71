package webui

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/georag/georag/core"
)

// Deps are what a [Page] works with.
type Deps struct {
	// Stages by the name of their collection, and the Default one; at least one.
	Stages  map[string]*core.Stage
	Default string
	// Samples are questions that need neither model nor typing.
	Samples []Sample
	// Tenant tells which tenant a request may search, given the one it asks for; nil allows any.
	Tenant func(ctx context.Context, asked string) (string, error)
	// Record is told of every selection; nil is nobody.
	Record func(ctx context.Context, made core.Trace)
	// Version of the program.
	Version string
}

// Sample is a question with its own stage, ready to be asked.
type Sample struct {
	ID    string
	Stage *core.Stage
	Query core.Query
}

// Page is the page and what it asks for. It keeps no state.
type Page struct{ deps Deps }

// New checks that there is a stage to ask. The error wraps [core.ErrInvalid].
func New(d Deps) (*Page, error) {
	if d.Stages[d.Default] == nil {
		return nil, fmt.Errorf("adapters/webui: %w: the default collection %q is not among the stages", core.ErrInvalid, d.Default)
	}
	if d.Tenant == nil {
		d.Tenant = func(_ context.Context, asked string) (string, error) { return asked, nil }
	}
	if d.Record == nil {
		d.Record = func(context.Context, core.Trace) {}
	}
	return &Page{deps: d}, nil
}

// About is what the page knows before a question is asked.
type About struct {
	Version     string       `json:"version"`
	Collections []Collection `json:"collections"` // the default one first
	Samples     []SampleText `json:"samples"`
	Most        Most         `json:"most"`
}

// Collection is one that can be asked.
type Collection struct {
	Name     string `json:"name"`
	Embedder string `json:"embedder"` // "" where typed questions cannot be embedded
	Writer   string `json:"writer"`   // "" where nobody writes sub-queries
	Selector string `json:"selector"`
	Preset   string `json:"preset"`
	K        int    `json:"k"`
}

// SampleText is a sample as the page lists it.
type SampleText struct {
	ID       string `json:"id"`
	Question string `json:"question"`
}

// Most bounds what the page may ask for.
type Most struct {
	K    int `json:"k"`
	Text int `json:"text"` // bytes
}

// About answers GET /ui/api/about.
func (p *Page) About(*http.Request, []byte) (any, error) {
	a := About{Version: p.deps.Version, Most: Most{K: core.MaxK, Text: maxText}, Samples: []SampleText{}}
	for name, stage := range p.deps.Stages {
		settings := settingsOf(stage)
		c := Collection{Name: name, Selector: settings.Selector, Preset: settings.Preset, K: settings.K}
		if e := stage.Planner.Embedder; e != nil {
			c.Embedder = e.Model()
		}
		if w := stage.Planner.Writer; w != nil {
			c.Writer = w.Model()
		}
		a.Collections = append(a.Collections, c)
	}
	rank := func(c Collection) int {
		if c.Name == p.deps.Default {
			return 0
		}
		return 1
	}
	slices.SortFunc(a.Collections, func(x, y Collection) int { return cmp.Or(rank(x)-rank(y), cmp.Compare(x.Name, y.Name)) })
	for _, s := range p.deps.Samples {
		a.Samples = append(a.Samples, SampleText{s.ID, s.Query.Text})
	}
	return a, nil
}

func settingsOf(stage *core.Stage) core.Settings {
	if stage.Settings == (core.Settings{}) {
		return core.DefaultPreset()
	}
	return stage.Settings
}

// stage finds the stage of a collection.
func (p *Page) stage(collection string) (*core.Stage, string, error) {
	name := cmp.Or(collection, p.deps.Default)
	stage, ok := p.deps.Stages[name]
	if !ok {
		return nil, "", fmt.Errorf("adapters/webui: %w: collection is not among %q", core.ErrInvalid, slices.Sorted(maps.Keys(p.deps.Stages)))
	}
	return stage, name, nil
}
