package build

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/chunk"
)

// memory is a store that counts, and fails where it is told to.
type memory struct {
	spec     core.CollectionSpec // without the sample, which differs from run to run
	sample   core.ID
	passages map[core.ID]core.Candidate
	upserts  int
	failAt   int // number of the upsert that fails; 0: none
	lose     bool
}

var errBroken = errors.New("connection lost")

func newMemory() *memory { return &memory{passages: map[core.ID]core.Candidate{}} }

func (m *memory) Create(_ context.Context, spec core.CollectionSpec) error {
	m.sample, spec.SampleID = spec.SampleID, core.ID{}
	if m.spec != (core.CollectionSpec{}) && m.spec != spec {
		return fmt.Errorf("%w: %+v, not %+v", core.ErrInvalid, m.spec, spec)
	}
	m.spec = spec
	return nil
}

func (m *memory) Upsert(_ context.Context, passages []core.Candidate) error {
	if m.upserts++; m.upserts == m.failAt {
		return errBroken
	}
	for _, p := range passages {
		if !m.lose || len(m.passages) == 0 {
			p.Payload = maps.Clone(p.Payload)
			m.passages[p.ID] = p
		}
	}
	return nil
}

func (m *memory) Count(context.Context) (int64, error) {
	if m.spec == (core.CollectionSpec{}) {
		return 0, core.ErrNotFound
	}
	return int64(len(m.passages)), nil
}

func (m *memory) Scan(_ context.Context, _ core.Scope, _ int, yield func(core.Candidate) bool) error {
	for _, id := range slices.SortedFunc(maps.Keys(m.passages), core.CompareID) {
		if !yield(m.passages[id]) {
			return nil
		}
	}
	return nil
}

func (m *memory) ids() (ids []string) {
	for id := range m.passages {
		ids = append(ids, id.String())
	}
	slices.Sort(ids)
	return ids
}

// counting embeds a text as its length and remembers how often it was asked for which text.
type counting struct {
	texts map[string]int
	model string
}

func newCounting() *counting { return &counting{texts: map[string]int{}, model: "counting"} }

func (c *counting) EmbedQueries(ctx context.Context, texts []string) ([][]float32, error) {
	return c.EmbedPassages(ctx, texts)
}

func (c *counting) EmbedPassages(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		c.texts[text]++
		vectors[i] = []float32{float32(len(text)), 1}
		if strings.Contains(text, "☃") {
			vectors[i] = []float32{0, 0}
		}
	}
	return vectors, nil
}

func (c *counting) Model() string { return c.model }

type fields struct{}

func (fields) Count(text string) int { return len(strings.Fields(text)) }

// folder writes files and makes it the working directory.
func folder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func options(t testing.TB, loader core.Loader, embedder core.Embedder, inputs ...string) Options {
	t.Helper()
	overlap := 0
	splitter, err := chunk.NewSplitter(chunk.Config{MaxTokens: 16, Overlap: &overlap}, fields{})
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Target:   Target{Loader: loader, BatchSize: 2, StateFile: "state.jsonl"},
		Inputs:   inputs,
		Embedder: embedder,
		Splitter: splitter,
	}
}

var corpus = map[string]string{
	"docs/guide.md":   "# Guide\n\nStart here.\n\n## Install\n\n" + "One is the first part. Two is the next part. Three is the third part. Four is the last part. Five is too many. Six as well.",
	"docs/notes.txt":  "\ufeffFirst note.\n\nSecond note.",
	"docs/data.jsonl": "{\"id\":\"d1\",\"title\":\"T\",\"text\":\"A line.\",\"year\":9007199254740993}\n{\"content\":\"No id.\"}\n",
}

func TestBuild(t *testing.T) {
	folder(t, corpus)
	m, e := newMemory(), newCounting()
	o := options(t, m, e, "docs/*.md", "docs/*.txt", "docs/*.jsonl", "docs/guide.md")
	var done, total int
	o.Progress = func(d, all int) {
		if d < done {
			t.Errorf("progress goes from %d to %d", done, d)
		}
		done, total = d, all
	}
	report, err := Build(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"d1", "docs/data.jsonl:2", "docs/guide.md#0", "docs/guide.md#1", "docs/guide.md#2", "docs/guide.md#3", "docs/notes.txt#0"}
	if got := m.ids(); !slices.Equal(got, want) {
		t.Errorf("ids %q, want %q", got, want)
	}
	if report.Files != 3 || report.Passages != 7 || report.Written != 7 || report.Count != 7 || report.Dimension != 2 {
		t.Errorf("report %+v", report)
	}
	if done != 7 || total != 7 {
		t.Errorf("progress ends at %d of %d", done, total)
	}
	if m.spec != (core.CollectionSpec{Dimension: 2, Metric: core.MetricCosine, TextIDs: true, Model: "counting"}) {
		t.Errorf("spec %+v", m.spec)
	}
	if m.sample != core.StringID(want[0]) {
		t.Errorf("sample %s, want the first passage", m.sample)
	}
	p := m.passages[core.StringID("d1")]
	if p.Payload["title"] != "T" || p.Payload["text"] != "A line." || p.Payload["year"] != int64(9007199254740993) || p.Payload["source"] != "docs/data.jsonl" {
		t.Errorf("payload %v", p.Payload)
	}
	if p := m.passages[core.StringID("docs/guide.md#1")]; p.Payload["title"] != "Guide > Install" {
		t.Errorf("payload %v", p.Payload)
	}
}

func TestIDs(t *testing.T) {
	lines := `{"id":7,"text":"seven"}` + "\n" + `{"id":8,"text":"eight"}` + "\n"
	folder(t, map[string]string{"a.jsonl": lines, "b.txt": "text", "twice.jsonl": lines,
		"u.jsonl": `{"id":"a3bb189e-8bf9-3962-ae5e-2c1b5c3b9f1a","text":"x"}`})
	m := newMemory()
	if _, err := Build(t.Context(), options(t, m, newCounting(), "a.jsonl")); err != nil || m.spec.TextIDs {
		t.Errorf("integers: error %v, spec %+v", err, m.spec)
	}
	m = newMemory()
	o := options(t, m, newCounting(), "a.jsonl", "b.txt")
	o.StateFile = ""
	if _, err := Build(t.Context(), o); err != nil || !m.spec.TextIDs || !slices.Equal(m.ids(), []string{"7", "8", "b.txt#0"}) {
		t.Errorf("mixed: error %v, spec %+v, ids %q", err, m.spec, m.ids())
	}
	o.Inputs = []string{"a.jsonl", "twice.jsonl"}
	if _, err := Build(t.Context(), o); !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), "twice.jsonl") {
		t.Errorf("an id of two files: %v", err)
	}
	m = newMemory()
	o = options(t, m, newCounting(), "b.txt", "u.jsonl")
	o.StateFile, o.IDs = "", IDsUUID
	if _, err := Build(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if got := m.ids(); len(got) != 2 || !slices.Contains(got, "a3bb189e-8bf9-3962-ae5e-2c1b5c3b9f1a") {
		t.Errorf("uuids %q", got)
	}
	for id, p := range m.passages {
		if _, err := uuid.Parse(id.String()); err != nil {
			t.Errorf("id %s: %v", id, err)
		}
		if p.Payload["text"] == "text" && p.Payload["passage"] != "b.txt#0" {
			t.Errorf("payload %v", p.Payload)
		}
	}
}

func TestResume(t *testing.T) {
	folder(t, corpus)
	m, e := newMemory(), newCounting()
	o := options(t, m, e, "docs/*")
	m.failAt = 3
	if report, err := Build(t.Context(), o); !errors.Is(err, errBroken) || report.Written != 4 {
		t.Fatalf("error %v, report %+v", err, report)
	}
	// A crash in the middle of a line of the state file.
	state, err := os.OpenFile("state.jsonl", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := state.WriteString(`{"id":"docs/gui`); err != nil {
		t.Fatal(err)
	}
	state.Close()
	report, err := Build(t.Context(), o)
	if err != nil || report.Resumed != 4 || report.Written != 3 || report.Count != 7 {
		t.Fatalf("error %v, report %+v", err, report)
	}
	// Only the batch that failed is embedded again.
	if n := slices.Sorted(maps.Values(e.texts)); !slices.Equal(n, []int{1, 1, 1, 1, 1, 2, 2}) {
		t.Errorf("embedded %v times", n)
	}
	report, err = Build(t.Context(), o)
	if err != nil || report.Resumed != 7 || report.Written != 0 {
		t.Errorf("third run: error %v, report %+v", err, report)
	}
}

func TestChangedFiles(t *testing.T) {
	folder(t, corpus)
	m, e := newMemory(), newCounting()
	o := options(t, m, e, "docs/*")
	if _, err := Build(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("docs/guide.md", []byte("# Guide\n\nStart there."), 0o644); err != nil {
		t.Fatal(err)
	}
	report, err := Build(t.Context(), o)
	if err != nil || report.Written != 1 || report.Resumed != 3 || report.Stale != 3 || report.Count != 7 {
		t.Errorf("error %v, report %+v", err, report)
	}
	if got := m.passages[core.StringID("docs/guide.md#0")].Payload["text"]; got != "Start there." {
		t.Errorf("text %q", got)
	}
}

func TestDroppedCollectionIsWrittenAnew(t *testing.T) {
	folder(t, corpus)
	e := newCounting()
	if _, err := Build(t.Context(), options(t, newMemory(), e, "docs/*")); err != nil {
		t.Fatal(err)
	}
	report, err := Build(t.Context(), options(t, newMemory(), e, "docs/*"))
	if err != nil || report.Written != 7 || report.Count != 7 {
		t.Errorf("error %v, report %+v", err, report)
	}
}

func TestStateOfAnotherModel(t *testing.T) {
	folder(t, corpus)
	m, e := newMemory(), newCounting()
	o := options(t, m, e, "docs/*")
	if _, err := Build(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	e.model = "other"
	if _, err := Build(t.Context(), o); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), "counting") {
		t.Errorf("error %v", err)
	}
	if err := os.WriteFile("state.jsonl", []byte("{\"version\":1,\"model\":\"other\"}\nrubbish\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(t.Context(), o); !errors.Is(err, ErrState) {
		t.Errorf("error %v", err)
	}
}

func TestPassagesWithoutVector(t *testing.T) {
	folder(t, map[string]string{"a.jsonl": "{\"id\":\"snow\",\"text\":\"☃\"}\n{\"id\":\"b\",\"text\":\"b\"}\n", "only.txt": "☃"})
	m := newMemory()
	report, err := Build(t.Context(), options(t, m, newCounting(), "a.jsonl"))
	if err != nil || len(report.Skipped) != 1 || report.Skipped[0].ID != core.StringID("snow") || report.Count != 1 {
		t.Errorf("error %v, report %+v", err, report)
	}
	o := options(t, newMemory(), newCounting(), "only.txt")
	o.StateFile = ""
	if _, err := Build(t.Context(), o); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("nothing but snow: %v", err)
	}
}

func TestCountCheck(t *testing.T) {
	folder(t, corpus)
	m := newMemory()
	m.lose = true
	if _, err := Build(t.Context(), options(t, m, newCounting(), "docs/*")); !errors.Is(err, ErrCount) {
		t.Errorf("error %v", err)
	}
}

func TestRefusals(t *testing.T) {
	folder(t, map[string]string{"a.pdf": "%PDF", "b.docx": "PK", "c.txt": "ok", "latin1.txt": "caf\xe9", "empty.md": "\n", "[x].txt": "bracket",
		"bad.jsonl": "{\"text\":\"a\"}\n{\"title\":\"b\"}\n", "sub/d.md": "d"})
	for _, c := range []struct {
		inputs []string
		want   error
		text   string
	}{
		{[]string{"*.pdf", "b.docx", "c.txt"}, ErrFormat, "a.pdf, b.docx; supported are files ending in .md, .markdown, .txt, .jsonl"},
		{[]string{"sub"}, ErrFormat, "sub (a folder)"},
		{[]string{"latin1.txt"}, ErrFormat, "latin1.txt"},
		{[]string{"none/*.md"}, core.ErrNotFound, "none/*.md"},
		{[]string{"**/*.md"}, core.ErrInvalid, "**"},
		{[]string{"[.txt"}, core.ErrInvalid, "[.txt"},
		{[]string{"bad.jsonl"}, nil, "bad.jsonl:2"},
		{[]string{"empty.md"}, core.ErrInvalid, "no text"},
		{nil, core.ErrInvalid, "no input"},
	} {
		_, err := Build(t.Context(), options(t, newMemory(), newCounting(), c.inputs...))
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%q: error %v, want %v … %s", c.inputs, err, c.want, c.text)
		}
	}
	m := newMemory()
	if _, err := Build(t.Context(), options(t, m, newCounting(), "[x].txt")); err != nil || !slices.Equal(m.ids(), []string{"[x].txt#0"}) {
		t.Errorf("a file named like a pattern: error %v, ids %q", err, m.ids())
	}
	for _, o := range []Options{{}, {Target: Target{Loader: m}}, {Target: Target{Loader: m, BatchSize: -1}}} {
		if _, err := Build(t.Context(), o); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%+v: error %v", o, err)
		}
	}
	o := options(t, m, newCounting(), "c.txt")
	o.IDs = "numbers"
	if _, err := Build(t.Context(), o); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("ids: error %v", err)
	}
}

func TestImport(t *testing.T) {
	t.Chdir(t.TempDir())
	source, target := newMemory(), newMemory()
	for i := range 9 {
		id := core.IntID(int64(i))
		source.passages[id] = core.Candidate{ID: id, Vector: []float32{float32(i), 1}, Payload: map[string]any{"text": fmt.Sprint(i)}}
	}
	target.failAt = 3
	o := ImportOptions{Target: Target{Loader: target, BatchSize: 2, StateFile: "state", Metric: core.MetricDot}, Source: source, Name: "memory"}
	if _, err := Import(t.Context(), o); !errors.Is(err, errBroken) {
		t.Fatalf("error %v", err)
	}
	report, err := Import(t.Context(), o)
	if err != nil || report.Resumed != 4 || report.Written != 5 || report.Count != 9 {
		t.Fatalf("error %v, report %+v", err, report)
	}
	for id, want := range source.passages {
		if got := target.passages[id]; !slices.Equal(got.Vector, want.Vector) || !maps.Equal(got.Payload, want.Payload) {
			t.Errorf("passage %s is %+v, want %+v", id, got, want)
		}
	}
	if target.spec != (core.CollectionSpec{Dimension: 2, Metric: core.MetricDot}) {
		t.Errorf("spec %+v", target.spec)
	}
	source.passages[core.IntID(3)].Vector[0] = 42
	if report, err := Import(t.Context(), o); err != nil || report.Written != 1 {
		t.Errorf("a changed vector: error %v, report %+v", err, report)
	}
	mixed := core.StringID("text")
	source.passages[mixed] = core.Candidate{ID: mixed, Vector: []float32{1, 1}}
	if _, err := Import(t.Context(), o); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("mixed ids: %v", err)
	}
	source.passages = map[core.ID]core.Candidate{mixed: {ID: mixed}}
	if _, err := Import(t.Context(), o); !errors.Is(err, core.ErrNoVectors) {
		t.Errorf("no vector: %v", err)
	}
	source.passages = nil
	if _, err := Import(t.Context(), o); !errors.Is(err, core.ErrEmptyIndex) {
		t.Errorf("empty source: %v", err)
	}
}

// TestAnyInterruption: wherever and however often writing fails, repeating it ends with every passage, each embedded
// once more than it had failed at most.
func TestAnyInterruption(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir := t.TempDir()
		n := rapid.IntRange(1, 30).Draw(r, "passages")
		var lines strings.Builder
		for i := range n {
			fmt.Fprintf(&lines, "{\"id\":%d,\"text\":\"passage %d\"}\n", i, i)
		}
		file := filepath.Join(dir, "in.jsonl")
		if err := os.WriteFile(file, []byte(lines.String()), 0o644); err != nil {
			r.Fatal(err)
		}
		m, e := newMemory(), newCounting()
		o := options(t, m, e, file)
		o.StateFile, o.BatchSize = filepath.Join(dir, "state"), rapid.IntRange(1, 7).Draw(r, "batch")
		failures := rapid.IntRange(0, 3).Draw(r, "failures")
		for range failures {
			m.upserts, m.failAt = 0, rapid.IntRange(1, 10).Draw(r, "fail at")
			if _, err := Build(t.Context(), o); err != nil && !errors.Is(err, errBroken) {
				r.Fatal(err)
			}
		}
		m.failAt = 0
		report, err := Build(t.Context(), o)
		if err != nil || report.Count != int64(n) || report.Written+report.Resumed != n {
			r.Fatalf("error %v, report %+v", err, report)
		}
		for text, times := range e.texts {
			if times > failures+1 {
				r.Fatalf("%q embedded %d times", text, times)
			}
		}
	})
}
