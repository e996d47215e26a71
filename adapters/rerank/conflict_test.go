package rerank

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/modelhttp"
)

func newScorer(t *testing.T, c ConflictConfig, handler http.HandlerFunc) *ConflictScorer {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c.BaseURL, c.MinPause, c.MaxPause = server.URL, 1, 1
	scorer, err := NewConflictScorer(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = scorer.Close() })
	return scorer
}

// contradicts is the test's model: the probability is the premise's, read as a number, over the hypothesis's.
func contradicts(t *testing.T, w http.ResponseWriter, r *http.Request, label string) int {
	var in struct {
		Inputs    [][]string
		RawScores *bool `json:"raw_scores"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/predict" || in.RawScores == nil || *in.RawScores {
		t.Errorf("%s %+v: %v", r.URL.Path, in, err)
	}
	answer := [][]map[string]any{}
	for _, pair := range in.Inputs {
		var premise, hypothesis float64
		fmt.Sscan(pair[0], &premise)
		fmt.Sscan(pair[1], &hypothesis)
		p := premise / hypothesis
		classes := []map[string]any{{"score": (1 - p) / 2, "label": "neutral"}, {"score": p, "label": label}, {"score": (1 - p) / 2, "label": "entailment"}}
		if p > 0.4 { // best first, as TEI does
			classes[0], classes[1] = classes[1], classes[0]
		}
		answer = append(answer, classes)
	}
	_ = json.NewEncoder(w).Encode(answer)
	return len(in.Inputs)
}

func TestConflictsInOrder(t *testing.T) {
	pairs, want := make([][2]string, 90), make([]float64, 90)
	for i := range pairs {
		pairs[i] = [2]string{fmt.Sprint((i * 17) % 90), "128"}
		want[i] = float64((i*17)%90) / 128
	}
	for _, label := range []string{"contradiction", "CONTRADICTION"} {
		chunks := make(chan int, 10)
		scorer := newScorer(t, ConflictConfig{}, func(w http.ResponseWriter, r *http.Request) { chunks <- contradicts(t, w, r, label) })
		got, err := scorer.Conflicts(t.Context(), pairs)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("got %v, error %v", got, err)
		}
		if a, b, c := <-chunks, <-chunks, <-chunks; a+b+c != 90 || max(a, b, c) != 32 {
			t.Errorf("chunks of %d, %d and %d pairs", a, b, c)
		}
	}
}

// One pair is a batch of one: TEI would read a bare pair as one input and answer without the outer array.
func TestOnePairIsABatch(t *testing.T) {
	no := false
	scorer := newScorer(t, ConflictConfig{Truncate: &no, Model: "deberta"}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if want := `{"inputs":[["1","4"]],"raw_scores":false,"truncate":false}`; string(body) != want {
			t.Errorf("request %s, want %s", body, want)
		}
		_, _ = io.WriteString(w, `[[{"score":0.25,"label":"contradiction"}]]`)
	})
	got, err := scorer.Conflicts(t.Context(), [][2]string{{"1", "4"}})
	if err != nil || !slices.Equal(got, []float64{0.25}) || scorer.Model() != "deberta" {
		t.Errorf("got %v of %s, error %v", got, scorer.Model(), err)
	}
}

func TestMalformedClassesAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		body, says string
		is         error
	}{
		"other labels":   {`[[{"score":0.9,"label":"LABEL_0"},{"score":0.1,"label":"LABEL_1"}]]`, `["LABEL_0" "LABEL_1"]`, core.ErrInvalid},
		"no classes":     {`[[]]`, "no class", core.ErrInvalid},
		"one too few":    {`[]`, "0 pairs for 1", ErrAnswer},
		"one input":      {`[{"score":0.9,"label":"contradiction"}]`, "classes for each pair", ErrAnswer},
		"logits":         {`[[{"score":3.5,"label":"contradiction"}]]`, "no probability", ErrAnswer},
		"negative":       {`[[{"score":-0.1,"label":"contradiction"}]]`, "no probability", ErrAnswer},
		"null":           {`[[{"score":null,"label":"contradiction"}]]`, "no probability", ErrAnswer},
		"other API":      {`{"error":"no"}`, "api setting", ErrAnswer},
		"score in words": {`[[{"score":"0.5","label":"contradiction"}]]`, "classes", ErrAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			scorer := newScorer(t, ConflictConfig{}, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.body) })
			got, err := scorer.Conflicts(t.Context(), [][2]string{{"a", "b"}})
			if !errors.Is(err, c.is) || !strings.Contains(fmt.Sprint(err), c.says) || got != nil {
				t.Errorf("got %v, error %v", got, err)
			}
		})
	}
}

func TestConflictConfig(t *testing.T) {
	if _, err := NewConflictScorer(ConflictConfig{}); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("no URL: error %v", err)
	}
	scorer := newScorer(t, ConflictConfig{Label: "label_2"}, func(w http.ResponseWriter, r *http.Request) { contradicts(t, w, r, "LABEL_2") })
	if got, err := scorer.Conflicts(t.Context(), [][2]string{{"1", "2"}}); err != nil || got[0] != 0.5 || scorer.Model() != "nli" {
		t.Errorf("got %v of %s, error %v", got, scorer.Model(), err)
	}
	bad := ConflictConfig{Config: modelhttp.Config{BaseURL: "http://h"}, BatchSize: -1}
	if err := bad.Validate(); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("batch: error %v", err)
	}
}
