package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/pick"
)

// widestID is how much of an identifier a table shows, more than a UUID; --json has all of it.
const widestID = 60

// newTable is the look of every table: no borders, so that columns can be cut and pasted.
func newTable(out io.Writer, header ...any) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.Options{SeparateHeader: true}
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(table.Row(header))
	return t
}

// writeSelection prints the chosen passages, and with explain how they came to be chosen.
func writeSelection(out io.Writer, s core.Selection, explain bool) {
	t := newTable(out, "#", "id", "passage", "cosine", "covers")
	for i, item := range s.Items {
		t.AppendRow(table.Row{i + 1, shorten(item.ID.String(), widestID), shorten(item.PayloadText(), 60), fmt.Sprintf("%.3f", item.Cosine), numbers(item.Covers)})
	}
	t.Render()
	fmt.Fprintf(out, "\npreset %s, selector %s (%s), %d candidates of pool %s%s; %s\n", s.Trace.Preset, s.Trace.Selector, s.Trace.Mode,
		s.Trace.Candidates, s.Trace.Pool, models(s.Trace.Models), spent(s.Timings))
	if explain {
		writeSubQueries(out, s.Trace)
		writeSteps(out, s)
		writeFilter(out, s.Trace.Filter)
	}
	for _, words := range s.Trace.Conversions {
		fmt.Fprintln(out, "scores:", words)
	}
	for _, reason := range s.Trace.Degraded {
		fmt.Fprintf(out, "degraded: %s: %s\n", reason.Code, plain(reason.Detail))
	}
}

func writeSubQueries(out io.Writer, trace core.Trace) {
	if len(trace.SubQueries) == 0 {
		return
	}
	fmt.Fprintln(out, "\nSub-queries: overlap is the share of their hits among the question's nearest passages,\nnovelty the share of their hits that no other sub-query has.")
	t := newTable(out, "#", "sub-query", "overlap", "novelty", "weight", "")
	for j, q := range trace.SubQueries {
		if !q.Kept {
			t.AppendRow(table.Row{j, shorten(q.Text, 60), "", "", "", or(q.Error, "left out by max-min")})
			continue
		}
		note := q.Error
		if q.Drifted {
			note = strings.TrimSpace("drifted " + note)
		}
		t.AppendRow(table.Row{j, shorten(q.Text, 60), fmt.Sprintf("%.2f", q.Overlap), fmt.Sprintf("%.2f", q.Novelty), fmt.Sprintf("%.3f", q.Weight), note})
	}
	t.Render()
}

func writeSteps(out io.Writer, s core.Selection) {
	fmt.Fprintln(out, "\nGreedy steps: gain = gate × fall of the transport cost, where both apply.")
	t := newTable(out, "#", "id", "rule", "gate", "fall of W", "gain", "runner-up", "its gain", "newly covers")
	for i, step := range s.Trace.Steps {
		runnerUp, itsGain := "", ""
		if !step.RunnerUp.IsZero() {
			runnerUp, itsGain = shorten(step.RunnerUp.String(), widestID), fmt.Sprintf("%.5f", step.RunnerUpGain)
		}
		gain := fmt.Sprintf("%.5f", step.Gain)
		if step.Rule == pick.RuleColdStart { // the nearest passage, whatever it gains
			gain, itsGain = "", ""
		}
		t.AppendRow(table.Row{i + 1, shorten(step.ID.String(), widestID), step.Rule, fmt.Sprintf("%.3f", step.Gate), fmt.Sprintf("%.5f", step.DeltaW),
			gain, runnerUp, itsGain, numbers(step.NewlyCovers)})
	}
	t.Render()
}

func writeFilter(out io.Writer, f *core.FilterTrace) {
	if f == nil {
		return
	}
	fmt.Fprintf(out, "\nFilter %s dropped %d candidates", f.Name, len(f.Dropped))
	if len(f.Saved) > 0 {
		fmt.Fprintf(out, " and kept %v only because a sub-query needs them", f.Saved)
	}
	if f.Note != "" {
		fmt.Fprintf(out, " (%s)", f.Note)
	}
	fmt.Fprintln(out, ".")
	writeLooks(out, f)
}

// writeLooks prints what the filter went by, where it could be applied.
func writeLooks(out io.Writer, f *core.FilterTrace) {
	if len(f.Looked) == 0 || f.Looked[0].Length == nil {
		return
	}
	length := "distance to the question's cluster"
	if f.Name == core.FilterRicci {
		length = fmt.Sprintf("edge to the question (kept to %g)", f.Eta)
	}
	t := newTable(out, "near", "id", length, "community", "")
	for i, look := range f.Looked {
		t.AppendRow(table.Row{i + 1, look.ID, fmt.Sprintf("%.4f", *look.Length), *look.Community, verdict(f, look)})
	}
	t.Render()
}

func verdict(f *core.FilterTrace, look core.FilterLook) string {
	switch {
	case slices.Contains(f.Saved, look.ID):
		return "kept for a sub-query"
	case look.Kept:
		return "kept"
	}
	return "dropped"
}

func models(m core.ModelNames) string {
	var named []string
	for _, part := range []struct{ role, name string }{{"embedder", m.Embedder}, {"sub-queries by", m.Writer}, {"reranker", m.Reranker}} {
		if part.name != "" {
			named = append(named, part.role+" "+part.name)
		}
	}
	if len(named) == 0 {
		return ""
	}
	return ", " + strings.Join(named, ", ")
}

// spent tells the store's time apart from the stage's own.
func spent(t core.Timings) string {
	own := t.Total - t.Store - t.Plan
	parts := fmt.Sprintf("store %s, selection %s", milliseconds(t.Store), milliseconds(own))
	if t.Plan > time.Millisecond {
		parts = "models " + milliseconds(t.Plan) + ", " + parts
	}
	return parts
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// numbers lists positions as people read them: "0 2 5", or "–" for none.
func numbers(list []int) string {
	if len(list) == 0 {
		return "–"
	}
	return strings.Trim(fmt.Sprint(list), "[]")
}

// shorten cuts text to a width in characters, on one line.
func shorten(s string, width int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:width-1]), " ") + "…"
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
