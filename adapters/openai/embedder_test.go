package openai

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
	"github.com/georag/georag/internal/modelhttp"
	"github.com/georag/georag/internal/retry"
)

// embeddingRequest is what a server sees of an Embedder.
type embeddingRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Encoding   string   `json:"encoding_format"`
	Dimensions int      `json:"dimensions"`
}

// vectorOf is the vector of a text under the test's model: its length, its first and its last byte.
func vectorOf(text string) []float32 {
	return []float32{float32(len(text)), float32(text[0]), float32(text[len(text)-1])}
}

func inBase64(v []float32) string {
	raw, _ := binary.Append(nil, binary.LittleEndian, v)
	return base64.StdEncoding.EncodeToString(raw)
}

// embeddings answers like OpenAI, with the items in reverse: the order is what their index says.
func embeddings(w http.ResponseWriter, in embeddingRequest) {
	var data []map[string]any
	for i, text := range slices.Backward(in.Input) {
		item := map[string]any{"object": "embedding", "index": i, "embedding": vectorOf(text)}
		if in.Encoding == "base64" {
			item["embedding"] = inBase64(vectorOf(text))
		}
		data = append(data, item)
	}
	writeJSON(w, map[string]any{"object": "list", "model": in.Model, "data": data, "usage": map[string]int{"prompt_tokens": 1, "total_tokens": 1}})
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

// recorder keeps what was asked.
type recorder struct {
	mu       sync.Mutex
	requests []embeddingRequest
}

func (r *recorder) decode(t *testing.T, req *http.Request) embeddingRequest {
	var in embeddingRequest
	if err := json.NewDecoder(req.Body).Decode(&in); err != nil || req.URL.Path != "/v1/embeddings" {
		t.Errorf("request %s: %v", req.URL.Path, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, in)
	return in
}

// quick is a policy for tests: retries without a pause to speak of.
var quick = retry.Policy{MinPause: 1, MaxPause: 1, Timeout: 10 * time.Second}

func serve(t *testing.T, handler http.HandlerFunc) modelhttp.Config {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return modelhttp.Config{BaseURL: server.URL + "/v1", Policy: quick}
}

func newEmbedder(t *testing.T, c EmbedderConfig, handler http.HandlerFunc) *Embedder {
	t.Helper()
	c.Config = serve(t, handler)
	if c.Model == "" {
		c.Model = "test-model"
	}
	e, err := NewEmbedder(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func TestBatchesComeBackInOrder(t *testing.T) {
	texts := make([]string, 23)
	for i := range texts {
		texts[i] = strings.Repeat("x", i+1) + string(rune('a'+i))
	}
	for _, encoding := range []Encoding{EncodingAuto, EncodingBase64, EncodingFloat} {
		var seen recorder
		e := newEmbedder(t, EmbedderConfig{BatchSize: 5, Concurrency: 3, Dimensions: 3, Encoding: encoding}, func(w http.ResponseWriter, r *http.Request) {
			embeddings(w, seen.decode(t, r))
		})
		got, err := e.EmbedPassages(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			if !slices.Equal(got[i], vectorOf(text)) {
				t.Errorf("encoding %q, text %d: %v, want %v", encoding, i, got[i], vectorOf(text))
			}
		}
		total := 0
		for _, in := range seen.requests {
			if total += len(in.Input); len(in.Input) > 5 || in.Dimensions != 3 || in.Model != "test-model" {
				t.Errorf("request %+v", in)
			}
			if want := map[Encoding]string{EncodingAuto: "base64", EncodingBase64: "base64", EncodingFloat: "float"}[encoding]; in.Encoding != want {
				t.Errorf("encoding_format %q, want %q", in.Encoding, want)
			}
		}
		if total != len(texts) || len(seen.requests) != 5 {
			t.Errorf("%d texts in %d requests", total, len(seen.requests))
		}
	}
}

func TestDimensionsAreLeftOutByDefault(t *testing.T) {
	e := newEmbedder(t, EmbedderConfig{}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "dimensions") {
			t.Errorf("a model without that option would refuse %s", body)
		}
		embeddings(w, embeddingRequest{Input: []string{"a"}})
	})
	if _, err := e.EmbedQueries(t.Context(), []string{"a"}); err != nil {
		t.Fatal(err)
	}
}

func TestServerWithoutBase64IsAskedOnceOnly(t *testing.T) {
	var seen recorder
	e := newEmbedder(t, EmbedderConfig{}, func(w http.ResponseWriter, r *http.Request) {
		in := seen.decode(t, r)
		if in.Encoding == "base64" {
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"error":"unknown encoding_format"}`)
			return
		}
		embeddings(w, in)
	})
	for range 3 {
		if _, err := e.EmbedQueries(t.Context(), []string{"abc"}); err != nil {
			t.Fatal(err)
		}
	}
	var encodings []string
	for _, in := range seen.requests {
		encodings = append(encodings, in.Encoding)
	}
	if want := []string{"base64", "float", "float", "float"}; !slices.Equal(encodings, want) {
		t.Errorf("asked for %q, want %q", encodings, want)
	}
}

// A server that ignores encoding_format answers with numbers although base64 was asked for.
func TestServerThatIgnoresEncoding(t *testing.T) {
	e := newEmbedder(t, EmbedderConfig{}, func(w http.ResponseWriter, r *http.Request) {
		var seen recorder
		in := seen.decode(t, r)
		in.Encoding = "float"
		embeddings(w, in)
	})
	got, err := e.EmbedQueries(t.Context(), []string{"ab", "c"})
	if err != nil || !slices.Equal(got[0], vectorOf("ab")) || !slices.Equal(got[1], vectorOf("c")) {
		t.Errorf("got %v, error %v", got, err)
	}
}

func TestPrefixes(t *testing.T) {
	empty, own := "", "mine: "
	for name, c := range map[string]struct {
		prefix         PrefixConfig
		query, passage string
	}{
		"none":      {PrefixConfig{}, "t", "t"},
		"e5":        {PrefixConfig{Preset: "e5"}, "query: t", "passage: t"},
		"bge":       {PrefixConfig{Preset: "bge"}, "Represent this sentence for searching relevant passages: t", "t"},
		"qwen3":     {PrefixConfig{Preset: "qwen3"}, "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:t", "t"},
		"task":      {PrefixConfig{Preset: "qwen3", Instruction: "Find laws"}, "Instruct: Find laws\nQuery:t", "t"},
		"e5 task":   {PrefixConfig{Preset: "e5-instruct", Instruction: "100%s"}, "Instruct: 100%s\nQuery: t", "t"},
		"nomic":     {PrefixConfig{Preset: "nomic"}, "search_query: t", "search_document: t"},
		"own":       {PrefixConfig{Preset: "e5", Query: &own}, "mine: t", "passage: t"},
		"own, none": {PrefixConfig{Preset: "e5", Query: &empty, Passage: &empty}, "t", "t"},
	} {
		t.Run(name, func(t *testing.T) {
			var seen recorder
			e := newEmbedder(t, EmbedderConfig{Prefix: c.prefix}, func(w http.ResponseWriter, r *http.Request) {
				embeddings(w, seen.decode(t, r))
			})
			_, err := e.EmbedQueries(t.Context(), []string{"t"})
			_, err2 := e.EmbedPassages(t.Context(), []string{"t"})
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			if got := seen.requests[0].Input[0]; got != c.query {
				t.Errorf("query %q, want %q", got, c.query)
			}
			if got := seen.requests[1].Input[0]; got != c.passage {
				t.Errorf("passage %q, want %q", got, c.passage)
			}
		})
	}
}

func TestNormaliseAndDimension(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) { embeddings(w, (&recorder{}).decode(t, r)) }
	unit := newEmbedder(t, EmbedderConfig{Normalise: true}, handler)
	got, err := unit.EmbedQueries(t.Context(), []string{"abc"})
	if err != nil || math.Abs(vec.Norm(got[0])-1) > 1e-6 {
		t.Errorf("vector %v, error %v", got, err)
	}
	if err := unit.CheckDimension(t.Context(), 3); err != nil {
		t.Error(err)
	}
	err = unit.CheckDimension(t.Context(), 384)
	if !errors.Is(err, core.ErrDimension) || !strings.Contains(err.Error(), "test-model") || !strings.Contains(err.Error(), "384") {
		t.Errorf("error %v", err)
	}
}

// malformed are answers with status 200 that no text got a vector from; each was or could be sent by a real server.
var malformed = map[string]struct {
	body string
	is   error
}{
	"one missing":        {`{"data":[{"index":0,"embedding":[1,2]}]}`, ErrAnswer},
	"one too many":       {`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2]},{"index":2,"embedding":[1,2]}]}`, ErrAnswer},
	"no data":            {`{"data":[]}`, ErrAnswer},
	"null data":          {`{"data":null}`, ErrAnswer},
	"other object":       {`{"embeddings":[[1,2],[3,4]]}`, ErrAnswer},
	"index twice":        {`{"data":[{"index":0,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}`, ErrAnswer},
	"index beyond":       {`{"data":[{"index":1,"embedding":[1,2]},{"index":2,"embedding":[1,2]}]}`, ErrAnswer},
	"index below":        {`{"data":[{"index":-1,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}`, ErrAnswer},
	"index of some":      {`{"data":[{"index":0,"embedding":[1,2]},{"embedding":[1,2]}]}`, ErrAnswer},
	"dimensions differ":  {`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2,3]}]}`, core.ErrDimension},
	"empty vector":       {`{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[1]}]}`, ErrAnswer},
	"no vector":          {`{"data":[{"index":0},{"index":1,"embedding":[1]}]}`, ErrAnswer},
	"zero vector":        {`{"data":[{"index":0,"embedding":[0,0]},{"index":1,"embedding":[1,2]}]}`, core.ErrZero},
	"null component":     {`{"data":[{"index":0,"embedding":[1,null]},{"index":1,"embedding":[1,2]}]}`, core.ErrNotFinite},
	"beyond float32":     {`{"data":[{"index":0,"embedding":[1,1e300]},{"index":1,"embedding":[1,2]}]}`, core.ErrNotFinite},
	"NaN in base64":      {`{"data":[{"index":0,"embedding":"AADAfwAAgD8="},{"index":1,"embedding":"AACAPwAAgD8="}]}`, core.ErrNotFinite},
	"not base64":         {`{"data":[{"index":0,"embedding":"***"},{"index":1,"embedding":"AACAPwAAgD8="}]}`, ErrAnswer},
	"3 bytes of base64":  {`{"data":[{"index":0,"embedding":"AACA"},{"index":1,"embedding":"AACAPwAAgD8="}]}`, ErrAnswer},
	"NaN is not JSON":    {`{"data":[{"index":0,"embedding":[NaN,1]},{"index":1,"embedding":[1,2]}]}`, ErrAnswer},
	"page":               {`<html><body>Welcome</body></html>`, ErrAnswer},
	"cut off":            {`{"data":[{"index":0,"embedding":[1,`, core.ErrUnavailable},
	"nothing":            {``, core.ErrUnavailable},
	"texts as vectors":   {`{"data":[{"index":0,"embedding":["1","2"]},{"index":1,"embedding":["1","2"]}]}`, ErrAnswer},
	"token embeddings":   {`{"data":[{"index":0,"embedding":[[1,2],[3,4]]},{"index":1,"embedding":[[1,2]]}]}`, ErrAnswer},
	"error with 200":     {`{"error":{"message":"out of memory","type":"server_error"}}`, ErrAnswer},
	"an array of arrays": {`[[1,2],[3,4]]`, ErrAnswer},
}

func TestMalformedEmbeddingsAreErrors(t *testing.T) {
	for name, c := range malformed {
		t.Run(name, func(t *testing.T) {
			e := newEmbedder(t, EmbedderConfig{}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, c.body)
			})
			got, err := e.EmbedQueries(t.Context(), []string{"a", "b"})
			if !errors.Is(err, c.is) || got != nil {
				t.Errorf("vectors %v, error %v, want %v", got, err, c.is)
			}
		})
	}
}

func TestEmbedderRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		statuses []int // of the answers in turn; the last one stays
		is       error
		calls    int32
	}{
		"wrong key":       {[]int{401}, core.ErrUnauthorized, 1},
		"no such model":   {[]int{404}, core.ErrNotFound, 1},
		"too many texts":  {[]int{413}, core.ErrInvalid, 1},
		"bad request":     {[]int{400}, core.ErrInvalid, 2}, // with base64 and without
		"down":            {[]int{503}, core.ErrUnavailable, 3},
		"busy, then fine": {[]int{429, 200}, nil, 2},
		"ill, then fine":  {[]int{500, 502, 200}, nil, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			e := newEmbedder(t, EmbedderConfig{}, func(w http.ResponseWriter, r *http.Request) {
				status := c.statuses[min(int(calls.Add(1)), len(c.statuses))-1]
				if status != 200 {
					w.Header().Set("Retry-After", "0")
					w.WriteHeader(status)
					return
				}
				embeddings(w, (&recorder{}).decode(t, r))
			})
			got, err := e.EmbedQueries(t.Context(), []string{"a"})
			if !errors.Is(err, c.is) || (err == nil) != (len(got) == 1) || calls.Load() != c.calls {
				t.Errorf("vectors %v, error %v after %d calls", got, err, calls.Load())
			}
		})
	}
}

func TestRetryAfterPastTheDeadlineIsNotWaitedFor(t *testing.T) {
	var calls atomic.Int32
	e := newEmbedder(t, EmbedderConfig{}, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	_, err := e.EmbedQueries(t.Context(), []string{"a"})
	if !errors.Is(err, core.ErrUnavailable) || calls.Load() != 1 {
		t.Errorf("error %v after %d calls", err, calls.Load())
	}
}

func TestEmbedderTimeout(t *testing.T) {
	config := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	config.Timeout = 30 * time.Millisecond
	e, err := NewEmbedder(EmbedderConfig{Config: config, Model: "m", PassageTimeout: 30 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.EmbedQueries(t.Context(), []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("queries: error %v", err)
	}
	if _, err := e.EmbedPassages(t.Context(), []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("passages: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.EmbedQueries(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

func TestEmbedderArguments(t *testing.T) {
	e := newEmbedder(t, EmbedderConfig{}, func(_ http.ResponseWriter, r *http.Request) { t.Error("nothing was to be sent") })
	if _, err := e.EmbedQueries(t.Context(), []string{"a", ""}); !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), "2 of 2") {
		t.Errorf("error %v", err)
	}
	if got, err := e.EmbedQueries(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("got %v, error %v", got, err)
	}
}

func TestEmbedderConfig(t *testing.T) {
	for says, change := range map[string]func(*EmbedderConfig){
		"model":       func(c *EmbedderConfig) { c.Model = "" },
		"dimensions":  func(c *EmbedderConfig) { c.Dimensions = -1 },
		"batch_size":  func(c *EmbedderConfig) { c.BatchSize = 2049 },
		"concurrency": func(c *EmbedderConfig) { c.Concurrency = -1 },
		"passage_tim": func(c *EmbedderConfig) { c.PassageTimeout = -1 },
		"encoding":    func(c *EmbedderConfig) { c.Encoding = "hex" },
		"preset":      func(c *EmbedderConfig) { c.Prefix.Preset = "e6" },
		"instruction": func(c *EmbedderConfig) { c.Prefix.Instruction = "do" },
		"base_url":    func(c *EmbedderConfig) { c.BaseURL = "host" },
		"timeout":     func(c *EmbedderConfig) { c.Timeout = -1 },
	} {
		c := EmbedderConfig{Model: "m"}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if _, err := NewEmbedder(c); !errors.Is(err, core.ErrInvalid) || !strings.Contains(fmt.Sprint(err), says) {
			t.Errorf("%s: error %v", says, err)
		}
	}
}
