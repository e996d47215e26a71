package rerank

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/modelhttp"
	"github.com/georag/georag/internal/retry"
	"github.com/georag/georag/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "rr-canary-4471ce"

// apis lists what each dialect's server takes and gives, after its own documentation.
var apis = map[API]struct {
	path    string // below the server's root
	base    string // configured, below the server's root
	request string // for two passages, with the model "m" where the API has one
	answer  func(scores []float64, order []int) any
}{
	APICohere: {"/v2/rerank", "", `{"model":"m","query":"q","documents":["a","b"],"top_n":2}`, results},
	APIJina:   {"/v1/rerank", "/v1", `{"model":"m","query":"q","documents":["a","b"],"top_n":2,"return_documents":false}`, results},
	APITEI:    {"/rerank", "", `{"query":"q","texts":["a","b"]}`, ranks},
	APIVoyage: {"/v1/rerank", "/v1/", `{"query":"q","documents":["a","b"],"model":"m","top_k":2,"return_documents":false}`, data},
	APIVLLM:   {"/rerank", "", `{"model":"m","query":"q","documents":["a","b"],"top_n":2}`, vllmResults},
}

func results(scores []float64, order []int) any {
	list := []any{}
	for _, i := range order {
		list = append(list, map[string]any{"index": i, "relevance_score": scores[i]})
	}
	return map[string]any{"id": "1", "results": list, "meta": map[string]any{"api_version": map[string]any{"version": "2"}}}
}

func data(scores []float64, order []int) any {
	list := results(scores, order).(map[string]any)["results"]
	return map[string]any{"object": "list", "data": list, "model": "m", "usage": map[string]int{"total_tokens": 9}}
}

func ranks(scores []float64, order []int) any {
	list := []any{}
	for _, i := range order {
		list = append(list, map[string]any{"index": i, "score": scores[i]})
	}
	return list
}

func vllmResults(scores []float64, order []int) any {
	list := []any{}
	for _, i := range order {
		list = append(list, map[string]any{"index": i, "document": map[string]any{"text": "t"}, "relevance_score": scores[i]})
	}
	return map[string]any{"id": "rerank-1", "model": "m", "usage": map[string]int{"total_tokens": 9}, "results": list}
}

func newClient(t *testing.T, c Config, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c.BaseURL = server.URL + apis[c.API].base
	c.Policy = retry.Policy{MinPause: 1, MaxPause: 1, Timeout: c.Timeout}
	if c.API != APITEI {
		c.Model = "m"
	}
	client, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// texts are the passages of a request in any dialect.
func texts(t *testing.T, r *http.Request) []string {
	var in struct{ Documents, Texts []string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		t.Error(err)
	}
	return append(in.Documents, in.Texts...)
}

// descending is the order in which servers answer: best first.
func descending(scores []float64) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(1e6 * (scores[b] - scores[a])) })
	return order
}

func TestRequestOfEachAPI(t *testing.T) {
	t.Setenv("GEORAG_TEST_KEY", key)
	for api, spec := range apis {
		t.Run(string(api), func(t *testing.T) {
			client := newClient(t, Config{API: api, Config: modelhttp.Config{Source: secret.Source{Env: "GEORAG_TEST_KEY"}}}, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if r.Method != http.MethodPost || r.URL.Path != spec.path || string(body) != spec.request {
					t.Errorf("%s %s\n got %s\nwant %s", r.Method, r.URL.Path, body, spec.request)
				}
				if r.Header.Get("Authorization") != "Bearer "+key {
					t.Errorf("Authorization %q", r.Header.Get("Authorization"))
				}
				_ = json.NewEncoder(w).Encode(spec.answer([]float64{0.25, 0.75}, []int{1, 0}))
			})
			got, err := client.Rerank(t.Context(), "q", []string{"a", "b"})
			if err != nil || !slices.Equal(got, []float64{0.25, 0.75}) {
				t.Errorf("got %v, error %v", got, err)
			}
			if want := map[bool]string{true: "tei", false: "m"}[api == APITEI]; client.Model() != want {
				t.Errorf("model %q", client.Model())
			}
		})
	}
}

func TestTruncationOfEachAPI(t *testing.T) {
	no := false
	for name, c := range map[string]struct {
		api        API
		truncation Truncation
		want       string
	}{
		"cohere": {APICohere, Truncation{Tokens: 512}, `"max_tokens_per_doc":512`},
		"tei":    {APITEI, Truncation{Enabled: &no, Side: "left"}, `"truncate":false,"truncation_direction":"Left"`},
		"voyage": {APIVoyage, Truncation{Enabled: &no}, `"truncation":false`},
		"vllm":   {APIVLLM, Truncation{Tokens: 8000}, `"truncate_prompt_tokens":8000`},
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, Config{API: c.api, Truncation: c.truncation}, func(w http.ResponseWriter, r *http.Request) {
				if body, _ := io.ReadAll(r.Body); !strings.Contains(string(body), c.want) {
					t.Errorf("request %s has no %s", body, c.want)
				}
				_ = json.NewEncoder(w).Encode(apis[c.api].answer([]float64{1}, []int{0}))
			})
			if _, err := client.Rerank(t.Context(), "q", []string{"a"}); err != nil {
				t.Error(err)
			}
		})
	}
}

// 200 passages go to TEI in chunks of 32, and each score finds its way back to its passage.
func TestChunksStayAligned(t *testing.T) {
	passages, want := make([]string, 200), make([]float64, 200)
	for i := range passages {
		want[i] = float64((i*37)%200) / 200
		passages[i] = fmt.Sprint(want[i])
	}
	for api, spec := range apis {
		for _, size := range []int{0, 1, 7, 200, 1000} {
			var mu sync.Mutex
			var sizes []int
			client := newClient(t, Config{API: api, BatchSize: size, Concurrency: 3}, func(w http.ResponseWriter, r *http.Request) {
				batch := texts(t, r)
				scores := make([]float64, len(batch))
				for i, text := range batch {
					fmt.Sscan(text, &scores[i])
				}
				mu.Lock()
				sizes = append(sizes, len(batch))
				mu.Unlock()
				_ = json.NewEncoder(w).Encode(spec.answer(scores, descending(scores)))
			})
			got, err := client.Rerank(t.Context(), "q", passages)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s in chunks of %d: %v, error %v", api, size, got, err)
			}
			limit := size
			if size == 0 {
				limit = map[bool]int{true: 32, false: 1000}[api == APITEI]
			}
			if slices.Max(sizes) > limit || len(sizes) != (200+limit-1)/limit {
				t.Errorf("%s: chunks %v, want at most %d", api, sizes, limit)
			}
		}
	}
}

func TestNothingToRerank(t *testing.T) {
	client := newClient(t, Config{API: APITEI}, func(http.ResponseWriter, *http.Request) { t.Error("nothing was to be sent") })
	if got, err := client.Rerank(t.Context(), "q", nil); err != nil || len(got) != 0 {
		t.Errorf("got %v, error %v", got, err)
	}
}

func TestMalformedScoresAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		api  API
		body string
	}{
		"one missing":         {APITEI, `[{"index":0,"score":1}]`},
		"one too many":        {APITEI, `[{"index":0,"score":1},{"index":1,"score":1},{"index":2,"score":1}]`},
		"twice the same":      {APITEI, `[{"index":0,"score":1},{"index":0,"score":2}]`},
		"below 0":             {APITEI, `[{"index":-1,"score":1},{"index":0,"score":2}]`},
		"no index":            {APITEI, `[{"score":1},{"index":1,"score":2}]`},
		"null score":          {APITEI, `[{"index":0,"score":null},{"index":1,"score":2}]`},
		"score in words":      {APITEI, `[{"index":0,"score":"high"},{"index":1,"score":2}]`},
		"an object":           {APITEI, `{"results":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":1}]}`},
		"an array":            {APICohere, `[{"index":0,"score":1},{"index":1,"score":1}]`},
		"other name":          {APICohere, `{"data":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":1}]}`},
		"other score":         {APIJina, `{"results":[{"index":0,"score":1},{"index":1,"score":1}]}`},
		"results for Voyage":  {APIVoyage, `{"results":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":1}]}`},
		"top one only":        {APIVLLM, `{"results":[{"index":1,"relevance_score":1}]}`},
		"none":                {APIVLLM, `{"results":[]}`},
		"null":                {APIVLLM, `null`},
		"error with 200":      {APIJina, `{"detail":"out of credit"}`},
		"fractional index":    {APIJina, `{"results":[{"index":0.5,"relevance_score":1},{"index":1,"relevance_score":1}]}`},
		"a number no float64": {APIJina, `{"results":[{"index":0,"relevance_score":1e999},{"index":1,"relevance_score":1}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, Config{API: c.api}, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.body) })
			got, err := client.Rerank(t.Context(), "q", []string{"a", "b"})
			if !errors.Is(err, ErrAnswer) || got != nil {
				t.Errorf("got %v, error %v", got, err)
			}
		})
	}
	t.Run("page", func(t *testing.T) {
		client := newClient(t, Config{API: APITEI}, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
		if got, err := client.Rerank(t.Context(), "q", []string{"a"}); err == nil || got != nil {
			t.Errorf("got %v, error %v", got, err)
		}
	})
}

func TestRefusals(t *testing.T) {
	t.Setenv("GEORAG_TEST_KEY", key)
	for name, c := range map[string]struct {
		status int
		body   string
		is     error
		calls  int32
	}{
		"chunk too large": {422, `{"error":"batch size 33 > maximum allowed batch size 32","error_type":"Validation"}`, core.ErrInvalid, 1},
		"overloaded":      {429, `{"error":"Model is overloaded","error_type":"Overloaded"}`, core.ErrUnavailable, 3},
		"backend":         {424, `{"error":"` + key + `","error_type":"Backend"}`, core.ErrUnavailable, 3},
		"wrong key":       {401, `{"detail":"key ` + key + ` is wrong"}`, core.ErrUnauthorized, 1},
		"no such path":    {404, ``, core.ErrNotFound, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			config := modelhttp.Config{Source: secret.Source{Env: "GEORAG_TEST_KEY"}}
			client := newClient(t, Config{API: APITEI, Config: config}, func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			_, err := client.Rerank(t.Context(), "q", []string{"a"})
			if !errors.Is(err, c.is) || calls.Load() != c.calls {
				t.Errorf("error %v after %d calls", err, calls.Load())
			}
			if said := fmt.Sprintf("%v %+v %#v %#v", err, err, err, client); strings.Contains(said, key) {
				t.Errorf("the key shows in %s", said)
			}
		})
	}
}

// A silent server leaves a fifth of the caller's time for selecting without it.
func TestDeadlineLeavesTime(t *testing.T) {
	client := newClient(t, Config{API: APITEI}, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	_, err := client.Rerank(ctx, "q", []string{"a"})
	if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		t.Errorf("error %v, caller's context %v", err, ctx.Err())
	}
}

func TestConfig(t *testing.T) {
	yes := true
	for says, c := range map[string]Config{
		"api \"\"":           {},
		"api \"openai\"":     {API: "openai"},
		"base_url":           {API: APITEI},
		"model":              {API: APICohere},
		"batch_size":         {API: APICohere, Model: "m", BatchSize: -1},
		"concurrency":        {API: APICohere, Model: "m", Concurrency: 65},
		"truncation.enabled": {API: APICohere, Model: "m", Truncation: Truncation{Enabled: &yes}},
		"truncation.side":    {API: APIVoyage, Model: "m", Truncation: Truncation{Side: "left"}},
		"truncation.tokens":  {API: APIJina, Model: "m", Truncation: Truncation{Tokens: 1}},
		"timeout":            {API: APIJina, Model: "m", Config: modelhttp.Config{Policy: retry.Policy{Timeout: -1}}},
	} {
		if _, err := New(c); !errors.Is(err, core.ErrInvalid) || !strings.Contains(fmt.Sprint(err), says) {
			t.Errorf("%s: error %v", says, err)
		}
	}
	side := Config{API: APITEI, Config: modelhttp.Config{BaseURL: "http://h"}, Truncation: Truncation{Side: "up"}}
	if err := side.Validate(); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("side: error %v", err)
	}
	for _, api := range []API{APICohere, APIJina, APIVoyage} {
		client, err := New(Config{API: api, Model: "m"})
		if err != nil || !strings.HasPrefix(client.http.BaseURL(), "https://api.") {
			t.Errorf("%s: %v, error %v", api, client, err)
		}
	}
}
