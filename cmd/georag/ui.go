package main

import (
	"context"
	"net/http"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/adapters/webui"
	"github.com/georag/georag/core"
	"github.com/georag/georag/demo"
	"github.com/georag/georag/internal/questions"
)

// page is the page at /ui. It is made before the server whose routes it has, and knows it once it is there.
type page struct {
	routes []httpapi.Route
	server *httpapi.Server
	open   closers
}

// openPage makes the page over the stage, where it is wanted. Where typed questions cannot be embedded, and under
// --demo, the demonstration's questions can be chosen. The caller closes page.open.
func openPage(what serving, collection string, stage *core.Stage) (*page, error) {
	p := &page{}
	if !what.page {
		return p, nil
	}
	deps := webui.Deps{
		Stages: map[string]*core.Stage{collection: stage}, Default: collection, Version: version(),
		Tenant: func(ctx context.Context, asked string) (string, error) { return httpapi.PrincipalOf(ctx).Scope(asked) },
		Record: func(ctx context.Context, made core.Trace) { p.server.Selected(ctx, made) },
	}
	if what.demo || stage.Planner.Embedder == nil {
		samples, store, err := demoSamples()
		if err != nil {
			return nil, err
		}
		p.open.add(store)
		deps.Samples = samples
	}
	made, err := webui.New(deps)
	if err != nil {
		return nil, err
	}
	file := http.HandlerFunc(made.ServeAsset)
	p.routes = []httpapi.Route{
		{Pattern: "GET /ui/api/about", Answer: made.About, Free: true},
		{Pattern: "POST /ui/api/compare", Answer: made.Compare},
	}
	for _, path := range webui.Files() {
		p.routes = append(p.routes, httpapi.Route{Pattern: "GET " + path, Handler: file, Open: true, Free: true})
	}
	return p, nil
}

// where says in the line that tells the address where the page is.
func (p *page) where() string {
	if len(p.routes) == 0 {
		return ""
	}
	return ", with a page at /ui"
}

// demoSamples returns the demonstration's questions with a stage over its passages; all of them bring the vectors of
// the model they were made with.
func demoSamples() ([]webui.Sample, *flat.Store, error) {
	asked, err := questions.OpenFS(demo.Files, "data")
	if err != nil {
		return nil, nil, err
	}
	store, err := flat.OpenFS(demo.Files, "data", flat.Config{})
	if err != nil {
		return nil, nil, err
	}
	stage := &core.Stage{Store: store}
	samples := make([]webui.Sample, len(asked))
	for i, q := range asked {
		samples[i] = webui.Sample{ID: q.ID, Stage: stage, Query: q.Query()}
	}
	return samples, store, nil
}
