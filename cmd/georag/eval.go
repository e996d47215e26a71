package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/measure"
	"github.com/georag/georag/internal/durable"
	"github.com/georag/georag/internal/evaluate"
	"github.com/georag/georag/internal/questions"
)

// bootstrap is the one way every interval is made.
var bootstrap = measure.PairedBootstrap{Samples: 1000, Seed: 1}

// evalFlags are the inputs of `georag eval`.
type evalFlags struct {
	configFlags
	questions, json string
	selectors       []string
	presets         []string
}

// ownSelectors are compared where --selectors names none: all that need neither a model nor a server.
var ownSelectors = []string{"cosine", "mmr", "dpp", "facility", "georag", "adagres", "subq-max", "subq-avg", "rrf"}

func newEval(s streams) *cobra.Command {
	f := &evalFlags{}
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Compare selectors on questions whose gold passages are known",
		Long: `Compare selectors on questions whose gold passages are known. Every interval is the 95% percentile interval of
1,000 paired bootstrap samples over the questions. "select ms" is what georag itself adds: everything except
waiting for the store and for models.`,
		Example: `  georag eval --passages DIR --questions DIR --selectors cosine,mmr,georag --json out.json`,
		Args:    arguments(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd, s) },
	}
	f.register(cmd)
	f.without("selector")
	cmd.Flags().StringVar(&f.questions, "questions", "", "folder of questions.jsonl, questions.npy, subqueries.npy (required)")
	cmd.Flags().StringVar(&f.json, "json", "", "also write the rows to this file")
	cmd.Flags().StringSliceVar(&f.selectors, "selectors", ownSelectors, "selectors to compare")
	cmd.Flags().StringSliceVar(&f.presets, "presets", nil, "presets to compare; the default is the one of --preset")
	return cmd
}

func (f *evalFlags) run(cmd *cobra.Command, s streams) error {
	if f.questions == "" {
		return usagef("--questions is missing")
	}
	asked, err := questions.Open(f.questions)
	if err != nil {
		return fmt.Errorf("%w: %w", core.ErrInvalid, err)
	}
	if err := evaluate.CheckGold(asked); err != nil {
		return err
	}
	c, variants, err := f.variants()
	if err != nil {
		return err
	}
	stage, err := openStage(cmd.Context(), c)
	if err != nil {
		return err
	}
	defer stage.Store.Close()
	bar := newProgress(s.err, len(asked), "questions")
	scores, err := evaluate.Run(cmd.Context(), stage, asked, variants, func(done int) { _ = bar.Set(done) })
	_ = bar.Clear()
	if err != nil {
		return err
	}
	rows := evaluate.Rows(asked, variants, scores, 0, bootstrap)
	if !slices.Contains(f.selectors, "cosine") {
		rows = slices.DeleteFunc(rows, func(r evaluate.Row) bool { return r.Selector == "cosine" })
	}
	writeRows(s.out, rows)
	writeDegraded(s.out, variants, scores)
	if f.json == "" {
		return nil
	}
	return writeJSON(f.json, map[string]any{"rows": rows})
}

// variants are the selectors under each preset. Cosine, which the others are compared to, is always the first.
func (f *evalFlags) variants() (Config, []evaluate.Variant, error) {
	var first Config
	var variants []evaluate.Variant
	presets := f.presets
	if len(presets) == 0 {
		presets = []string{""}
	}
	selectors := append([]string{"cosine"}, f.selectors...)
	for _, preset := range presets {
		c, err := f.readPreset(preset)
		if err != nil {
			return first, nil, err
		}
		if first.Preset == "" {
			first = c
		}
		for i, selector := range selectors {
			if slices.Contains(selectors[:i], selector) {
				continue // cosine, again
			}
			settings := c.Settings
			settings.Selector = selector
			if err := settings.Validate(); err != nil {
				return first, nil, err
			}
			variants = append(variants, evaluate.Variant{Settings: settings})
		}
	}
	return first, variants, nil
}

// readPreset reads the configuration over a preset other than its own; "" is its own.
func (f *configFlags) readPreset(preset string) (Config, error) {
	if preset != "" {
		if err := f.command.Flags().Set("preset", preset); err != nil {
			return Config{}, usageError{err}
		}
	}
	return f.read()
}

// newProgress is a bar on a terminal and silent elsewhere.
func newProgress(out io.Writer, total int, unit string) *progressbar.ProgressBar {
	visible := false
	if file, ok := out.(*os.File); ok {
		visible = term.IsTerminal(int(file.Fd()))
	}
	return progressbar.NewOptions(total, progressbar.OptionSetWriter(out), progressbar.OptionSetVisibility(visible),
		progressbar.OptionSetDescription(unit), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true))
}

func writeRows(out io.Writer, rows []evaluate.Row) {
	for i, dataset := range datasetsOf(rows) {
		if i > 0 {
			fmt.Fprintln(out)
		}
		n := 0
		t := newTable(out, "selector", "preset", "all gold", "95% interval", "minus cosine", "gold recall", "redundancy", "coverage", "F_P", "select ms")
		for _, r := range rows {
			if r.Dataset != dataset {
				continue
			}
			n = r.N
			t.AppendRow(table.Row{strings.TrimSpace(r.Selector + " " + r.Variant), r.Preset, share(r.AllGold), interval(r.AllGoldCI), difference(r), share(r.GoldRecall),
				share(r.Redundancy), share(r.Coverage), share(r.DemandObjective), fmt.Sprintf("%.2f", r.SelectMsP50)})
		}
		fmt.Fprintf(out, "%s: %d questions, k = %d\n", dataset, n, rows[0].K)
		t.Render()
	}
}

func datasetsOf(rows []evaluate.Row) []string {
	var names []string
	for _, r := range rows {
		if !slices.Contains(names, r.Dataset) {
			names = append(names, r.Dataset)
		}
	}
	return names
}

func share(x float64) string { return fmt.Sprintf("%.3f", x) }

func interval(ci [2]float64) string { return fmt.Sprintf("%.2f to %.2f", ci[0], ci[1]) }

// difference leaves cosine's difference to itself out.
func difference(r evaluate.Row) string {
	if r.Selector == "cosine" {
		return ""
	}
	return fmt.Sprintf("%+.2f to %+.2f", r.AllGoldMinusCosineCI[0], r.AllGoldMinusCosineCI[1])
}

// writeDegraded tells which variants were degraded, how often, and why the first time.
func writeDegraded(out io.Writer, variants []evaluate.Variant, scores [][]evaluate.Score) {
	for v, variant := range variants {
		count, why := 0, core.Reason{}
		for _, score := range scores[v] {
			if len(score.Degraded) > 0 {
				if count == 0 {
					why = score.Degraded[0]
				}
				count++
			}
		}
		if count > 0 {
			fmt.Fprintf(out, "degraded: %s under %s on %d of %d questions; the first: %s: %s\n",
				variant.Settings.Selector, variant.Settings.Preset, count, len(scores[v]), why.Code, why.Detail)
		}
	}
}

// writeJSON replaces a file at once, so that a reader never sees half of it.
func writeJSON(file string, value any) error {
	return durable.WriteFile(file, func(w io.WriteSeeker) error {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(value)
	})
}
