package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/georag/georag/adapters/openai"
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
	presets, pools  []string
	ablate          bool
	duplicates      []string
	corrupt         []string
	half, trec      string
	sweep           string
}

// ownSelectors are compared where --selectors names none: all that need neither a model nor a server.
var ownSelectors = []string{"cosine", "mmr", "dpp", "facility", "georag", "adagres", "subq-max", "subq-avg", "rrf"}

func newEval(s streams) *cobra.Command {
	f := &evalFlags{}
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Compare selectors on questions whose gold passages are known",
		Long: `Compare selectors on questions whose gold passages are known. Every interval is the 95% percentile interval of
1,000 paired bootstrap samples over the questions, and p is corrected by Holm for the rows of a table. "select ms" is
what georag itself adds: everything except waiting for the store and for models.

With an answerer in the configuration, each selection's passages are given to that model and its answers are compared
with the questions' by exact match and F1.

--ablate instead changes one part of the method at a time. --duplicates and --corrupt make retrieval harder: near-
duplicates among the passages, and sub-queries that are missing, belong to other questions, or repeat each other.`,
		Example: `  georag eval --passages DIR --questions DIR --selectors cosine,mmr,georag --json out.json
  georag eval --passages DIR --questions DIR --ablate --preset paper
  georag eval --passages DIR --questions DIR --duplicates 0,20,40,60
  georag eval --passages DIR --questions DIR --K 20 --pool dense --sweep filter.name=none,ricci,kmeans`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, s) },
	}
	f.register(cmd)
	f.without("selector")
	flags := cmd.Flags()
	flags.StringVar(&f.questions, "questions", "", "folder of questions.jsonl, questions.npy, subqueries.npy (required)")
	flags.StringVar(&f.json, "json", "", "also write the rows to this file")
	flags.StringSliceVar(&f.selectors, "selectors", ownSelectors, "selectors to compare")
	flags.StringSliceVar(&f.presets, "presets", nil, "presets to compare; the default is the one of --preset")
	flags.StringSliceVar(&f.pools, "pools", nil, "pools to compare; the default is the preset's or that of --pool")
	flags.BoolVar(&f.ablate, "ablate", false, "change one part of the method at a time")
	flags.StringSliceVar(&f.duplicates, "duplicates", nil, "percentages of near-duplicates to add to the passages, one table each")
	flags.StringVar(&f.trec, "trec", "", "also write qrels.txt and a TREC run of each selector into this folder")
	flags.StringVar(&f.half, "half", "", "use every other question only, first or second: choose settings on one half, report on the other")
	flags.StringVar(&f.sweep, "sweep", "", "compare the values of one setting, as KEY=VALUE,VALUE,... (filter.tau_percentile=25,50,75)")
	flags.StringSliceVar(&f.corrupt, "corrupt", nil, "corrupt half of the sub-queries: drop, shuffle, duplicate; one table each")
	return cmd
}

func (f *evalFlags) run(cmd *cobra.Command, s streams) error {
	if err := f.check(); err != nil {
		return err
	}
	asked, err := f.asked()
	if err != nil {
		return err
	}
	c, variants, err := f.variants()
	if err != nil {
		return err
	}
	stage, open, err := openStage(cmd.Context(), c)
	if err != nil {
		return err
	}
	defer open.Close()
	if err := warnOfAbsentGold(cmd.Context(), s.err, stage.Store, asked); err != nil {
		return err
	}
	e := evaluation{s: s, stage: stage, asked: asked, trec: f.trec}
	if c.Answerer != nil {
		answerer, err := openai.NewAnswerer(*c.Answerer)
		if err != nil {
			return err
		}
		defer answerer.Close()
		e.answer = answerer.Answer
	}
	switch {
	case f.ablate:
		err = e.ablate(cmd.Context(), c.Settings)
	case len(f.duplicates) > 0 || len(f.corrupt) > 0:
		err = e.stress(cmd.Context(), variants, f.duplicates, f.corrupt)
	default:
		err = e.compare(cmd.Context(), "", variants, slices.Contains(f.selectors, "cosine"))
	}
	if err != nil || f.json == "" {
		return err
	}
	return writeJSON(f.json, map[string]any{"rows": e.rows})
}

func (f *evalFlags) asked() ([]questions.Question, error) {
	if f.questions == "" {
		return nil, usagef("--questions is missing")
	}
	asked, err := questions.Open(f.questions)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", core.ErrInvalid, err)
	}
	if err := evaluate.CheckGold(asked); err != nil {
		return nil, err
	}
	switch f.half {
	case "":
		return asked, nil
	case "first":
		return evaluate.Half(asked, 0), nil
	case "second":
		return evaluate.Half(asked, 1), nil
	}
	return nil, usagef("--half %s: want first or second", f.half)
}

// variants are the selectors under each preset, pool and value swept. Cosine, which the others are compared to, is the
// first, under the first of each.
func (f *evalFlags) variants() (Config, []evaluate.Variant, error) {
	var first Config
	var variants []evaluate.Variant
	swept, err := f.swept()
	if err != nil {
		return first, nil, err
	}
	for _, preset := range orOne(f.presets) {
		for _, pool := range orOne(f.pools) {
			for _, override := range swept {
				c, err := f.readAs(preset, pool, override)
				if err != nil {
					return first, nil, err
				}
				if variants == nil {
					first = c
				}
				name := strings.TrimSpace(override + ifAny(" pool ", pool))
				for _, selector := range f.compared() {
					variant := evaluate.Variant{Name: name, Settings: c.Settings}
					variant.Settings.Selector = selector
					if err := variant.Settings.Validate(); err != nil {
						return first, nil, err
					}
					variants = append(variants, variant)
				}
			}
		}
	}
	return first, variants, nil
}

// swept lists the settings that --sweep goes through, as --set has them.
func (f *evalFlags) swept() ([]string, error) {
	if f.sweep == "" {
		return orOne(nil), nil
	}
	key, values, ok := strings.Cut(f.sweep, "=")
	if !ok || values == "" {
		return nil, usagef("--sweep %s: want KEY=VALUE,VALUE,...", f.sweep)
	}
	for _, s := range settingFlags {
		if s.key == key && f.command.Flags().Changed(s.flag) {
			return nil, usagef("--sweep %s and --%s set the same", f.sweep, s.flag)
		}
	}
	var swept []string
	for value := range strings.SplitSeq(values, ",") {
		swept = append(swept, key+"="+value)
	}
	return swept, nil
}

// compared lists the selectors, cosine first.
func (f *evalFlags) compared() []string {
	selectors := []string{"cosine"}
	for _, selector := range f.selectors {
		if selector = strings.TrimSpace(selector); !slices.Contains(selectors, selector) {
			selectors = append(selectors, selector)
		}
	}
	return selectors
}

// orOne is a list, or one empty name.
func orOne(names []string) []string {
	if len(names) == 0 {
		return []string{""}
	}
	return names
}

// readAs reads the configuration with another preset and pool than its own, and one more --set; "" leaves each as it
// is.
func (f *configFlags) readAs(preset, pool, override string) (Config, error) {
	for name, value := range map[string]string{"preset": preset, "pool": pool} {
		if value == "" {
			continue
		}
		if err := f.command.Flags().Set(name, value); err != nil {
			return Config{}, usageError{err}
		}
	}
	changed := *f
	if override != "" {
		changed.overrides = append(slices.Clone(f.overrides), override)
	}
	return changed.read()
}

// evaluation is one run of the command and the rows it has made.
type evaluation struct {
	s     streams
	stage core.Stage
	asked []questions.Question
	rows  []evaluate.Row
	trec  string // folder for TREC runs, "" for none
	// answer asks a model, where one is configured.
	answer func(ctx context.Context, question string, passages []string) (string, error)
}

// scores runs variants under a progress bar.
func (e *evaluation) scores(ctx context.Context, plan evaluate.Plan) ([][]evaluate.Score, error) {
	bar := newProgress(e.s.err, len(plan.Questions), "questions")
	plan.Progress = func(done int) { _ = bar.Set(done) }
	scores, err := evaluate.Run(ctx, plan)
	_ = bar.Clear()
	return scores, err
}

// compare prints the variants beside cosine, the first of them, which is left out where it was not asked for.
func (e *evaluation) compare(ctx context.Context, condition string, variants []evaluate.Variant, withCosine bool) error {
	return e.compareOn(ctx, e.plan(variants), condition, withCosine)
}

// plan evaluates variants as everything is; a caller may make it harder.
func (e *evaluation) plan(variants []evaluate.Variant) evaluate.Plan {
	return evaluate.Plan{Stage: e.stage, Questions: e.asked, Variants: variants, Answer: e.answer}
}

func (e *evaluation) compareOn(ctx context.Context, plan evaluate.Plan, condition string, withCosine bool) error {
	scores, err := e.scores(ctx, plan)
	if err != nil {
		return err
	}
	rows := evaluate.Rows(plan, scores, 0, bootstrap)
	if !withCosine {
		rows = slices.DeleteFunc(rows, func(r evaluate.Row) bool { return r.Selector == "cosine" })
	}
	for i := range rows {
		rows[i].Condition = condition
	}
	writeRows(e.s.out, rows)
	writeDegraded(e.s.out, plan.Variants, scores)
	if e.trec != "" {
		if err := writeTREC(e.trec, plan.Questions, plan.Variants, scores); err != nil {
			return err
		}
	}
	e.rows = append(e.rows, rows...)
	return nil
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

// writeJSON replaces a file at once, so that a reader never sees half of it.
func writeJSON(file string, value any) error {
	return durable.WriteFile(file, func(w io.WriteSeeker) error {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(value)
	})
}
