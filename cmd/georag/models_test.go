package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/georag/georag/internal/modeltest"
)

// hung is far beyond every deadline below: a command that is still running then has missed its own.
const hung = 30 * time.Second

// outcome is what a command line came to.
type outcome struct {
	code     int
	out, err string
}

func (o outcome) String() string {
	return fmt.Sprintf("exit code %d\nout: %s\nerr: %s", o.code, o.out, o.err)
}

// all is everything the command printed.
func (o outcome) all() string { return o.out + o.err }

// georag runs the program itself, in a folder of the test, as a person does.
func georag(t *testing.T, environ []string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hung)
	defer cancel()
	var out, complaints bytes.Buffer
	command := exec.CommandContext(ctx, "georag", args...)
	command.Dir, command.Env = t.TempDir(), append(os.Environ(), environ...)
	command.Stdout, command.Stderr = &out, &complaints
	err := command.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("georag %q: %v, %v", args, err, ctx.Err())
	}
	return outcome{command.ProcessState.ExitCode(), out.String(), complaints.String()}
}

// servers are the handlers of the models of one configuration; nil is a port where nobody listens.
type servers struct{ embeddings, chat, scores http.HandlerFunc }

func healthy(r *modeltest.Replay) servers { return servers{r.Embeddings, r.Chat, r.Scores} }

func baseURL(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	if handler == nil {
		return "http://127.0.0.1:1"
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func demoData(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "demo", "data"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// config writes a configuration with all models over the demonstration's passages.
func (s servers) config(t *testing.T, more string) string {
	t.Helper()
	chat := baseURL(t, s.chat)
	return configFile(t, fmt.Sprintf(`
store: {flat: {dir: %q}}
embedder: {openai: {base_url: %q, model: all-MiniLM-L6-v2}}
writer: {openai: {base_url: %q, model: recorded}}
hyde: {base_url: %q, model: recorded}
reranker: {base_url: %q, api: tei, model: length}
timeout: 2s
%s`, demoData(t), baseURL(t, s.embeddings), chat, chat, baseURL(t, s.scores), more))
}

func configFile(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "georag.yaml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// degrades wants five passages with the reason told and exit code 0, and under --strict the same with exit code 3.
func degrades(t *testing.T, reason string, args ...string) {
	t.Helper()
	args = append([]string{"select", "--json"}, args...)
	for strict, want := range map[bool]int{false: exitDone, true: exitDegraded} {
		line := args
		if strict {
			line = append(append([]string(nil), args...), "--strict")
		}
		got := georag(t, nil, line...)
		var selection struct {
			Items []struct{}
			Trace struct{ Degraded []struct{ Code string } }
		}
		if err := json.Unmarshal([]byte(got.out), &selection); err != nil || got.code != want || len(selection.Items) != 5 {
			t.Errorf("strict %v: %d items, error %v; want exit code %d, got %s", strict, len(selection.Items), err, want, got)
			continue
		}
		if len(selection.Trace.Degraded) == 0 || selection.Trace.Degraded[0].Code != reason {
			t.Errorf("strict %v: degraded %v, want %s", strict, selection.Trace.Degraded, reason)
		}
		if strict && !strings.Contains(got.err, reason) {
			t.Errorf("the complaint does not say %s: %s", reason, got.err)
		}
	}
}

func TestQuestionInWords(t *testing.T) {
	r := modeltest.New(t)
	config := healthy(r).config(t, "")
	got := georag(t, nil, "select", "--config", config, "--strict", r.Asked[0].Text)
	want := georag(t, nil, "select", "--passages", demoData(t), "--questions", demoData(t), "--question-id", r.Asked[0].ID)
	if got.code != exitDone || !strings.Contains(got.out, "embedder all-MiniLM-L6-v2, sub-queries by recorded") {
		t.Fatal(got)
	}
	passages := func(o outcome) string { table, _, _ := strings.Cut(o.out, "preset default"); return table }
	if passages(got) != passages(want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if doctor := georag(t, nil, "doctor", "--config", config); doctor.code != exitDone || !strings.Contains(doctor.out, "reranker       length") {
		t.Error(doctor)
	}
}

func TestWriterDown(t *testing.T) {
	modeltest.EachFault(t, func(t *testing.T, r *modeltest.Replay, _ string, fault http.HandlerFunc) {
		config := servers{r.Embeddings, fault, r.Scores}.config(t, "")
		degrades(t, "no_subqueries", "--config", config, r.Asked[0].Text)
		if doctor := georag(t, nil, "doctor", "--config", config, "--set", "writer.openai.timeout=1s", "--set", "hyde.timeout=1s"); doctor.code != exitFailed || !strings.Contains(doctor.out, "writer does not work") {
			t.Error(doctor)
		}
	})
}

func TestHyDEDown(t *testing.T) {
	modeltest.EachFault(t, func(t *testing.T, r *modeltest.Replay, _ string, fault http.HandlerFunc) {
		config := servers{r.Embeddings, fault, r.Scores}.config(t, "")
		degrades(t, "hyde_fell_back", "--config", config, "--pool", "hyde", "--questions", demoData(t), "--question-id", r.Asked[0].ID)
	})
}

func TestEmbedderDown(t *testing.T) {
	modeltest.EachFault(t, func(t *testing.T, r *modeltest.Replay, _ string, fault http.HandlerFunc) {
		config := servers{fault, r.Chat, r.Scores}.config(t, "")
		if got := georag(t, nil, "select", "--config", config, r.Asked[0].Text); got.code != exitFailed || got.out != "" || !strings.Contains(got.err, "embed the question") {
			t.Error(got)
		}
		// A question that brings its vector needs the embedder for its sub-queries only.
		degrades(t, "no_subqueries", "--config", config, "--questions", textSubQueries(t), "--question-id", r.Asked[0].ID)
	})
}

// textSubQueries is a folder of the demonstration's questions with their vectors, and without those of their
// sub-queries.
func textSubQueries(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	copyInto(t, dir, "questions.jsonl")
	copyInto(t, dir, "questions.npy")
	return dir
}

func copyInto(t *testing.T, dir, name string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(demoData(t), name))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The reranker and the conflict scorer each leave the choice to a selector that needs no model, and the doctor tells.
func TestRerankerDown(t *testing.T) {
	modeltest.EachFault(t, func(t *testing.T, r *modeltest.Replay, _ string, fault http.HandlerFunc) {
		config := servers{r.Embeddings, r.Chat, fault}.config(t, fmt.Sprintf("conflict: {base_url: %q}", baseURL(t, fault)))
		degrades(t, "selector_fell_back", "--config", config, "--selector", "rerank", r.Asked[0].Text)
		degrades(t, "selector_fell_back", "--config", config, "--selector", "smart", r.Asked[0].Text)
		doctor := georag(t, nil, "doctor", "--config", config, "--set", "reranker.timeout=1s", "--set", "conflict.timeout=1s")
		if doctor.code == exitDone || !strings.Contains(doctor.out, "the reranker does not work") || !strings.Contains(doctor.out, "the conflict scorer does not work") {
			t.Error(doctor)
		}
	})
}

// A model that did not make the collection is told at once, wherever it is configured.
func TestEmbedderOfAnotherDimension(t *testing.T) {
	r := modeltest.New(t)
	for text, v := range r.Vectors {
		r.Vectors[text] = v[:100]
	}
	r.Vectors["dimension"] = r.Vectors[r.Asked[0].Text]
	served := servers{r.Embeddings, r.Chat, r.Scores}.config(t, "")
	static := configFile(t, fmt.Sprintf("store: {flat: {dir: %q}}\nembedder: {static: true}\n", demoData(t)))
	for _, config := range []string{served, static} {
		for _, args := range [][]string{{"select", r.Asked[0].Text}, {"doctor"}, {"serve", "--listen", "127.0.0.1:0"}, {"mcp"}} {
			got := georag(t, nil, append(args, "--config", config)...)
			if got.code != exitUsage || !strings.Contains(got.all(), "384") || !strings.Contains(got.all(), "wrong dimension") {
				t.Errorf("%s: %s", args[0], got)
			}
		}
	}
}

// counted counts requests.
func counted(n *atomic.Int64, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		n.Add(1)
		next(w, req)
	}
}

// The second evaluation with the same cache file asks no model and gives the same rows.
func TestEvaluationFromCacheFile(t *testing.T) {
	r := modeltest.New(t)
	var calls atomic.Int64
	asked := t.TempDir()
	writeTexts(t, r, filepath.Join(asked, "questions.jsonl"))
	config := servers{counted(&calls, r.Embeddings), counted(&calls, r.Chat), nil}.config(t, fmt.Sprintf("cache: {file: %q}", filepath.Join(t.TempDir(), "models.cache")))
	rows := func() string {
		file := filepath.Join(t.TempDir(), "rows.json")
		if got := georag(t, nil, "eval", "--config", config, "--questions", asked, "--selectors", "cosine,georag", "--json", file); got.code != exitDone || strings.Contains(got.out, "degraded") {
			t.Fatal(got)
		}
		return withoutTimes(t, file)
	}
	first := rows()
	if n := calls.Load(); n != 2*int64(len(r.Asked)) {
		t.Errorf("%d calls for %d questions, want one to each model", n, len(r.Asked))
	}
	calls.Store(0)
	if second := rows(); second != first || calls.Load() != 0 {
		t.Errorf("%d calls; rows %s, want %s", calls.Load(), second, first)
	}
}

// writeTexts writes the questions without vectors and sub-queries.
func writeTexts(t *testing.T, r *modeltest.Replay, file string) {
	t.Helper()
	var lines bytes.Buffer
	for _, q := range r.Asked {
		line, err := json.Marshal(map[string]any{"id": q.ID, "question": q.Text, "gold": q.Gold})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s\n", line)
	}
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// withoutTimes returns the rows of an evaluation without the only figures that differ from run to run.
func withoutTimes(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(string(content)) {
		if !strings.Contains(line, `"select_ms`) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// Every pool the embedded index has is a column of one evaluation; the hypothetical passages are written by a model.
func TestEvaluationSweepsPools(t *testing.T) {
	r := modeltest.New(t)
	const passage = "Lyndon B. Johnson signed the act; Hubert Humphrey was his vice president."
	r.Vectors[passage] = r.Asked[0].Vector
	write := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`, passage)
	}
	pools := []string{"dense", "union", "hyde", "lexical", "hybrid", "hybrid+union"}
	got := georag(t, nil, "eval", "--config", servers{r.Embeddings, write, nil}.config(t, ""), "--questions", demoData(t),
		"--selectors", "georag", "--pools", strings.Join(pools, ","))
	if got.code != exitDone || strings.Contains(got.out, "degraded") {
		t.Fatal(got)
	}
	for _, pool := range pools {
		if !strings.Contains(got.out, "georag pool "+pool+" ") {
			t.Errorf("no row of pool %s: %s", pool, got)
		}
	}
	// Without a model to write it, the hypothetical passage is missing and each question says so.
	got = georag(t, nil, "eval", "--passages", demoData(t), "--questions", demoData(t), "--selectors", "georag", "--pools", "hyde")
	if got.code != exitDone || !strings.Contains(got.out, "degraded: georag pool hyde under default on 12 of 12 questions; the first: hyde_fell_back") {
		t.Error(got)
	}
	got = georag(t, nil, "eval", "--passages", demoData(t), "--questions", demoData(t), "--pools", "given")
	if got.code != exitUsage || !strings.Contains(got.err, "gives no candidates") {
		t.Error(got)
	}
}
