package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/durable"
	"github.com/georag/georag/internal/evaluate"
	"github.com/georag/georag/internal/questions"
	"github.com/georag/georag/internal/trec"
)

// trecMeasures are reported where --measures names none.
var trecMeasures = []string{"P@5", "R@5", "nDCG@5", "AP", "RR"}

func newTREC(s streams) *cobra.Command {
	var names []string
	cmd := &cobra.Command{
		Use:     "trec QRELS RUN",
		Short:   "Measure a TREC run as trec_eval does",
		Long:    `Measure a run against judgements, over all judged queries (trec_eval -c). Measures: P@k, R@k, nDCG@k, AP, RR.`,
		Example: `  georag eval --passages DIR --questions DIR --trec runs && georag trec runs/qrels.txt runs/georag-default.run`,
		Args:    arguments(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error {
			qrels, err := readTREC(args[0], trec.ReadQrels)
			if err != nil {
				return err
			}
			run, err := readTREC(args[1], trec.ReadRun)
			if err != nil {
				return err
			}
			t := newTable(s.out, "measure", "mean", "queries")
			for _, name := range names {
				measure, err := trec.ParseMeasure(name)
				if err != nil {
					return usagef("--measures: %w", err)
				}
				values := measure.EvaluateAll(qrels, run)
				t.AppendRow(table.Row{measure, fmt.Sprintf("%.4f", trec.Mean(values)), len(values)})
			}
			t.Render()
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&names, "measures", trecMeasures, "measures to report")
	return cmd
}

func readTREC[T any](file string, read func(io.Reader, string) (T, error)) (T, error) {
	var nothing T
	in, err := os.Open(file)
	if err != nil {
		return nothing, err
	}
	defer in.Close()
	content, err := read(in, file)
	if err != nil {
		return nothing, fmt.Errorf("%w: %w", core.ErrInvalid, err)
	}
	return content, nil
}

// writeTREC writes the judgements, and one run for each variant.
func writeTREC(dir string, asked []questions.Question, variants []evaluate.Variant, scores [][]evaluate.Score) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	qrels := trec.Qrels{}
	for _, q := range asked {
		for _, gold := range q.Gold {
			qrels.Judge(q.ID, gold.String(), 1)
		}
	}
	if err := durable.WriteFile(filepath.Join(dir, "qrels.txt"), func(w io.WriteSeeker) error { return qrels.Write(w) }); err != nil {
		return err
	}
	for v, variant := range variants {
		run := trec.Run{}
		for i, q := range asked {
			var documents []string
			for _, id := range scores[v][i].Selection.IDs() {
				documents = append(documents, id.String())
			}
			run[q.ID] = trec.FromRanking(documents)
		}
		tag := strings.NewReplacer(" ", "-", "+", "-").Replace(strings.TrimSpace(variant.Settings.Selector + "-" + variant.Settings.Preset + ifAny("-", variant.Name)))
		file := filepath.Join(dir, tag+".run")
		if err := durable.WriteFile(file, func(w io.WriteSeeker) error { return run.Write(w, tag) }); err != nil {
			return err
		}
	}
	return nil
}
