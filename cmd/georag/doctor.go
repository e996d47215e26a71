package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

func newDoctor(s streams) *cobra.Command {
	f := &configFlags{}
	var tenant string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Connect to the configured store and models, and tell what is there and what to change",
		Args:  arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.read()
			if err != nil {
				return err
			}
			stage, open, err := openStage(cmd.Context(), c)
			if err != nil {
				return err
			}
			defer open.Close()
			examination := &examination{out: s.out, stage: stage, scope: core.Scope{Tenant: tenant}}
			return examination.run(cmd.Context())
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&tenant, "tenant", "", "tenant to search in, where the store has a tenant key")
	return cmd
}

// errUnwell: the doctor found something that keeps selections from working.
var errUnwell = errors.New("something has to be changed")

// unwell is errUnwell with its cause, which was printed already and tells the exit code.
type unwell struct{ cause error }

func (unwell) Error() string   { return errUnwell.Error() }
func (u unwell) Unwrap() error { return u.cause }

// examination prints what it finds line by line, so that a step that hangs until its deadline shows where.
type examination struct {
	out    io.Writer
	stage  core.Stage
	scope  core.Scope
	ill    error // nil: well
	sample core.Candidate
	d      core.Description
}

func (e *examination) run(ctx context.Context) error {
	for _, step := range []func(context.Context) bool{e.describe, e.fetch, e.search} {
		if !step(ctx) {
			break // what follows needs it
		}
	}
	e.embed(ctx)
	e.write(ctx)
	e.imagine(ctx)
	e.rerank(ctx)
	e.contradict(ctx)
	if e.ill != nil {
		return e.ill
	}
	fmt.Fprintln(e.out, "all well")
	return nil
}

func (e *examination) line(name, format string, values ...any) {
	fmt.Fprintf(e.out, "%-14s %s\n", name, fmt.Sprintf(format, values...))
}

// change says what keeps the stage from working and what to do.
func (e *examination) change(err error, format string, values ...any) bool {
	if e.ill == nil {
		e.ill = unwell{cmp.Or(err, errUnwell)} // the first trouble decides the exit code
	}
	if err != nil {
		e.line("problem", "%v", err)
	}
	e.line("change", format, values...)
	return false
}

// describe connects.
func (e *examination) describe(ctx context.Context) bool {
	describer, ok := e.stage.Store.(core.Describer)
	if !ok {
		return true
	}
	start := time.Now()
	d, err := describer.Describe(ctx)
	if err != nil {
		return e.change(err, "%s", remedy(err))
	}
	e.d = d
	e.line("store", "%s (described in %s)", d.Store, milliseconds(time.Since(start)))
	e.line("collection", "%s", d.Collection)
	e.line("vectors", "%s, dimension %d, metric %s%s", strings.Join(d.Vectors, ", "), d.Dimension, d.Metric, ifAny(", by ", d.Model))
	e.line("index", "%s", or(d.Index, "not told"))
	e.line("passages", "%d, ids are %s, sample %s", d.Count, d.IDKind, d.SampleID)
	e.line("payload", "%s", or(strings.Join(d.Payload, ", "), "none"))
	if d.Count == 0 {
		return e.change(nil, "the collection is empty: georag index import or georag index build fills it")
	}
	return true
}

// fetch asks for the sample with its vector.
func (e *examination) fetch(ctx context.Context) bool {
	if e.d.SampleID.IsZero() {
		return true
	}
	start := time.Now()
	found, err := e.stage.Store.Fetch(ctx, core.FetchRequest{IDs: []core.ID{e.d.SampleID}, Scope: e.scope})
	if err != nil {
		return e.change(err, "%s", remedy(err))
	}
	if len(found) == 0 {
		return e.change(nil, "the sample %s cannot be fetched in this scope: check the tenant and the partitions", e.d.SampleID)
	}
	e.sample = found[0]
	if err := vec.Check(e.sample.Vector, e.d.Dimension); err != nil {
		return e.change(err, "the stored vector does not come back as it should: georag selects by stored vectors, so the collection has to keep them")
	}
	e.line("stored vector", "comes back, norm %.3f (fetched in %s)", vec.Norm(e.sample.Vector), milliseconds(time.Since(start)))
	if e.sample.PayloadText() == "" {
		e.line("note", "the payload has no title, text, content or page_content: rerankers and people will see no text")
	}
	return true
}

// search looks for the sample by its own vector, as a selection does.
func (e *examination) search(ctx context.Context) bool {
	if e.sample.Vector == nil {
		return true
	}
	settings := e.stage.Settings
	start := time.Now()
	found, err := e.stage.Store.Search(ctx, core.SearchRequest{
		Vector: e.sample.Vector, K: settings.Candidates, SubQueries: [][]float32{e.sample.Vector}, Depth: settings.SubQueries.Depth, Scope: e.scope,
	})
	if err != nil {
		return e.change(err, "%s", remedy(err))
	}
	e.line("search", "%d candidates and 1 sub-query in %s", len(found.Candidates), milliseconds(time.Since(start)))
	for _, call := range found.Calls {
		e.line("", "%s %s", call.Name, milliseconds(call.Duration))
	}
	for _, words := range found.Conversions {
		e.line("scores", "%s", words)
	}
	if len(found.Candidates) > 0 && found.Candidates[0].Vector == nil {
		return e.change(core.ErrNoVectors, "the search returns no vectors: georag selects by stored vectors, so the collection has to keep them")
	}
	return true
}

// remedy is what to change after an error.
func remedy(err error) string {
	for _, r := range []struct {
		cause error
		words string
	}{
		{core.ErrUnauthorized, "the credentials are refused: name the right key by api_key_env or api_key_file"},
		{core.ErrNotFound, "a name does not exist: the message lists those that do"},
		{core.ErrEmptyScope, "the store has a tenant key: name a tenant with --tenant"},
		{core.ErrEmptyIndex, "nothing is in this scope: check the tenant, the partitions and the collection"},
		{core.ErrUnsupported, "this server or collection cannot do it: the message says why"},
		{core.ErrDimension, "the dimensions differ: use the model that made the collection"},
		{context.DeadlineExceeded, "the server does not answer in time: check the address and the port, or raise the timeout"},
		{core.ErrUnavailable, "the server cannot be reached: check the address, the port, TLS and whether it runs"},
	} {
		if errors.Is(err, r.cause) {
			return r.words
		}
	}
	return "the message says what is wrong"
}

func ifAny(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}
