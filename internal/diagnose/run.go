package diagnose

import (
	"context"
	"errors"
	"fmt"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/witness"
)

// diagnosis is one run.
type diagnosis struct {
	cfg         Config
	queries     Queries
	stage       core.Stage // cfg.Stage with the store watched
	watch       *witness.Store
	description core.Description
	sample      *sample
	summary     *summary
}

// Run diagnoses the index with the queries. A query that gives no selection is reported and the run goes on; a store
// or model that cannot be reached ends it, as the context does, with everything so far in the state file: the same
// call goes on from there. The error wraps a sentinel of package core or the context's error.
func Run(ctx context.Context, queries Queries, cfg Config) (*Report, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if queries.Len() == 0 {
		return nil, fmt.Errorf("internal/diagnose: %w: there are no queries", core.ErrInvalid)
	}
	cfg = cfg.withDefaults()
	d := &diagnosis{cfg: cfg, queries: queries, stage: cfg.Stage, watch: &witness.Store{Store: cfg.Stage.Store}}
	d.stage.Store = d.watch
	d.sample = newSample(queries.Len(), cfg.ExactQueries)
	d.summary = newSummary(queries.Len())
	if err := d.describe(ctx); err != nil {
		return nil, err
	}
	if err := d.askAll(ctx); err != nil {
		return nil, err
	}
	report := d.summary.report(cfg.Stage.Settings.Filter.Name)
	report.Index, report.Settings = d.description, cfg.Stage.Settings
	var err error
	if report.Health, err = d.checkIndex(ctx); err != nil {
		return nil, err
	}
	if report.Detail, err = d.detail(ctx); err != nil {
		return nil, err
	}
	report.Advice = advise(report, cfg.Expect)
	return report, nil
}

// describe asks the store what it holds, where it can tell.
func (d *diagnosis) describe(ctx context.Context) error {
	d.description.Count = -1
	describer, ok := d.cfg.Stage.Store.(core.Describer)
	if !ok {
		return nil
	}
	var err error
	if d.description, err = describer.Describe(ctx); err != nil {
		return fmt.Errorf("internal/diagnose: describe: %w", err)
	}
	return nil
}

// askAll makes the records that the state file does not have yet.
func (d *diagnosis) askAll(ctx context.Context) (err error) {
	of, err := d.identity()
	if err != nil {
		return err
	}
	total, done := d.queries.Len(), make(map[int]bool)
	kept, err := openState(d.cfg.State, of, func(r record) {
		if !done[r.Row] && r.Row < total {
			done[r.Row] = true
			d.take(r)
		}
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.close()) }()
	d.cfg.Progress(PhaseQueries, len(done), total)
	for i := range total {
		if err := ctx.Err(); err != nil {
			return err
		}
		q, err := d.queries.At(i)
		if err != nil {
			return fmt.Errorf("internal/diagnose: query %d: %w", i+1, err)
		}
		d.sample.keep(i, q.Vector)
		if done[i] {
			continue
		}
		r, err := d.ask(ctx, i, q)
		if err != nil {
			return err
		}
		if err := kept.add(r); err != nil {
			return err
		}
		done[i] = true
		d.take(r)
		d.cfg.Progress(PhaseQueries, len(done), total)
	}
	return nil
}

// ask makes the record of one query. Its error ends the run.
func (d *diagnosis) ask(ctx context.Context, row int, q Query) (record, error) {
	e, err := d.examine(ctx, q)
	switch {
	case err == nil:
		d.sample.keep(row, e.query.Vector)
		return e.record(row, d.cfg.Stage.Settings.K, d.sample.wants(row)), nil
	case ctx.Err() != nil:
		return record{}, ctx.Err()
	case errors.Is(err, core.ErrUnavailable), errors.Is(err, core.ErrUnauthorized):
		return record{}, fmt.Errorf("internal/diagnose: query %s: %w", q.ID, err)
	}
	return record{Row: row, ID: q.ID, Error: err.Error()}, nil
}

// take adds a record to the figures.
func (d *diagnosis) take(r record) {
	if d.sample.wants(r.Row) {
		d.sample.found(r.Row, r.Nearest)
	}
	d.summary.add(r)
}
