package eino_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components/document"
	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/schema"

	"github.com/georag/georag/core"
	"github.com/georag/georag/integrations/eino"
)

// letters embeds a text by how often it has each of the letters a to d.
type letters struct{ calls *int }

func (l letters) EmbedStrings(_ context.Context, texts []string, _ ...embedding.Option) ([][]float64, error) {
	if l.calls != nil {
		*l.calls++
	}
	vectors := make([][]float64, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float64, 4)
		for j, letter := range "abcd" {
			vectors[i][j] = float64(strings.Count(text, string(letter)))
		}
	}
	return vectors, nil
}

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
		{ID: core.IntID(9007199254740993), Vector: []float32{1, 0.1, 0, 0}, Payload: map[string]any{"title": "A", "text": "aaa", "lang": "en"}},
		{ID: core.StringID("b"), Vector: []float32{0.5, 1, 0, 0}, Payload: map[string]any{"text": "bbb"}},
		{ID: core.StringID("c"), Vector: []float32{0.1, 0, 1, 0}},
	}}
	for range req.SubQueries {
		result.SubQueries = append(result.SubQueries, core.SubQueryResult{Hits: result.Candidates[:1]})
	}
	return result, nil
}

func newRetriever(t *testing.T, store core.Store, change func(*eino.RetrieverConfig)) *eino.Retriever {
	t.Helper()
	c := eino.RetrieverConfig{Stage: &core.Stage{Store: store}, Index: "notes"}
	if change != nil {
		change(&c)
	}
	r, err := eino.NewRetriever(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func ids(documents []*schema.Document) (list []string) {
	for _, d := range documents {
		list = append(list, d.ID)
	}
	return list
}

func TestRetrieverMapsOptions(t *testing.T) {
	store, calls := &asked{}, 0
	r := newRetriever(t, store, func(c *eino.RetrieverConfig) { c.Scope = core.Scope{Filter: "x=1", Tenant: "base"} })
	documents, err := r.Retrieve(t.Context(), "a", retriever.WithTopK(2), retriever.WithEmbedding(letters{&calls}), retriever.WithIndex("notes"),
		retriever.WithSubIndex("2024"), eino.WithTenant("acme"), eino.WithSubQueries("bb", "aa"))
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(documents); !slices.Equal(got, []string{"9007199254740993", "b"}) {
		t.Errorf("documents %v", got)
	}
	scope := store.request.Scope
	if scope.Filter != "x=1" || scope.Tenant != "acme" || !slices.Equal(scope.Partitions, []string{"2024"}) || calls != 1 || len(store.request.SubQueries) != 2 {
		t.Errorf("asked %+v after %d calls of the embedder", store.request, calls)
	}
	d := documents[0]
	if d.Content != "aaa" || d.MetaData["title"] != "A" || d.MetaData["lang"] != "en" || d.Score() < 0.99 || len(d.DenseVector()) != 4 {
		t.Errorf("document %+v", d)
	}
	if covers, ok := documents[1].MetaData[eino.MetaCovers].([]string); !ok || !slices.Equal(covers, []string{"bb"}) {
		t.Errorf("covers %v", documents[1].MetaData)
	}
	if _, err := r.Retrieve(t.Context(), "a", retriever.WithEmbedding(letters{}), eino.WithFilter("y=2")); err != nil || store.request.Scope.Filter != "y=2" || store.request.Scope.Tenant != "base" {
		t.Errorf("scope %+v, error %v", store.request.Scope, err)
	}
}

func TestRetrieverScoreThreshold(t *testing.T) {
	documents, err := newRetriever(t, &asked{}, nil).Retrieve(t.Context(), "a", retriever.WithEmbedding(letters{}), retriever.WithScoreThreshold(0.3))
	if err != nil || len(documents) != 2 || slices.ContainsFunc(documents, func(d *schema.Document) bool { return d.Score() < 0.3 }) {
		t.Errorf("documents %v, error %v", ids(documents), err)
	}
}

func TestRetrieverRefuses(t *testing.T) {
	r := newRetriever(t, &asked{}, nil)
	for name, c := range map[string]struct {
		options []retriever.Option
		want    error
	}{
		"k zero":       {[]retriever.Option{retriever.WithTopK(0)}, core.ErrInvalid},
		"k large":      {[]retriever.Option{retriever.WithTopK(101)}, core.ErrInvalid},
		"other index":  {[]retriever.Option{retriever.WithIndex("other")}, core.ErrInvalid},
		"DSL":          {[]retriever.Option{retriever.WithDSLInfo(map[string]any{"a": 1})}, core.ErrUnsupported},
		"no embedding": {nil, core.ErrInvalid},
	} {
		options := c.options
		if name != "no embedding" {
			options = append(options, retriever.WithEmbedding(letters{}))
		}
		if _, err := r.Retrieve(t.Context(), "a", options...); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []eino.RetrieverConfig{{}, {Stage: &core.Stage{}}, {Stage: &core.Stage{Store: &asked{}}, Timeout: -1}} {
		if _, err := eino.NewRetriever(c); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestRetrieverHasADeadline(t *testing.T) {
	r := newRetriever(t, &asked{wait: true}, func(c *eino.RetrieverConfig) { c.Timeout = 10 * time.Millisecond })
	if _, err := r.Retrieve(t.Context(), "a", retriever.WithEmbedding(letters{})); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// TestCallbacks: the end of a call carries the trace, its failure the error.
func TestCallbacks(t *testing.T) {
	var input *retriever.CallbackInput
	var trace core.Trace
	var failed error
	handler := callbacks.NewHandlerBuilder().
		OnStartFn(func(ctx context.Context, _ *callbacks.RunInfo, in callbacks.CallbackInput) context.Context {
			input = retriever.ConvCallbackInput(in)
			return ctx
		}).
		OnEndFn(func(ctx context.Context, _ *callbacks.RunInfo, out callbacks.CallbackOutput) context.Context {
			trace, _ = retriever.ConvCallbackOutput(out).Extra[eino.ExtraTrace].(core.Trace)
			return ctx
		}).
		OnErrorFn(func(ctx context.Context, _ *callbacks.RunInfo, err error) context.Context {
			failed = err
			return ctx
		}).Build()
	ctx := callbacks.InitCallbacks(t.Context(), &callbacks.RunInfo{Name: "test"}, handler)
	r := newRetriever(t, &asked{}, nil)
	if _, err := r.Retrieve(ctx, "a", retriever.WithEmbedding(letters{}), retriever.WithTopK(2), eino.WithFilter("x=1")); err != nil {
		t.Fatal(err)
	}
	if input == nil || input.TopK != 2 || input.Filter != "x=1" || len(trace.Steps) != 2 || failed != nil {
		t.Errorf("started %+v, ended with %d steps, failed %v", input, len(trace.Steps), failed)
	}
	_, err := r.Retrieve(ctx, "a", retriever.WithTopK(0), retriever.WithEmbedding(letters{}))
	if err == nil || !errors.Is(failed, core.ErrInvalid) {
		t.Errorf("error %v, told %v", err, failed)
	}
}

func newTransformer(t *testing.T, e letters) *eino.Transformer {
	t.Helper()
	made, err := eino.NewTransformer(eino.TransformerConfig{Embedding: e})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestTransformer(t *testing.T) {
	calls := 0
	src := []*schema.Document{
		{ID: "same", Content: "aaaaaaaaab"}, {ID: "same", Content: "aaaaaaaaac"}, {ID: "same", Content: "aaaaaaaaad"},
		{ID: "b", Content: "abbbb", MetaData: map[string]any{"keep": "me"}}, (&schema.Document{ID: "c", Content: "no letter"}).WithDenseVector([]float64{0.2, 0, 1, 0}),
	}
	kept, err := newTransformer(t, letters{&calls}).Transform(t.Context(), src, eino.WithQuestion("a"), eino.WithK(3), eino.WithParts("bbb", "ccc", "aaa"))
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != 3 || !slices.Contains(kept, src[3]) || !slices.Contains(kept, src[4]) || src[3].MetaData["keep"] != "me" || len(src[3].MetaData) != 1 {
		t.Errorf("kept %v", ids(kept))
	}
	if calls != 2 { // the documents, and the question with its parts
		t.Errorf("%d calls of the embedder", calls)
	}
}

func TestTransformerRefuses(t *testing.T) {
	made := newTransformer(t, letters{})
	one := []*schema.Document{{Content: "a"}}
	for name, c := range map[string]struct {
		src     []*schema.Document
		options []document.TransformerOption
	}{
		"no question": {one, nil},
		"k":           {one, []document.TransformerOption{eino.WithQuestion("a"), eino.WithK(0)}},
		"nil":         {[]*schema.Document{nil}, []document.TransformerOption{eino.WithQuestion("a")}},
	} {
		if _, err := made.Transform(t.Context(), c.src, c.options...); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if kept, err := made.Transform(t.Context(), nil, eino.WithQuestion("a")); err != nil || len(kept) != 0 {
		t.Errorf("no documents: %v, error %v", kept, err)
	}
	for _, c := range []eino.TransformerConfig{{}, {Embedding: letters{}, Timeout: -1}, {Embedding: letters{}, Settings: core.Settings{K: 5}}} {
		if _, err := eino.NewTransformer(c); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
