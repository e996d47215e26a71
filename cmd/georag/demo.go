package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/core"
	"github.com/georag/georag/core/measure"
	"github.com/georag/georag/demo"
	"github.com/georag/georag/internal/evaluate"
	"github.com/georag/georag/internal/questions"
)

// demoQuestion is shown in full where none is named.
const demoQuestion = "q-voting-rights"

func newDemo(s streams) *cobra.Command {
	var shown string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Compare cosine with georag on a small corpus that is part of the program",
		Long: `Compare cosine top-5 with georag top-5 on 155 short passages and 12 questions with real vectors
(all-MiniLM-L6-v2), all part of the program: no network, no service, no file.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := flat.OpenFS(demo.Files, "data", flat.Config{})
			if err != nil {
				return err
			}
			defer store.Close()
			asked, err := questions.OpenFS(demo.Files, "data")
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(asked, func(q questions.Question) bool { return q.ID == shown }) {
				return usagef("--question %s: want one of %s", shown, strings.Join(demoIDs(asked), ", "))
			}
			cosine, georag := core.DefaultPreset(), core.DefaultPreset()
			cosine.Selector = "cosine"
			variants := []evaluate.Variant{{Settings: cosine}, {Settings: georag}}
			scores, err := evaluate.Run(cmd.Context(), evaluate.Plan{Stage: core.Stage{Store: store}, Questions: asked, Variants: variants})
			if err != nil {
				return err
			}
			writeDemoQuestion(s.out, shown, asked, scores)
			writeDemoSummary(s.out, asked, scores)
			return nil
		},
	}
	cmd.Flags().StringVar(&shown, "question", demoQuestion, "id of the question to show in full")
	return cmd
}

func demoIDs(asked []questions.Question) []string {
	ids := make([]string, len(asked))
	for i, q := range asked {
		ids[i] = q.ID
	}
	return ids
}

func writeDemoQuestion(out io.Writer, id string, asked []questions.Question, scores [][]evaluate.Score) {
	i := slices.IndexFunc(asked, func(q questions.Question) bool { return q.ID == id })
	question, cosine, georag := asked[i], scores[0][i], scores[1][i]
	fmt.Fprintf(out, "%s?\n\n", strings.TrimSuffix(question.Text, "?"))
	t := newTable(out, "", "cosine top-5", "", "georag top-5", "")
	for rank := range max(len(cosine.Selection.Items), len(georag.Selection.Items)) {
		t.AppendRow(append(append(table.Row{rank + 1}, demoPick(question, cosine, rank)...), demoPick(question, georag, rank)...))
	}
	t.Render()
	fmt.Fprintln(out, "\n* holds part of the answer")
	fmt.Fprintln(out)
	writeDemoCoverage(out, cosine.Selection, georag.Selection)
	t = newTable(out, "", "answer parts found", "sub-queries covered", "mean pairwise cosine", "selection")
	for v, name := range []string{"cosine", "georag"} {
		s := scores[v][i]
		t.AppendRow(table.Row{name, fmt.Sprintf("%.0f of %d", s.GoldRecall*float64(len(question.Gold)), len(question.Gold)),
			fmt.Sprintf("%.0f%%", 100*s.Coverage), fmt.Sprintf("%.2f", s.Redundancy), milliseconds(s.Select)})
	}
	t.Render()
	fmt.Fprintln(out)
}

// demoPick is one passage of a selection and a mark where it holds part of the answer.
func demoPick(q questions.Question, s evaluate.Score, rank int) table.Row {
	if rank >= len(s.Selection.Items) {
		return table.Row{"", ""}
	}
	item, mark := s.Selection.Items[rank], ""
	if slices.Contains(q.Gold, item.ID) {
		mark = "*"
	}
	title, _ := item.Payload["title"].(string)
	return table.Row{shorten(title, 38), mark}
}

// writeDemoCoverage shows which of the kept sub-queries each selection covers, and by which of its passages.
func writeDemoCoverage(out io.Writer, cosine, georag core.Selection) {
	t := newTable(out, "sub-query, covered by passage", "cosine", "georag")
	for j, q := range georag.Trace.SubQueries {
		if q.Kept {
			t.AppendRow(table.Row{shorten(q.Text, 66), coveredBy(cosine, j), coveredBy(georag, j)})
		}
	}
	t.Render()
	fmt.Fprintln(out)
}

// coveredBy lists the ranks, from 1, of the passages that cover sub-query j.
func coveredBy(s core.Selection, j int) string {
	var ranks []int
	for rank, item := range s.Items {
		if slices.Contains(item.Covers, j) {
			ranks = append(ranks, rank+1)
		}
	}
	return numbers(ranks)
}

func writeDemoSummary(out io.Writer, asked []questions.Question, scores [][]evaluate.Score) {
	fmt.Fprintln(out, "All questions, cosine → georag:")
	t := newTable(out, "question", "answer parts found", "sub-queries covered")
	for i, q := range asked {
		c, g := scores[0][i], scores[1][i]
		t.AppendRow(table.Row{shorten(q.Text, 76), fmt.Sprintf("%.0f%% → %.0f%%", 100*c.GoldRecall, 100*g.GoldRecall),
			fmt.Sprintf("%.0f%% → %.0f%%", 100*c.Coverage, 100*g.Coverage)})
	}
	t.Render()
	times := evaluate.Column(scores[1], func(s evaluate.Score) float64 { return float64(s.Select) })
	fmt.Fprintf(out, "\ngeorag's own time, median of %d questions: %s\n", len(asked), milliseconds(time.Duration(measure.Quantile(times, 0.5))))
	fmt.Fprintln(out, "The questions were written to have several sides, and some sub-queries name part of the answer: the README has\nthe figures on real questions.")
	fmt.Fprintln(out, "Next: georag demo --question ID for another question, georag select --help for your own index.")
}
