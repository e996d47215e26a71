package main

import (
	"context"
	"fmt"
	"io"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/milvus"
	"github.com/georag/georag/adapters/qdrant"
	"github.com/georag/georag/adapters/static"
	"github.com/georag/georag/core"
)

// openStore connects to the one store that the configuration names.
func openStore(c StoreConfig) (core.Store, error) {
	switch {
	case c.Flat != nil:
		return flat.Open(*c.Flat)
	case c.Qdrant != nil:
		return qdrant.New(*c.Qdrant)
	case c.Milvus != nil:
		return milvus.New(*c.Milvus)
	}
	return nil, fmt.Errorf("%w: store: none is named", core.ErrInvalid)
}

// openLoader prepares to write to the one store that the configuration names.
func openLoader(c StoreConfig) (core.Loader, io.Closer, error) {
	if c.Flat != nil {
		loader, err := flat.NewLoader(*c.Flat)
		return loader, closers{}, err
	}
	store, err := openStore(c)
	if err != nil {
		return nil, nil, err
	}
	return store.(core.Loader), store, nil // both servers' stores are loaders, as their packages assert
}

// openStage validates the configuration and wires a stage. The caller closes what is returned with it.
func openStage(ctx context.Context, c Config) (core.Stage, io.Closer, error) {
	var open closers
	stage := core.Stage{Settings: c.Settings}
	if err := c.Validate(); err != nil {
		return stage, nil, err
	}
	store, err := openStore(c.Store)
	if err != nil {
		return stage, nil, err
	}
	stage.Store = store
	open.add(store)
	c.Models, err = c.Models.matching(ctx, store)
	if err == nil {
		err = c.Models.wire(&stage, &open)
	}
	if err != nil {
		_ = open.Close()
		return stage, nil, err
	}
	return stage, open, nil
}

// matching fills in the embedder of an index that says its vectors came from the static table, so that such an
// index needs no configuration, and refuses another embedder for it.
func (m Models) matching(ctx context.Context, store core.Store) (Models, error) {
	describer, ok := store.(core.Describer)
	if _, local := store.(*flat.Store); !ok || !local {
		return m, nil
	}
	description, err := describer.Describe(ctx)
	if err != nil || description.Model != static.ModelName {
		return m, err
	}
	if m.Embedder.OpenAI != nil {
		return m, fmt.Errorf("%w: embedder.openai is configured, and the vectors of %s are by %s",
			core.ErrInvalid, description.Collection, description.Model)
	}
	m.Embedder.Static = true
	m.Writer.Rules = m.Writer.Rules || m.Writer.OpenAI == nil
	return m, nil
}
