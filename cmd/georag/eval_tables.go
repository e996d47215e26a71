package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/evaluate"
)

// writeRows prints one table a dataset.
func writeRows(out io.Writer, rows []evaluate.Row) {
	for i, dataset := range datasetsOf(rows) {
		if i > 0 {
			fmt.Fprintln(out)
		}
		n := 0
		t := newTable(out, "selector", "preset", "k", "all gold", "95% interval", "minus cosine", "p", "gold recall", "peaks", "redundancy", "coverage", "F_P", "select ms")
		for _, r := range rows {
			if r.Dataset != dataset {
				continue
			}
			n = r.N
			t.AppendRow(table.Row{strings.TrimSpace(r.Selector + " " + r.Variant), r.Preset, r.K, share(r.AllGold), interval(r.AllGoldCI),
				difference(r), significance(r), share(r.GoldRecall), share(r.AllPeaks), share(r.Redundancy), share(r.Coverage),
				share(r.DemandObjective), fmt.Sprintf("%.2f", r.SelectMsP50)})
		}
		fmt.Fprintf(out, "%s%s: %d questions\n", dataset, ifAny(", ", rows[0].Condition), n)
		t.Render()
		writeFiltered(out, dataset, rows)
		writeAnswers(out, dataset, rows)
	}
}

// writeFiltered prints what the filters left of the candidates and of the gold passages. Every selector gets the same
// candidates, so one line stands for all of them.
func writeFiltered(out io.Writer, dataset string, rows []evaluate.Row) {
	t := newTable(out, "filter", "looked at", "kept", "95% interval", "gold looked at", "gold kept", "95% interval", "gold lost, 95%", "of as many nearest", "all gold looked at", "all gold kept", "95% interval", "told nothing")
	shown := map[string]bool{}
	for _, r := range rows {
		name := strings.TrimSpace(r.Preset + " " + r.Variant)
		if r.Dataset != dataset || r.Filtered == nil || shown[name] {
			continue
		}
		shown[name] = true
		t.AppendRow(table.Row{name, fmt.Sprintf("%.1f", r.FilterLooked), fmt.Sprintf("%.1f", r.FilterKept), fmt.Sprintf("%.1f to %.1f", r.FilterKeptCI[0], r.FilterKeptCI[1]),
			share(r.GoldLooked), share(r.GoldKept), interval(r.GoldKeptCI), interval(r.GoldLostCI), share(r.GoldNearest),
			share(r.AllGoldLooked), share(r.AllGoldKept), interval(r.AllGoldKeptCI), share(r.FilterFellBack)})
	}
	if len(shown) > 0 {
		fmt.Fprintf(out, "\nwhat the filter left, %s\n", dataset)
		t.Render()
	}
}

// writeAnswers prints how well a model answered from each selection, where one did.
func writeAnswers(out io.Writer, dataset string, rows []evaluate.Row) {
	if rows[0].Answers == nil {
		return
	}
	t := newTable(out, "selector", "preset", "exact match", "95% interval", "F1", "95% interval")
	for _, r := range rows {
		if r.Dataset == dataset {
			exact, f1 := r.Answers.ExactMatch, r.Answers.F1
			t.AppendRow(table.Row{strings.TrimSpace(r.Selector + " " + r.Variant), r.Preset, share(exact.Mean),
				interval([2]float64{exact.Low, exact.High}), share(f1.Mean), interval([2]float64{f1.Low, f1.High})})
		}
	}
	fmt.Fprintf(out, "\nanswers from the selected passages, %s\n", dataset)
	t.Render()
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

// difference and significance leave what the others are compared to out.
func difference(r evaluate.Row) string {
	if r.Baseline {
		return ""
	}
	return fmt.Sprintf("%+.2f to %+.2f", r.AllGoldMinusCosineCI[0], r.AllGoldMinusCosineCI[1])
}

func significance(r evaluate.Row) string {
	if r.Baseline {
		return ""
	}
	return fmt.Sprintf("%.3f", r.P)
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
			fmt.Fprintf(out, "degraded: %s%s under %s on %d of %d questions; the first: %s: %s\n",
				variant.Settings.Selector, ifAny(" ", variant.Name), variant.Settings.Preset, count, len(scores[v]), why.Code, plain(why.Detail))
		}
	}
}

// writeGroup prints one table of an ablation, overall and by dataset.
func writeGroup(out io.Writer, name string, rows []evaluate.Row) {
	datasets := datasetsOf(rows)
	header := []any{name}
	for _, dataset := range datasets {
		header = append(header, dataset)
	}
	t := newTable(out, append(header, "minus as it is", "p", "gold recall", "coverage", "F_P", "select ms")...)
	for i := 0; i < len(rows); i += len(datasets) {
		line := table.Row{rows[i].Variant}
		for _, r := range rows[i : i+len(datasets)] {
			line = append(line, share(r.AllGold))
		}
		all := rows[i+len(datasets)-1]
		t.AppendRow(append(line, difference(all), significance(all), share(all.GoldRecall), share(all.Coverage),
			share(all.DemandObjective), fmt.Sprintf("%.2f", all.SelectMsP50)))
	}
	t.Render()
	fmt.Fprintln(out)
}
