package models

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/georag/georag/adapters/openai"
	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
	"github.com/georag/georag/internal/modelhttp"
	"github.com/georag/georag/internal/modeltest"
	"github.com/georag/georag/internal/retry"
)

// Addresses of running servers to use instead of those that model_server.py starts, as base URLs.
const (
	embeddingsVariable = "GEORAG_TEST_EMBEDDINGS_URL"
	chatVariable       = "GEORAG_TEST_CHAT_URL"
)

// startWithin bounds the start of a real model, its download included: about a minute on two busy cores, and some
// seconds once it is there.
const startWithin = 3 * time.Minute

// start starts a real model for the test, which takes a download of some hundred megabytes at first use. Where that
// cannot be done in time the test is skipped with a line that says why.
func start(t *testing.T, kind, variable string) modelhttp.Config {
	t.Helper()
	if url := os.Getenv(variable); url != "" {
		t.Logf("SERVER: %s: real model (%s)", kind, variable)
		return modelhttp.Config{BaseURL: url}
	}
	if testing.Short() {
		t.Skip("SKIPPED: -short: no real model is started")
	}
	cache, err := filepath.Abs("../../.cache")
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command("python3", "model_server.py", cache, kind)
	server.Stderr = os.Stderr
	input, err1 := server.StdinPipe()
	output, err2 := server.StdoutPipe()
	if err := errors.Join(err1, err2, server.Start()); err != nil {
		t.Skipf("SKIPPED: no %s server: %v; or set %s to a running one", kind, err, variable)
	}
	t.Cleanup(func() {
		_ = input.Close()
		_, _ = io.Copy(io.Discard, output)
		_ = server.Wait()
	})
	late := time.AfterFunc(startWithin, func() { _ = server.Process.Kill() })
	defer late.Stop()
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
			t.Logf("SERVER: %s: real model", kind)
			return modelhttp.Config{BaseURL: url, Policy: retry.Policy{Timeout: time.Minute}}
		}
	}
	t.Skipf("SKIPPED: no %s server: model_server.py ended, or was ended after "+startWithin.String()+", without one (its words are above); or set %s to a running one", kind, variable)
	return modelhttp.Config{}
}

// A real model's vectors arrive as the demonstration's own, which the same model made elsewhere, in both encodings, and
// the stage selects with them what it does with those recorded.
func TestRealEmbeddings(t *testing.T) {
	config := start(t, "embeddings", embeddingsVariable)
	recorded := modeltest.New(t)
	first := recorded.Asked[0]
	stage := healthy(recorded).stage(t)
	stage.Settings.Timeout = time.Minute
	want, err := stage.Select(t.Context(), first.Query())
	if err != nil {
		t.Fatal(err)
	}
	for _, encoding := range []openai.Encoding{openai.EncodingBase64, openai.EncodingFloat} {
		embedder, err := openai.NewEmbedder(openai.EmbedderConfig{Config: config, Model: "all-MiniLM-L6-v2", BatchSize: 8, Encoding: encoding})
		if err != nil {
			t.Fatal(err)
		}
		defer embedder.Close()
		got, err := embedder.EmbedQueries(t.Context(), first.SubQueries[:10])
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if cosine := vec.Cosine(v, first.SubQueryVectors[i]); math.Abs(cosine-1) > 1e-4 {
				t.Errorf("%q: cosine to the recorded vector %v", first.SubQueries[i], cosine)
			}
		}
		if err := embedder.CheckDimension(t.Context(), 384); err != nil {
			t.Error(err)
		}
		stage.Planner.Embedder = embedder
		s, err := stage.Select(t.Context(), core.Query{Text: first.Text})
		if err != nil || len(s.Trace.Degraded) > 0 || !slices.Equal(s.IDs(), want.IDs()) {
			t.Errorf("selected %v, want %v; degraded %v, error %v", s.IDs(), want.IDs(), s.Trace.Degraded, err)
		}
	}
	shortened, err := openai.NewEmbedder(openai.EmbedderConfig{Config: config, Model: "all-MiniLM-L6-v2", Dimensions: 128})
	if err != nil {
		t.Fatal(err)
	}
	defer shortened.Close()
	if _, err := shortened.EmbedQueries(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), "does not support dimensions") {
		t.Errorf("error %v", err)
	}
}

// A real model of 270M parameters, not trained to follow instructions, rambles: whatever it says, there is no error,
// and what is taken from it is usable. Held to the schema by the server, it writes a list.
func TestRealChat(t *testing.T) {
	config := start(t, "chat", chatVariable)
	for _, structured := range []openai.Structured{openai.StructuredOn, openai.StructuredOff} {
		t.Run("structured "+string(structured), func(t *testing.T) {
			writer, err := openai.NewSubQueryWriter(openai.WriterConfig{
				ChatConfig: openai.ChatConfig{Config: config, Model: "gemma-3-270m", MaxTokens: 100}, Structured: structured,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer writer.Close()
			got, err := writer.WriteSubQueries(t.Context(), "Where was the director of Jaws born?", 5)
			t.Logf("%d texts, degraded %q: %q", len(got.Texts), got.Degraded, got.Texts)
			if err != nil || (len(got.Texts) < 5) != (got.Degraded != "") {
				t.Errorf("got %+v, error %v", got, err)
			}
			for _, text := range got.Texts {
				if strings.TrimSpace(text) == "" || !utf8.ValidString(text) || strings.ContainsAny(text, "\n") {
					t.Errorf("unusable text %q", text)
				}
			}
		})
	}
	t.Run("time budget", func(t *testing.T) {
		writer, err := openai.NewSubQueryWriter(openai.WriterConfig{ChatConfig: openai.ChatConfig{Config: config, Model: "gemma-3-270m"}})
		if err != nil {
			t.Fatal(err)
		}
		defer writer.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		got, err := writer.WriteSubQueries(ctx, "Where was the director of Jaws born?", 20)
		if err != nil || ctx.Err() != nil || len(got.Texts) < 20 && got.Degraded == "" {
			t.Errorf("got %+v, error %v, caller's context %v", got, err, ctx.Err())
		}
	})
	t.Run("passage", func(t *testing.T) {
		writer, err := openai.NewPassageWriter(openai.PassageConfig{ChatConfig: openai.ChatConfig{Config: config, Model: "gemma-3-270m", MaxTokens: 40}})
		if err != nil {
			t.Fatal(err)
		}
		defer writer.Close()
		passage, err := writer.WritePassage(t.Context(), "Where was the director of Jaws born?")
		t.Logf("passage %q", passage)
		if err != nil || passage == "" {
			t.Errorf("error %v", err)
		}
	})
}
