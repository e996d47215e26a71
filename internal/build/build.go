// Package build fills a store with passages: [Build] reads a person's own files, cuts and embeds them, and [Import]
// copies a collection that has its vectors from another store.
//
// Both write in batches and note each finished batch in a state file, so that a run that was interrupted goes on
// where it ended, and a later run writes only what changed. Both end by counting what the store holds.
package build

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
	"github.com/georag/georag/internal/chunk"
)

// Errors a caller may want to tell apart.
var (
	// ErrFormat: an input is no file of a supported format; the message names it and lists the formats.
	ErrFormat = errors.New("unsupported input")
	// ErrCount: the store holds fewer passages than were written to it.
	ErrCount = errors.New("passages are missing in the store")
	// ErrState: a state file belongs to another build; the message says what differs.
	ErrState = errors.New("state file of another build")
)

// DefaultBatchSize is how many passages are embedded and written at a time.
const DefaultBatchSize = 64

// DefaultBatchTimeout bounds embedding and writing one batch.
const DefaultBatchTimeout = 2 * time.Minute

// Target is where passages go, and how. Loader is required.
type Target struct {
	Loader core.Loader
	// Metric of a collection that has to be created; "" is cosine.
	Metric core.Metric
	// Exact asks for exhaustive search where the collection has to be created.
	Exact bool
	// BatchSize is how many passages make one batch; 0 is 64.
	BatchSize int
	// BatchTimeout bounds the embedding and the writing of one batch, each call to the store beside; 0 is 2 minutes.
	BatchTimeout time.Duration
	// StateFile notes what is done; "" notes nothing, and an interrupted run starts over.
	StateFile string
	// Progress, where set, is called with how many of total passages are done; total is -1 where it is not known.
	Progress func(done, total int)
}

func (t Target) validate() error {
	if t.Loader == nil {
		return fmt.Errorf("internal/build: %w: no loader", core.ErrInvalid)
	}
	if t.BatchSize < 0 || t.BatchTimeout < 0 {
		return fmt.Errorf("internal/build: %w: batch size %d and timeout %s must not be negative", core.ErrInvalid, t.BatchSize, t.BatchTimeout)
	}
	return nil
}

// Options of [Build]. Inputs, Loader, Embedder and Splitter are required.
type Options struct {
	Target
	// Inputs are files or glob patterns (filepath.Glob) of *.md, *.markdown, *.txt and *.jsonl files.
	Inputs   []string
	Embedder core.Embedder
	Splitter *chunk.Splitter
	// IDs says how passages are named.
	IDs IDs
}

// Report tells what a run did.
type Report struct {
	Files     int   `json:"files"`
	Passages  int   `json:"passages"`  // of the inputs
	Written   int   `json:"written"`   // by this run
	Resumed   int   `json:"resumed"`   // written by an earlier run, unchanged since
	Stale     int   `json:"stale"`     // written by an earlier run and no longer in the inputs; still in the store
	Count     int64 `json:"count"`     // passages in the store at the end
	Dimension int   `json:"dimension"` // of the vectors
	// Skipped lists passages that have no usable vector, with the reason.
	Skipped []Skipped `json:"skipped"`
}

// Skipped is a passage that was not written.
type Skipped struct {
	ID     core.ID `json:"id"`
	Reason string  `json:"reason"`
}

// Build reads the inputs, cuts them into passages, embeds those that the state file does not know, and upserts them.
// An error leaves what was written in the store and in the state file.
func Build(ctx context.Context, o Options) (Report, error) {
	if err := o.validate(); err != nil {
		return Report{}, err
	}
	if o.Embedder == nil || o.Splitter == nil {
		return Report{}, fmt.Errorf("internal/build: %w: an embedder and a splitter are required", core.ErrInvalid)
	}
	files, err := expand(o.Inputs)
	if err != nil {
		return Report{}, err
	}
	passages, err := readAll(files, o.Splitter, o.IDs)
	if err != nil {
		return Report{}, err
	}
	if len(passages) == 0 {
		return Report{}, fmt.Errorf("internal/build: %w: the %d files hold no text", core.ErrInvalid, len(files))
	}
	w, err := newWriter(ctx, o.Target, o.Embedder.Model(), len(passages))
	if err != nil {
		return Report{}, err
	}
	w.report.Files = len(files)
	w.embed, w.model = o.Embedder.EmbedPassages, o.Embedder.Model()
	for _, p := range passages {
		if err := w.add(ctx, p); err != nil {
			return w.stop(err)
		}
	}
	return w.finish(ctx)
}

// embedBatch fills in the vectors of a batch and takes out the passages whose vector is zero.
func (w *writer) embedBatch(ctx context.Context, batch []core.Candidate) ([]core.Candidate, error) {
	texts := make([]string, len(batch))
	for i, p := range batch {
		texts[i] = p.PayloadText()
	}
	vectors, err := w.embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("internal/build: embed passages %s to %s: %w", batch[0].ID, batch[len(batch)-1].ID, err)
	}
	if len(vectors) != len(batch) {
		return nil, fmt.Errorf("internal/build: %w: the embedder returned %d vectors for %d texts", core.ErrUnavailable, len(vectors), len(batch))
	}
	for i := range batch {
		batch[i].Vector = vectors[i]
	}
	return w.usable(batch)
}

// usable sets passages aside whose vector is zero, which says nothing; any other fault of a vector is an error.
func (w *writer) usable(batch []core.Candidate) ([]core.Candidate, error) {
	kept := batch[:0]
	for _, p := range batch {
		err := vec.Check(p.Vector, w.state.Dimension)
		switch {
		case errors.Is(err, core.ErrZero):
			w.report.Skipped = append(w.report.Skipped, Skipped{ID: p.ID, Reason: "zero vector: the model knows nothing in its text"})
		case err != nil:
			return nil, fmt.Errorf("internal/build: vector of passage %s: %w", p.ID, err)
		default:
			w.state.Dimension = len(p.Vector)
			kept = append(kept, p)
		}
	}
	return kept, nil
}
