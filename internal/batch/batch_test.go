package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/core"
	"github.com/georag/georag/demo"
	"github.com/georag/georag/internal/jsonl"
	"github.com/georag/georag/internal/questions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo answers a question with the passage of the same name, later questions sooner, and fails for "bad".
type echo struct{ running, most atomic.Int32 }

func (e *echo) Select(ctx context.Context, q core.Query) (core.Selection, error) {
	now := e.running.Add(1)
	defer e.running.Add(-1)
	for most := e.most.Load(); now > most && !e.most.CompareAndSwap(most, now); most = e.most.Load() {
	}
	time.Sleep(time.Duration(len(q.Text)%5) * 100 * time.Microsecond)
	if q.Text == "bad" {
		return core.Selection{}, core.ErrUnavailable
	}
	return core.Selection{Items: []core.Selected{{Candidate: core.Candidate{ID: core.StringID(q.Text)}}}}, ctx.Err()
}

// asked writes n questions; the one numbered bad fails.
func asked(n, bad int) string {
	var b strings.Builder
	for i := range n {
		text := fmt.Sprint("text", strings.Repeat("!", n-i))
		if i == bad {
			text = "bad"
		}
		fmt.Fprintf(&b, "{\"id\":%d,\"question\":%q}\n", i, text)
	}
	return b.String()
}

func output(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "out.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func content(t *testing.T, f *os.File) []byte {
	t.Helper()
	data, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAnswersComeInTheOrderOfTheQuestions(t *testing.T) {
	out, selector := output(t), new(echo)
	lines, err := Job{Selector: selector, Workers: 8}.Run(t.Context(), strings.NewReader(asked(200, -1)), "in", out)
	if err != nil || lines != 200 {
		t.Fatal(lines, err)
	}
	for i, line := range bytes.Split(bytes.TrimSpace(content(t, out)), []byte("\n")) {
		var a answer
		if err := json.Unmarshal(line, &a); err != nil || a.ID != fmt.Sprint(i) || len(a.Passages) != 1 {
			t.Fatalf("line %d: %s, %v", i+1, line, err)
		}
	}
	if most := selector.most.Load(); most < 2 || most > 8 {
		t.Errorf("%d questions at once, want 2 to 8", most)
	}
}

// A run that is interrupted anywhere, even within a line, and goes on ends with the bytes of an uninterrupted one.
func TestInterruptedRunGoesOn(t *testing.T) {
	in, whole := asked(30, -1), output(t)
	if _, err := (Job{Selector: new(echo)}).Run(t.Context(), strings.NewReader(in), "in", whole); err != nil {
		t.Fatal(err)
	}
	want := content(t, whole)
	for cut := 0; cut <= len(want); cut += 7 {
		out := output(t)
		if _, err := out.Write(want[:cut]); err != nil {
			t.Fatal(err)
		}
		lines, err := Job{Selector: new(echo), Workers: 3}.Run(t.Context(), strings.NewReader(in), "in", out)
		if err != nil || lines != 30 || !bytes.Equal(content(t, out), want) {
			t.Fatalf("cut at %d: %d lines, %v", cut, lines, err)
		}
	}
}

func TestFailedQuestionEndsTheRunAfterTheAnswersBeforeIt(t *testing.T) {
	out := output(t)
	lines, err := Job{Selector: new(echo), Workers: 4}.Run(t.Context(), strings.NewReader(asked(50, 20)), "in", out)
	if lines != 20 || !errors.Is(err, core.ErrUnavailable) || !strings.Contains(err.Error(), "line 21, question 20") {
		t.Fatalf("%d lines, %v", lines, err)
	}
	if got := bytes.Count(content(t, out), []byte("\n")); got != 20 {
		t.Errorf("%d lines written", got)
	}
	lines, err = Job{Selector: new(echo), KeepGoing: true}.Run(t.Context(), strings.NewReader(asked(50, 20)), "in", out)
	if lines != 50 || err != nil || bytes.Count(content(t, out), []byte(`{"id":"20","error":`)) != 1 {
		t.Errorf("%d lines, %v", lines, err)
	}
}

func TestCancelledRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := output(t)
	job := Job{Selector: new(echo), Workers: 2, Progress: func(lines int) {
		if lines == 10 {
			cancel()
		}
	}}
	lines, err := job.Run(ctx, strings.NewReader(asked(500, -1)), "in", out)
	if !errors.Is(err, context.Canceled) || lines < 10 || lines == 500 {
		t.Fatalf("%d lines, %v", lines, err)
	}
	if got := bytes.Count(content(t, out), []byte("\n")); got != lines {
		t.Errorf("%d lines written, said %d", got, lines)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		in, out string
		want    error
	}{
		"no id":                   {`{"question":"x"}`, "", jsonl.ErrFormat},
		"nothing asked":           {`{"id":1}`, "", jsonl.ErrFormat},
		"no JSON":                 {"{", "", jsonl.ErrFormat},
		"other questions":         {asked(3, -1), "{\"id\":\"7\"}\n", ErrResume},
		"more answers than asked": {asked(1, -1), "{\"id\":\"0\"}\n{\"id\":\"1\"}\n", ErrResume},
		"no answers":              {asked(1, -1), "hello\n", ErrResume},
	} {
		out := output(t)
		if _, err := out.WriteString(c.out); err != nil {
			t.Fatal(err)
		}
		if _, err := (Job{Selector: new(echo)}).Run(t.Context(), strings.NewReader(c.in), "in", out); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if got := string(content(t, out)); got != c.out {
			t.Errorf("%s: the output became %q", name, got)
		}
	}
	if _, err := (Job{}).Run(t.Context(), strings.NewReader(""), "in", output(t)); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("without a selector: %v", err)
	}
}

// The demonstration's questions get the selections of the stage itself.
func TestStageAnswersABatch(t *testing.T) {
	store, err := flat.OpenFS(demo.Files, "data", flat.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	known, err := questions.OpenFS(demo.Files, "data")
	if err != nil {
		t.Fatal(err)
	}
	var in bytes.Buffer
	for _, q := range known {
		line := map[string]any{"id": q.ID, "question": q.Text, "vector": q.Vector}
		var subQueries []map[string]any
		for _, s := range q.Query().SubQueries {
			subQueries = append(subQueries, map[string]any{"text": s.Text, "vector": s.Vector})
		}
		line["subqueries"] = subQueries
		if err := json.NewEncoder(&in).Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	out, stage := output(t), &core.Stage{Store: store}
	if _, err := (Job{Selector: stage}).Run(t.Context(), &in, "in", out); err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.Split(bytes.TrimSpace(content(t, out)), []byte("\n")) {
		var got answer
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		want, err := stage.Select(t.Context(), known[i].Query())
		if err != nil {
			t.Fatal(err)
		}
		for p, id := range want.IDs() {
			if got.ID != known[i].ID || len(got.Passages) != len(want.Items) || got.Passages[p].ID != id {
				t.Fatalf("question %s: %s, want %v", known[i].ID, line, want.IDs())
			}
		}
	}
}
