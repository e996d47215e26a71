package langchaingo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/schema"

	"github.com/georag/georag/core"
	"github.com/georag/georag/integrations/langchaingo"
)

// letters embeds a text by how often it has each of the letters a to c.
type letters struct{}

func (letters) EmbedQueries(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		for _, letter := range []string{"a", "b", "c"} {
			vectors[i] = append(vectors[i], float32(strings.Count(text, letter)))
		}
	}
	return vectors, nil
}

func (l letters) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	return l.EmbedQueries(ctx, texts)
}

func (letters) Model() string { return "letters" }

// asked is a store that remembers the request and gives three passages.
type asked struct {
	core.Store
	request core.SearchRequest
	wait    bool
}

func (a *asked) Search(ctx context.Context, req core.SearchRequest) (core.SearchResult, error) {
	a.request = req
	if a.wait {
		<-ctx.Done()
		return core.SearchResult{}, ctx.Err()
	}
	result := core.SearchResult{Candidates: []core.Candidate{
		{ID: core.IntID(9007199254740993), Vector: []float32{1, 0.1, 0}, Payload: map[string]any{"title": "A", "text": "aaa"}},
		{ID: core.StringID("b"), Vector: []float32{0.5, 1, 0}, Payload: map[string]any{"text": "bbb"}},
		{ID: core.StringID("c"), Vector: []float32{0.1, 0, 1}},
	}}
	for range req.SubQueries {
		result.SubQueries = append(result.SubQueries, core.SubQueryResult{Hits: result.Candidates[:1]})
	}
	return result, nil
}

func stage(s core.Store) *core.Stage {
	return &core.Stage{Store: s, Planner: core.Planner{Embedder: letters{}}}
}

func retrieve(t *testing.T, c langchaingo.Config) ([]schema.Document, error) {
	t.Helper()
	r, err := langchaingo.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r.GetRelevantDocuments(t.Context(), "a")
}

func ids(documents []schema.Document) (list []string) {
	for _, d := range documents {
		list = append(list, fmt.Sprint(d.Metadata[langchaingo.MetaID]))
	}
	return list
}

func TestConfigReachesTheSelection(t *testing.T) {
	store := &asked{}
	var trace core.Trace
	documents, err := retrieve(t, langchaingo.Config{
		Stage: stage(store), TopK: 2, SubQueries: []string{"bb", "aa"},
		Scope: core.Scope{Filter: "x=1", Tenant: "acme", Partitions: []string{"p"}},
		Trace: func(_ context.Context, question string, made core.Trace) {
			if question == "a" {
				trace = made
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(documents); !slices.Equal(got, []string{"9007199254740993", "b"}) {
		t.Errorf("documents %v", got)
	}
	if d := documents[0]; d.PageContent != "aaa" || d.Metadata["title"] != "A" || d.Score < 0.99 {
		t.Errorf("document %+v", d)
	}
	if covers := documents[1].Metadata[langchaingo.MetaCovers]; fmt.Sprint(covers) != "[bb]" {
		t.Errorf("covers %v", covers)
	}
	scope := store.request.Scope
	if scope.Filter != "x=1" || scope.Tenant != "acme" || !slices.Equal(scope.Partitions, []string{"p"}) || len(trace.Steps) != 2 {
		t.Errorf("scope %+v, %d steps", scope, len(trace.Steps))
	}
}

func TestScoreThreshold(t *testing.T) {
	least := 0.3
	documents, err := retrieve(t, langchaingo.Config{Stage: stage(&asked{}), ScoreThreshold: &least})
	if err != nil || !slices.Equal(ids(documents), []string{"9007199254740993", "b"}) && !slices.Equal(ids(documents), []string{"b", "9007199254740993"}) {
		t.Errorf("documents %v, error %v", ids(documents), err)
	}
}

func TestStageKeepsItsOwnK(t *testing.T) {
	s := stage(&asked{})
	s.Settings = core.DefaultPreset()
	s.Settings.K = 1
	if documents, err := retrieve(t, langchaingo.Config{Stage: s}); err != nil || len(documents) != 1 {
		t.Errorf("%d documents, error %v", len(documents), err)
	}
	if documents, err := retrieve(t, langchaingo.Config{Stage: s, TopK: 3}); err != nil || len(documents) != 3 || s.Settings.K != 1 {
		t.Errorf("%d documents, error %v, the stage's k is now %d", len(documents), err, s.Settings.K)
	}
}

// heard counts what callbacks are told.
type heard struct {
	callbacks.SimpleHandler
	started, ended int
}

func (h *heard) HandleRetrieverStart(context.Context, string) { h.started++ }
func (h *heard) HandleRetrieverEnd(_ context.Context, _ string, documents []schema.Document) {
	h.ended += len(documents)
}

func TestCallbacks(t *testing.T) {
	h := &heard{}
	if _, err := retrieve(t, langchaingo.Config{Stage: stage(&asked{}), TopK: 2, Callbacks: h}); err != nil || h.started != 1 || h.ended != 2 {
		t.Errorf("%+v, error %v", h, err)
	}
}

func TestDeadline(t *testing.T) {
	if _, err := retrieve(t, langchaingo.Config{Stage: stage(&asked{wait: true}), Timeout: 10 * time.Millisecond}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestWrongConfigs(t *testing.T) {
	beyond := 1.5
	for _, c := range []langchaingo.Config{
		{}, {Stage: &core.Stage{}}, {Stage: stage(&asked{}), TopK: -1}, {Stage: stage(&asked{}), TopK: 101},
		{Stage: stage(&asked{}), ScoreThreshold: &beyond}, {Stage: stage(&asked{}), Timeout: -1},
	} {
		if _, err := langchaingo.New(c); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
