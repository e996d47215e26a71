package build

import (
	"context"
	"errors"
	"fmt"

	"github.com/georag/georag/core"
)

// ImportOptions of [Import]. Source and Loader are required.
type ImportOptions struct {
	Target
	// Source holds passages with their vectors, for example a folder of passages.jsonl and passages.npy opened by
	// the flat store. Where it is a [core.Describer], its count is the total of the progress.
	Source core.Scanner
	Scope  core.Scope
	// Name of the source. A state file belongs to one.
	Name string
}

// Import copies the passages of a store, vectors and payloads, into another one. IDs are kept as they are and must
// all be integers or all text. A batch that the state file knows is not sent again.
func Import(ctx context.Context, o ImportOptions) (Report, error) {
	if err := o.validate(); err != nil {
		return Report{}, err
	}
	if o.Source == nil {
		return Report{}, fmt.Errorf("internal/build: %w: no source", core.ErrInvalid)
	}
	total, model := -1, ""
	if describer, ok := o.Source.(core.Describer); ok {
		description, err := describer.Describe(ctx)
		if err != nil {
			return Report{}, fmt.Errorf("internal/build: describe the source: %w", err)
		}
		total, model = int(description.Count), description.Model
	}
	w, err := newWriter(ctx, o.Target, "import of "+o.Name, total)
	if err != nil {
		return Report{}, err
	}
	w.model = model
	var failed error
	scanned := o.Source.Scan(ctx, o.Scope, 0, func(p core.Candidate) bool {
		failed = w.take(ctx, p)
		return failed == nil
	})
	if scanned != nil {
		failed = errors.Join(failed, fmt.Errorf("internal/build: read the source: %w", scanned))
	}
	if failed == nil && w.report.Passages == 0 {
		failed = fmt.Errorf("internal/build: %w: the source holds no passage", core.ErrEmptyIndex)
	}
	if failed != nil {
		return w.stop(failed)
	}
	return w.finish(ctx)
}

// take adds a passage of another store, whose vector may be memory of that store.
func (w *writer) take(ctx context.Context, p core.Candidate) error {
	_, text := p.ID.Text()
	if w.report.Passages == 0 {
		w.textIDs = text
	}
	if text != w.textIDs {
		return fmt.Errorf("internal/build: %w: id %s: a collection holds integers or text, the source has both", core.ErrInvalid, p.ID)
	}
	if len(p.Vector) == 0 {
		return fmt.Errorf("internal/build: passage %s: %w", p.ID, core.ErrNoVectors)
	}
	p.Vector = append([]float32(nil), p.Vector...)
	return w.add(ctx, p)
}
