// Package models tests the stage with the clients of model servers: with servers in this process that replay real
// vectors and real sub-queries, and fail in every way; and with real models in real servers where these can be had.
package models

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/georag/georag/adapters/cache"
	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/openai"
	"github.com/georag/georag/adapters/rerank"
	"github.com/georag/georag/core"
	"github.com/georag/georag/demo"
	"github.com/georag/georag/internal/modelhttp"
	"github.com/georag/georag/internal/modeltest"
)

func serve(t *testing.T, handler http.HandlerFunc) modelhttp.Config {
	t.Helper()
	if handler == nil {
		return modelhttp.Config{BaseURL: "http://127.0.0.1:1"}
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return modelhttp.Config{BaseURL: server.URL}
}

// servers are the handlers of one stage's models.
type servers struct{ embeddings, chat, scores, classes http.HandlerFunc }

func (s servers) stage(t *testing.T) *core.Stage {
	t.Helper()
	store, err := flat.OpenFS(demo.Files, "data", flat.Config{})
	embedder, err1 := openai.NewEmbedder(openai.EmbedderConfig{Config: serve(t, s.embeddings), Model: "all-MiniLM-L6-v2"})
	chat := openai.ChatConfig{Config: serve(t, s.chat), Model: "recorded"}
	writer, err2 := openai.NewSubQueryWriter(openai.WriterConfig{ChatConfig: chat})
	passages, err3 := openai.NewPassageWriter(openai.PassageConfig{ChatConfig: chat})
	reranker, err4 := rerank.New(rerank.Config{Config: serve(t, s.scores), API: rerank.APITEI, Model: "length"})
	conflict, err5 := rerank.NewConflictScorer(rerank.ConflictConfig{Config: serve(t, s.classes)})
	if err := errors.Join(err, err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = errors.Join(store.Close(), embedder.Close(), writer.Close(), passages.Close(), reranker.Close(), conflict.Close())
	})
	settings := core.DefaultPreset()
	settings.Timeout = 2 * time.Second // what a silent server leaves of it is for the rest
	return &core.Stage{
		Store: store, Planner: core.Planner{Embedder: embedder, Writer: writer, Passage: passages},
		Reranker: reranker, Conflict: conflict, Settings: settings,
	}
}

func healthy(r *modeltest.Replay) servers { return servers{r.Embeddings, r.Chat, r.Scores, nil} }

func reasons(s core.Selection) (codes []core.ReasonCode) {
	for _, reason := range s.Trace.Degraded {
		codes = append(codes, reason.Code)
	}
	return codes
}

// degrades checks that the question is answered in full with the reason among those told, and refused under strict.
func degrades(t *testing.T, stage *core.Stage, q core.Query, code core.ReasonCode) core.Selection {
	t.Helper()
	s, err := stage.Select(t.Context(), q)
	if err != nil || len(s.Items) != 5 || !slices.Contains(reasons(s), code) {
		t.Errorf("%d items, degraded %v, error %v; want %s", len(s.Items), s.Trace.Degraded, err, code)
	}
	strict := *stage
	strict.Settings.Strict = true
	if s, err := strict.Select(t.Context(), q); !errors.Is(err, core.ErrStrict) || len(s.Items) > 0 {
		t.Errorf("strict: %d items, error %v", len(s.Items), err)
	}
	return s
}

// A plain question through all clients gives what the same question with its vectors at hand gives.
func TestPlainQuestionIsAnsweredAsWithItsVectors(t *testing.T) {
	r := modeltest.New(t)
	stage := healthy(r).stage(t)
	models, err := cache.Open(cache.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer models.Close()
	cached := *stage
	cached.Planner.Embedder, cached.Planner.Writer = models.Embedder(stage.Planner.Embedder), models.SubQueryWriter(stage.Planner.Writer)
	for _, q := range r.Asked {
		want, err := stage.Select(t.Context(), q.Query())
		if err != nil {
			t.Fatal(err)
		}
		for name, stage := range map[string]*core.Stage{"directly": stage, "cache": &cached, "cache again": &cached} {
			got, err := stage.Select(t.Context(), core.Query{Text: q.Text})
			if err != nil || len(got.Trace.Degraded) > 0 || !slices.Equal(got.IDs(), want.IDs()) {
				t.Errorf("%s, %s: %v, degraded %v, error %v; want %v", q.Text, name, got.IDs(), got.Trace.Degraded, err, want.IDs())
			}
			if got.Trace.Models.Embedder != "all-MiniLM-L6-v2" || got.Trace.Models.Writer != "recorded" {
				t.Errorf("models %+v", got.Trace.Models)
			}
		}
	}
	if s := models.Stats(); s.Calls != 2*int64(len(r.Asked)) {
		t.Errorf("%d calls for %d questions asked twice, want one to each model", s.Calls, len(r.Asked))
	}
}

func TestWriterDown(t *testing.T) {
	modeltest.EachFault(t, func(t *testing.T, r *modeltest.Replay, _ string, fault http.HandlerFunc) {
		stage := servers{r.Embeddings, fault, r.Scores, nil}.stage(t)
		degrades(t, stage, core.Query{Text: r.Asked[0].Text}, core.ReasonNoSubQueries)
	})
}

func TestEmbedderDown(t *testing.T) {
	modeltest.EachFault(t, func(t *testing.T, r *modeltest.Replay, name string, fault http.HandlerFunc) {
		stage := servers{fault, r.Chat, r.Scores, nil}.stage(t)
		want, special := map[string]error{"401": core.ErrUnauthorized, "silent": context.DeadlineExceeded, "rubbish": openai.ErrAnswer}[name]
		if !special {
			want = core.ErrUnavailable
		}
		if s, err := stage.Select(t.Context(), core.Query{Text: r.Asked[0].Text}); !errors.Is(err, want) || len(s.Items) > 0 {
			t.Errorf("%d items, error %v, want %v", len(s.Items), err, want)
		}
		degrades(t, stage, core.Query{Text: r.Asked[0].Text, Vector: r.Asked[0].Vector}, core.ReasonNoSubQueries)
	})
}

func TestReranker(t *testing.T) {
	r := modeltest.New(t)
	stage := healthy(r).stage(t)
	stage.Settings.Selector = "rerank"
	s, err := stage.Select(t.Context(), core.Query{Text: r.Asked[0].Text})
	if err != nil || len(s.Items) != 5 || len(s.Trace.Degraded) > 0 || s.Trace.Models.Reranker != "length" {
		t.Fatalf("%d items, trace %+v, error %v", len(s.Items), s.Trace, err)
	}
	lengths := []int{}
	for _, item := range s.Items {
		lengths = append(lengths, -len(item.PayloadText()))
	}
	if !slices.IsSorted(lengths) {
		t.Errorf("not the longest first: %v", lengths)
	}
	stage.Settings.Filter.Name = core.FilterRicci
	s, err = stage.Select(t.Context(), core.Query{Text: r.Asked[0].Text})
	if err != nil || s.Trace.Mode != "rerank" || s.Trace.Filter == nil {
		t.Errorf("survivors of the filter: trace %+v, error %v", s.Trace, err)
	}
}

func TestRerankerDown(t *testing.T) {
	modeltest.EachFault(t, func(t *testing.T, r *modeltest.Replay, _ string, fault http.HandlerFunc) {
		stage := servers{r.Embeddings, r.Chat, fault, fault}.stage(t)
		for selector, below := range map[string]string{"rerank": "cosine", "smart": "dpp"} {
			stage.Settings.Selector = selector
			s := degrades(t, stage, core.Query{Text: r.Asked[0].Text}, core.ReasonSelectorFellBack)
			if s.Trace.Mode != below {
				t.Errorf("%s: %s answered, want %s", selector, s.Trace.Mode, below)
			}
		}
	})
}

func TestHyDEDown(t *testing.T) {
	modeltest.EachFault(t, func(t *testing.T, r *modeltest.Replay, _ string, fault http.HandlerFunc) {
		stage := servers{r.Embeddings, fault, r.Scores, nil}.stage(t)
		stage.Settings.Pool = core.PoolHyDE
		degrades(t, stage, r.Asked[0].Query(), core.ReasonHyDE)
	})
}

// Servers that say the key back: the trace tells of both refusals, without it.
func TestTraceShowsNoKey(t *testing.T) {
	const key = "stage-canary-03bc9d"
	t.Setenv("GEORAG_TEST_KEY", key)
	r := modeltest.New(t)
	stage := servers{r.Embeddings, modeltest.EchoKey, modeltest.EchoKey, modeltest.EchoKey}.stage(t)
	config := serve(t, modeltest.EchoKey)
	config.Env = "GEORAG_TEST_KEY"
	writer, err1 := openai.NewSubQueryWriter(openai.WriterConfig{ChatConfig: openai.ChatConfig{Config: config, Model: "m"}})
	reranker, err2 := rerank.New(rerank.Config{Config: config, API: rerank.APITEI})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	defer reranker.Close()
	stage.Planner.Writer, stage.Reranker, stage.Settings.Selector = writer, reranker, "rerank"
	s, err := stage.Select(t.Context(), core.Query{Text: r.Asked[0].Text})
	if err != nil {
		t.Fatal(err)
	}
	trace, err := json.Marshal(s)
	if err != nil || strings.Contains(string(trace), key) || strings.Count(string(trace), "[redacted]") != 2 {
		t.Errorf("trace %s, error %v", trace, err)
	}
}
