package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/static"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/build"
	"github.com/georag/georag/internal/chunk"
)

func newIndex(s streams) *cobra.Command {
	parent := &cobra.Command{
		Use: "index", Short: "Fill a collection with passages", Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	parent.AddCommand(newIndexBuild(s), newIndexImport(s))
	return parent
}

// targetFlags say where passages go.
type targetFlags struct {
	configFlags
	stateFile string
	batch     int
	metric    string
	exact     bool
}

func (f *targetFlags) register(cmd *cobra.Command) {
	f.registerStore(cmd)
	cmd.Flags().StringVar(&f.stateFile, "state", "", "file that notes what is done (default: in the folder of an embedded index, else in the working folder)")
	cmd.Flags().IntVar(&f.batch, "batch", build.DefaultBatchSize, "passages in one batch")
	cmd.Flags().StringVar(&f.metric, "metric", string(core.MetricCosine), "metric of a collection that has to be created: cosine, dot, euclidean or manhattan")
	cmd.Flags().BoolVar(&f.exact, "exact", false, "create the collection for exhaustive search")
}

// check reports flags out of their range, also where the collection exists and they would not be read.
func (f *targetFlags) check() error {
	if f.batch < 1 {
		return usagef("--batch is %d, want 1 or more", f.batch)
	}
	metrics := []core.Metric{core.MetricCosine, core.MetricDot, core.MetricEuclidean, core.MetricManhattan}
	if !slices.Contains(metrics, core.Metric(f.metric)) {
		return usagef("--metric is %q, want one of %v", f.metric, metrics)
	}
	return nil
}

// target opens the store to write to.
func (f *targetFlags) target(c Config, bar *progress) (build.Target, io.Closer, error) {
	if err := f.check(); err != nil {
		return build.Target{}, nil, err
	}
	if err := c.Validate(); err != nil {
		return build.Target{}, nil, err
	}
	loader, closer, err := openLoader(c.Store)
	state := f.stateFile
	if state == "" {
		state = stateFileOf(c.Store)
	}
	return build.Target{
		Loader: loader, Metric: core.Metric(f.metric), Exact: f.exact, BatchSize: f.batch, StateFile: state, Progress: bar.set,
	}, closer, err
}

// stateFileOf is where the state of writing to a store is kept. Its name has the server in it: what one server holds
// says nothing about a collection of the same name on another.
func stateFileOf(c StoreConfig) string {
	var parts []string
	switch {
	case c.Flat != nil:
		return filepath.Join(c.Flat.Dir, "build.state")
	case c.Qdrant != nil:
		parts = slices.Concat([]string{"qdrant", c.Qdrant.Addr}, c.Qdrant.Addrs, []string{c.Qdrant.Collection})
	default:
		parts = []string{"milvus", c.Milvus.Addr, c.Milvus.Database, c.Milvus.Collection}
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return "georag-" + strings.NewReplacer("/", "_", `\`, "_", ":", "_").Replace(strings.Join(parts, "-")) + ".state"
}

// progress is a bar that learns its total on the way.
type progress struct {
	out io.Writer
	bar *progressbar.ProgressBar
}

func (p *progress) set(done, total int) {
	if p.bar == nil {
		p.bar = newProgress(p.out, total, "passages")
	}
	_ = p.bar.Set(done)
}

func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

func newIndexBuild(s streams) *cobra.Command {
	f := &targetFlags{}
	var inputs []string
	var tokens, overlap int
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Cut, embed and store your own files",
		Long: `Cut files into passages, embed them and write them to a store. Formats: ` + strings.Join(build.Formats(), ", ") + `.
Without an embedder in the configuration, the table of token vectors that is part of the program embeds: enough to try
things out, and the README says how good it is. A run that was interrupted goes on where it ended.`,
		Example: `  georag index build --input 'docs/*.md' --store flat:my-index
  georag select --passages my-index "how do I rotate the keys?"`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(inputs) == 0 {
				return usagef("--input is missing")
			}
			if tokens < 1 {
				return usagef("--tokens is %d, want 1 or more", tokens)
			}
			options := build.Options{Inputs: inputs}
			return f.build(cmd.Context(), s, options, chunk.Config{MaxTokens: tokens, Overlap: &overlap})
		},
	}
	f.register(cmd)
	cmd.Flags().StringArrayVar(&inputs, "input", nil, "file or pattern; repeatable")
	cmd.Flags().IntVar(&tokens, "tokens", chunk.DefaultMaxTokens, "longest passage, in tokens")
	cmd.Flags().IntVar(&overlap, "overlap", chunk.DefaultOverlap, "tokens that neighbouring passages of a section share, at most")
	return cmd
}

func (f *targetFlags) build(ctx context.Context, s streams, options build.Options, cut chunk.Config) error {
	c, err := f.read()
	if err != nil {
		return err
	}
	c.Embedder.Static = c.Embedder.OpenAI == nil
	bar := &progress{out: s.err}
	var closer io.Closer
	if options.Target, closer, err = f.target(c, bar); err != nil {
		return err
	}
	defer closer.Close()
	var open closers
	defer func() { _ = open.Close() }()
	var stage core.Stage
	if err := c.Models.wire(&stage, &open); err != nil {
		return err
	}
	options.Embedder = stage.Planner.Embedder
	table, err := static.NewEmbedder()
	if err != nil {
		return err
	}
	if options.Splitter, err = chunk.NewSplitter(cut, table.Tokenizer()); err != nil {
		return err
	}
	if c.Store.Qdrant != nil && c.Store.Qdrant.IDField == "" {
		options.IDs = build.IDsUUID
	}
	report, err := build.Build(ctx, options)
	bar.clear()
	writeReport(s.out, report, stage.Planner.Embedder.Model(), err)
	if err == nil && c.Embedder.Static && c.Store.Flat == nil {
		fmt.Fprintln(s.out, "questions in words need the same table: --set embedder.static=true --set writer.rules=true")
	}
	return err
}

// writeReport tells what was done. A run that failed has not counted; what it wrote is there for the next one.
func writeReport(out io.Writer, r build.Report, model string, failed error) {
	if failed != nil {
		if done := r.Written + r.Resumed; done > 0 {
			fmt.Fprintf(out, "%d passages are written; the same command goes on from there\n", done)
		}
		return
	}
	by := ""
	if model != "" {
		by = ", vectors by " + model
	}
	fmt.Fprintf(out, "%d passages, %d written, %d already there; the store holds %d%s\n", r.Passages, r.Written, r.Resumed, r.Count, by)
	if r.Stale > 0 {
		fmt.Fprintf(out, "%d passages of an earlier run are no longer in the inputs and still in the store\n", r.Stale)
	}
	for _, skipped := range r.Skipped {
		fmt.Fprintf(out, "skipped %s: %s\n", skipped.ID, skipped.Reason)
	}
}

func newIndexImport(s streams) *cobra.Command {
	f := &targetFlags{}
	var from string
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Copy a folder of passages.jsonl and passages.npy into a store",
		Long: `Copy a folder of passages with their vectors into a store, in batches, and count at the end. A run that was
interrupted goes on where it ended.`,
		Example: `  georag index import --passages DIR --store qdrant://localhost:6334/docs`,
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from == "" {
				return usagef("--passages is missing")
			}
			return f.importFolder(cmd.Context(), s, from)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&from, "passages", "", "folder to copy (required)")
	return cmd
}

func (f *targetFlags) importFolder(ctx context.Context, s streams, from string) error {
	c, err := f.read()
	if err != nil {
		return err
	}
	source, err := flat.Open(flat.Config{Dir: from})
	if err != nil {
		return err
	}
	defer source.Close()
	bar := &progress{out: s.err}
	target, closer, err := f.target(c, bar)
	if err != nil {
		return err
	}
	defer closer.Close()
	report, err := build.Import(ctx, build.ImportOptions{Target: target, Source: source, Name: from})
	bar.clear()
	writeReport(s.out, report, "", err)
	return err
}
