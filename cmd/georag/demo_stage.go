package main

import (
	"context"
	"io"
	"os"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/rules"
	"github.com/georag/georag/adapters/static"
	"github.com/georag/georag/core"
	"github.com/georag/georag/demo"
)

// openDemo wires a stage over the passages of the demonstration that can be asked anything: they are embedded anew by
// the static table, since the vectors that come with them are of a model the program does not carry. The caller closes
// what is returned with it.
func openDemo(ctx context.Context, c Config) (core.Stage, io.Closer, error) {
	stage := core.Stage{Settings: c.Settings}
	if c.Store != (StoreConfig{}) {
		return stage, nil, usagef("--demo takes no store, and one is configured")
	}
	if err := c.Settings.Validate(); err != nil {
		return stage, nil, err
	}
	embedder, err := static.NewEmbedder()
	if err != nil {
		return stage, nil, err
	}
	passages, err := demoPassages(ctx, embedder)
	if err != nil {
		return stage, nil, err
	}
	store, err := flatOf(ctx, embedder, passages)
	stage.Store, stage.Planner = store, core.Planner{Embedder: embedder, Writer: rules.Writer{}}
	return stage, closers{store}, err
}

// demoPassages returns the demonstration's passages as e embeds them.
func demoPassages(ctx context.Context, e *static.Embedder) ([]core.Candidate, error) {
	store, err := flat.OpenFS(demo.Files, "data", flat.Config{})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	var passages []core.Candidate
	var texts []string
	err = store.Scan(ctx, core.Scope{}, 0, func(c core.Candidate) bool {
		passages, texts = append(passages, c), append(texts, c.PayloadText())
		return true
	})
	if err != nil {
		return nil, err
	}
	vectors, err := e.EmbedPassages(ctx, texts)
	for i := range vectors {
		passages[i].Vector = vectors[i]
	}
	return passages, err
}

// flatOf returns an index of the passages that is in memory alone.
func flatOf(ctx context.Context, e *static.Embedder, passages []core.Candidate) (*flat.Store, error) {
	dir, err := os.MkdirTemp("", "georag-demo-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // OpenFS reads it into memory
	loader, err := flat.NewLoader(flat.Config{Dir: dir})
	if err == nil {
		err = loader.Create(ctx, core.CollectionSpec{Dimension: e.Dimension(), Metric: core.MetricCosine, TextIDs: true, Model: e.Model()})
	}
	if err == nil {
		err = loader.Upsert(ctx, passages)
	}
	if err != nil {
		return nil, err
	}
	return flat.OpenFS(os.DirFS(dir), ".", flat.Config{})
}
