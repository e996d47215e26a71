package main

import (
	"context"
	"errors"
	"time"

	"github.com/georag/georag/core"
)

// startTimeout bounds what is asked of the store and the embedder before serving begins.
const startTimeout = 5 * time.Second

// dimensionChecker is implemented by every embedder a configuration can name.
type dimensionChecker interface {
	CheckDimension(ctx context.Context, collection int) error
}

// checkDimension compares the embedder with the collection before anyone is served; the error wraps
// [core.ErrDimension]. Whatever cannot be asked at the moment is left to the first question, because a store or a
// model that is down now may be up by then.
func checkDimension(ctx context.Context, stage core.Stage) error {
	describer, described := stage.Store.(core.Describer)
	checker, checked := stage.Planner.Embedder.(dimensionChecker)
	if !described || !checked {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	d, err := describer.Describe(ctx)
	if err != nil {
		return nil
	}
	if err := checker.CheckDimension(ctx, d.Dimension); errors.Is(err, core.ErrDimension) {
		return err
	}
	return nil
}
