package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/georag/georag/core"
)

// writer sends passages to a store in batches, leaving out those that an earlier run wrote.
type writer struct {
	target  Target
	total   int
	state   *state
	report  Report
	embed   func(context.Context, []string) ([][]float32, error) // nil where passages bring their vectors
	model   string                                               // that made the vectors, where it is known
	created bool
	textIDs bool

	seen  map[core.ID]struct{}
	batch []core.Candidate
	notes []entry // of batch, same order
}

func newWriter(ctx context.Context, t Target, model string, total int) (*writer, error) {
	s, err := readState(t.StateFile, model)
	if err != nil {
		return nil, err
	}
	w := &writer{target: t, total: total, state: s, seen: map[core.ID]struct{}{}}
	w.report.Skipped = []Skipped{}
	if len(s.done) == 0 {
		return w, nil
	}
	// A collection that was dropped or emptied since is written anew, whatever the state file says.
	count, err := w.count(ctx)
	if errors.Is(err, core.ErrNotFound) || err == nil && count < int64(len(s.done)) {
		return w, s.forget()
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	w.progress()
	return w, nil
}

// add takes one passage, and writes the batch where that fills it.
func (w *writer) add(ctx context.Context, p core.Candidate) error {
	sum, err := digest(p)
	if err != nil {
		return err
	}
	if _, twice := w.seen[p.ID]; twice {
		return fmt.Errorf("internal/build: %w: id %s appears twice", core.ErrInvalid, p.ID)
	}
	w.seen[p.ID] = struct{}{}
	w.report.Passages++
	if w.state.done[p.ID] == sum {
		w.report.Resumed++
		return nil
	}
	w.batch, w.notes = append(w.batch, p), append(w.notes, entry{ID: p.ID, Digest: sum})
	if len(w.batch) < cmp.Or(w.target.BatchSize, DefaultBatchSize) {
		return nil
	}
	return w.flush(ctx)
}

// flush embeds and writes the batch, and notes it.
func (w *writer) flush(ctx context.Context) error {
	if len(w.batch) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(w.target.BatchTimeout, DefaultBatchTimeout))
	defer cancel()
	digests := make(map[core.ID]entry, len(w.notes))
	for _, e := range w.notes {
		digests[e.ID] = e
	}
	ready := w.usable
	if w.embed != nil {
		ready = func(batch []core.Candidate) ([]core.Candidate, error) { return w.embedBatch(ctx, batch) }
	}
	batch, err := ready(w.batch)
	if err != nil {
		return err
	}
	w.batch, w.notes = w.batch[:0], w.notes[:0]
	if len(batch) > 0 {
		if err := w.create(ctx, batch[0]); err != nil {
			return err
		}
		if err := w.target.Loader.Upsert(ctx, batch); err != nil {
			return fmt.Errorf("internal/build: write passages %s to %s: %w", batch[0].ID, batch[len(batch)-1].ID, err)
		}
	}
	notes := make([]entry, len(batch))
	for i, p := range batch {
		notes[i] = digests[p.ID]
	}
	w.report.Written += len(batch)
	w.progress()
	return w.state.note(notes)
}

// create makes the collection, once, by what its first passage is like.
func (w *writer) create(ctx context.Context, first core.Candidate) error {
	if w.created {
		return nil
	}
	_, w.textIDs = first.ID.Text()
	spec := core.CollectionSpec{
		Dimension: len(first.Vector),
		Metric:    cmp.Or(w.target.Metric, core.MetricCosine),
		TextIDs:   w.textIDs,
		SampleID:  first.ID,
		Exact:     w.target.Exact,
		Model:     w.model,
	}
	if err := w.target.Loader.Create(ctx, spec); err != nil {
		return fmt.Errorf("internal/build: create the collection: %w", err)
	}
	w.created = true
	return nil
}

func (w *writer) progress() {
	if w.target.Progress != nil {
		w.target.Progress(w.report.Resumed+w.report.Written+len(w.report.Skipped), w.total)
	}
}

// stop ends a run that failed; what was written stays noted.
func (w *writer) stop(err error) (Report, error) { return w.report, errors.Join(err, w.state.close()) }

// finish writes the last batch and counts.
func (w *writer) finish(ctx context.Context) (Report, error) {
	if err := w.flush(ctx); err != nil {
		return w.stop(err)
	}
	w.progress()
	w.report.Dimension = w.state.Dimension
	for id := range w.state.done {
		if _, wanted := w.seen[id]; !wanted {
			w.report.Stale++
		}
	}
	if len(w.state.done) == 0 {
		return w.stop(fmt.Errorf("internal/build: %w: none of the %d passages has a usable vector", core.ErrInvalid, w.report.Passages))
	}
	count, err := w.count(ctx)
	if err != nil {
		return w.stop(err)
	}
	w.report.Count = count
	if want := int64(len(w.state.done)); count < want {
		return w.stop(fmt.Errorf("internal/build: %w: it holds %d, %d were written", ErrCount, count, want))
	}
	return w.report, w.state.close()
}

func (w *writer) count(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(w.target.BatchTimeout, DefaultBatchTimeout))
	defer cancel()
	count, err := w.target.Loader.Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("internal/build: count the passages: %w", err)
	}
	return count, nil
}
