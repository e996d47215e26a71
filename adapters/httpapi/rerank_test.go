package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/core"
)

// passages of which the first three tell the same over again.
var passages = []string{
	"the river dam floods the valley and the river dam generates power",
	"the river dam floods the valley and the river dam generates power again",
	"the river dam floods the valley and the river dam generates much power",
	"salmon cannot pass the dam to spawn in the river",
	"bread is baked from flour and water",
	"the dam moved thousands of villagers from the valley",
}

const rerankQuery = "what does the river dam do to the valley"

// facets writes the same sub-queries for every question.
type facets []string

func (f facets) WriteSubQueries(context.Context, string, int) (core.SubQueries, error) {
	return core.SubQueries{Texts: f}, nil
}

func (f facets) Model() string { return "facets" }

func TestRerankReturnsAllInSelectionOrder(t *testing.T) {
	s := start(t, httpapi.Config{}, func(d *httpapi.Deps) {
		stage := demoStage(t, flat.Config{})
		stage.Planner.Writer = facets{"can salmon pass the dam", "were thousands of villagers moved", "what power does the river dam generate"}
		d.Stages = map[string]*core.Stage{"demo": stage}
	})
	for _, path := range []string{"/rerank", "/v1/rerank", "/v2/rerank"} {
		answer, body := s.post(t, path, map[string]any{"model": "any", "query": rerankQuery, "documents": passages})
		got := decoded[httpapi.JinaResponse](t, http.StatusOK, answer, body)
		order := checkRanking(t, path, got.Results)
		if len(order) != len(passages) {
			t.Errorf("%s: %d of %d documents", path, len(order), len(passages))
		}
		if near := order[:3]; !slices.Contains(near, 3) || !slices.Contains(near, 5) {
			t.Errorf("%s: copies come before the other sides of the question: %v", path, order)
		}
		if got.ID == "" || got.Meta.BilledUnits.SearchUnits != 1 || answer.Header.Get("Georag-Mode") == "" {
			t.Errorf("%s: %s", path, body)
		}
		if withText := got.Results[0].Document != nil; withText != (path != "/v2/rerank") {
			t.Errorf("%s: documents repeated: %v", path, withText)
		}
		if path != "/v2/rerank" && (got.Model != "any" || got.Usage.TotalTokens == 0 || got.Results[0].Document.Text != passages[order[0]]) {
			t.Errorf("%s: %s", path, body)
		}
	}
}

// checkRanking checks that scores strictly decrease in (0, 1] and that no index comes twice.
func checkRanking(t *testing.T, path string, results []httpapi.RankedDocument) []int {
	t.Helper()
	var order []int
	last := 1.5
	for _, r := range results {
		if r.RelevanceScore >= last || r.RelevanceScore <= 0 || r.RelevanceScore > 1 || slices.Contains(order, r.Index) {
			t.Errorf("%s: index %d with score %v after %v", path, r.Index, r.RelevanceScore, last)
		}
		last = r.RelevanceScore
		order = append(order, r.Index)
	}
	return order
}

func TestRerankTraps(t *testing.T) {
	s := start(t, httpapi.Config{}, nil)
	request := func(change map[string]any) map[string]any {
		body := map[string]any{"query": rerankQuery, "documents": passages}
		for name, value := range change {
			body[name] = value
		}
		return body
	}
	objects := make([]map[string]any, len(passages))
	for i, text := range passages {
		objects[i] = map[string]any{"text": text, "id": i}
	}
	_, all := s.post(t, "/rerank", request(nil))
	for _, c := range []struct {
		name  string
		body  map[string]any
		n     int
		texts bool
	}{
		{"top_n 0 is all", request(map[string]any{"top_n": 0}), 6, true},
		{"top_n 2", request(map[string]any{"top_n": 2}), 2, true},
		{"top_n N", request(map[string]any{"top_n": 6}), 6, true},
		{"top_n above N", request(map[string]any{"top_n": 1000}), 6, true},
		{"top_k as top_n", request(map[string]any{"top_k": 3}), 3, true},
		{"top_n null", request(map[string]any{"top_n": nil}), 6, true},
		{"no documents wanted", request(map[string]any{"return_documents": false}), 6, false},
		{"objects", request(map[string]any{"documents": objects}), 6, true},
		{"unknown fields", request(map[string]any{"max_chunks_per_doc": 3, "truncate_prompt_tokens": -1, "user": map[string]any{"id": 1}}), 6, true},
		{"no model", request(map[string]any{"model": nil}), 6, true},
		{"one document", request(map[string]any{"documents": passages[:1]}), 1, true},
		{"all alike", request(map[string]any{"documents": []string{"dam", "dam", "dam"}}), 3, true},
		{"words unknown to the query", request(map[string]any{"documents": []string{"xyzzy", "123", "!!!"}}), 3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, body := s.post(t, "/v1/rerank", c.body)
			got := decoded[httpapi.JinaResponse](t, http.StatusOK, answer, body)
			checkRanking(t, c.name, got.Results)
			if len(got.Results) != c.n || (got.Results[0].Document != nil) != c.texts {
				t.Errorf("%s", body)
			}
			if c.name == "objects" && fmt.Sprint(got.Results) == "" || c.name == "objects" && !sameOrder(t, all, body) {
				t.Errorf("objects and strings are ranked differently")
			}
		})
	}
}

func sameOrder(t *testing.T, a, b []byte) bool {
	t.Helper()
	order := func(body []byte) []int {
		return checkRanking(t, "", decoded[httpapi.JinaResponse](t, 200, &http.Response{StatusCode: 200}, body).Results)
	}
	return slices.Equal(order(a), order(b))
}

func TestRerankTEI(t *testing.T) {
	s := start(t, httpapi.Config{}, nil)
	for _, path := range []string{"/rerank", "/v1/rerank", "/v2/rerank"} {
		answer, body := s.post(t, path, map[string]any{"query": rerankQuery, "texts": passages, "truncate": true, "raw_scores": false, "return_text": true, "top_n": 1})
		got := decoded[[]httpapi.TEIRank](t, http.StatusOK, answer, body)
		if len(got) != len(passages) {
			t.Fatalf("%d ranks: TEI knows no top_n", len(got))
		}
		for i, r := range got {
			if i > 0 && r.Score >= got[i-1].Score || r.Text != passages[r.Index] {
				t.Errorf("%s", body)
			}
		}
	}
	answer, body := s.post(t, "/rerank", `{"query":"a","texts":[]}`)
	if got := decoded[httpapi.TEIError](t, http.StatusUnprocessableEntity, answer, body); got.ErrorType != "Validation" || got.Code == "" || got.Error == "" {
		t.Errorf("%s", body)
	}
}

func TestRerankErrorsHaveTheShapeOfEveryClient(t *testing.T) {
	s := start(t, httpapi.Config{}, nil)
	answer, body := s.post(t, "/v2/rerank", `{"query":"a"}`)
	got := decoded[httpapi.RerankError](t, http.StatusBadRequest, answer, body)
	if got.Message == "" || got.Detail != got.Message || got.Error.Field != "documents" {
		t.Errorf("%s", body)
	}
	none := start(t, httpapi.Config{}, func(d *httpapi.Deps) {
		stage := demoStage(t, flat.Config{})
		stage.Planner = core.Planner{}
		d.Stages = map[string]*core.Stage{"demo": stage}
	})
	answer, body = none.post(t, "/rerank", map[string]any{"query": "a", "documents": []string{"b"}})
	if got := decoded[httpapi.RerankError](t, http.StatusNotImplemented, answer, body); got.Error.Code != httpapi.CodeUnsupported {
		t.Errorf("%s", body)
	}
}

// manyDocuments are n texts of which no two are the same.
func manyDocuments(n int) []string {
	documents := make([]string, n)
	for i := range documents {
		documents[i] = strings.Repeat(passages[i%len(passages)]+" ", 1+i%3) + fmt.Sprint("number ", i)
	}
	return documents
}

func TestRerankOfTheMostDocuments(t *testing.T) {
	s := start(t, httpapi.Config{Timeouts: httpapi.Timeouts{Most: time.Minute}}, nil)
	answer, body := s.post(t, "/rerank?timeout=1m", map[string]any{"query": rerankQuery, "documents": manyDocuments(1000), "top_n": 1000})
	if got := decoded[httpapi.JinaResponse](t, http.StatusOK, answer, body); len(checkRanking(t, "1000", got.Results)) != 1000 {
		t.Errorf("%d results", len(got.Results))
	}
}

// TestTextsThatSayNothingToTheModel: where there is nothing to rank by, the client's texts are at fault and not the
// store; one text that can be ranked is enough.
func TestTextsThatSayNothingToTheModel(t *testing.T) {
	s := start(t, httpapi.Config{}, nil)
	answer, body := s.post(t, "/rerank", `{"query":"river dam","documents":["123","456"]}`)
	if answer.StatusCode != http.StatusUnprocessableEntity || answer.Header.Get("Georag-Error") != string(httpapi.CodeVector) {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
	answer, body = s.post(t, "/rerank", `{"query":"river dam","documents":["123","the dam"]}`)
	if got := decoded[httpapi.JinaResponse](t, http.StatusOK, answer, body); len(got.Results) != 2 || got.Results[0].Index != 1 {
		t.Errorf("%s", body)
	}
}
