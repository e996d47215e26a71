package diagnose_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/diagnose"
)

// filtering turns a filter on.
func filtering(name string, protect bool) func(*diagnose.Config) {
	return func(cfg *diagnose.Config) {
		cfg.Stage.Settings = core.DefaultPreset()
		cfg.Stage.Settings.Filter.Name, cfg.Stage.Settings.Filter.Protect = name, protect
		cfg.SkipScan = true
	}
}

// TestFilterIsShown counts the filter's work by hand from the selections themselves.
func TestFilterIsShown(t *testing.T) {
	store, queries := demonstration(t)
	for _, name := range []string{core.FilterRicci, core.FilterKMeans} {
		change := filtering(name, true)
		report := run(t, store, queries, change)
		var looked, saved, kept float64
		var cfg diagnose.Config
		change(&cfg)
		stage := core.Stage{Store: store, Settings: cfg.Stage.Settings}
		for _, q := range queries {
			selection, err := stage.Select(t.Context(), q.Query)
			if err != nil {
				t.Fatal(err)
			}
			here := 0.0
			for _, look := range selection.Trace.Filter.Looked {
				if look.Kept {
					here++
				}
			}
			n := float64(len(selection.Trace.Filter.Looked))
			looked, kept, saved = looked+n, kept+here/n, saved+float64(len(selection.Trace.Filter.Saved))
		}
		f, n := report.Filter, float64(len(queries))
		if f == nil || f.Name != name || math.Abs(f.Looked-looked/n) > 1e-9 || math.Abs(f.Kept.Mean-kept/n) > 1e-9 || math.Abs(f.Saved-saved/n) > 1e-9 || f.Communities < 1 {
			t.Fatalf("%s: %+v; counted %v looked at, %v kept, %v saved", name, f, looked/n, kept/n, saved/n)
		}
		requireShown(t, report)
	}
	if report := run(t, store, queries, filtering(core.FilterNone, false)); report.Filter != nil || report.Detail.Filter != nil {
		t.Errorf("no filter ran: %+v, %+v", report.Filter, report.Detail.Filter)
	}
}

// requireShown requires both forms of the report to tell what the filter went by.
func requireShown(t *testing.T, report *diagnose.Report) {
	t.Helper()
	var text, page bytes.Buffer
	if err := report.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := report.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	f := report.Detail.Filter
	if f == nil || len(f.Looks) != 20 {
		t.Fatalf("featured filter %+v", f)
	}
	for _, out := range []string{text.String(), page.String()} {
		for _, words := range []string{"Filter " + f.Name, "What filter " + f.Name + " saw", fmt.Sprintf("%.3f", *f.Looks[19].Length)} {
			if !strings.Contains(out, words) {
				t.Errorf("%q is missing", words)
			}
		}
	}
	start := strings.Index(page.String(), `aria-label="How filter `+f.Name)
	if start < 0 {
		t.Fatal("no chart of the filter")
	}
	chart, _, _ := strings.Cut(page.String()[start:], "</svg>")
	dropped := 0
	for _, look := range f.Looks {
		if !look.Kept {
			dropped++
		}
	}
	// One outline more in the legend.
	if outlines := strings.Count(chart, `fill="#fff" stroke="`); outlines != dropped+1 {
		t.Errorf("%s: %d outlines for %d dropped", f.Name, outlines, dropped)
	}
	if line := strings.Contains(chart, "η = 1"); line != (f.Name == core.FilterRicci) {
		t.Errorf("%s: a line at η: %v", f.Name, line)
	}
}
