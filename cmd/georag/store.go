package main

import (
	"context"
	"fmt"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/core"
)

// openStore connects to the one store that the configuration names.
func openStore(_ context.Context, c StoreConfig) (core.Store, error) {
	switch {
	case c.Flat != nil:
		return flat.Open(*c.Flat)
	}
	return nil, fmt.Errorf("%w: store: none is named", core.ErrInvalid)
}

// openStage validates the configuration and wires a stage. The caller closes the stage's store.
func openStage(ctx context.Context, c Config) (core.Stage, error) {
	if err := c.Validate(); err != nil {
		return core.Stage{}, err
	}
	store, err := openStore(ctx, c.Store)
	if err != nil {
		return core.Stage{}, err
	}
	return core.Stage{Store: store, Settings: c.Settings}, nil
}
