package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/fnv"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/core"
	"github.com/georag/georag/demo"
	"github.com/georag/georag/internal/questions"
)

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(serveAsChild())
	}
	goleak.VerifyTestMain(m)
}

// words embeds a text as its words: each one a hashed sign in one of dim places.
type words struct{ dim int }

func (w words) EmbedQueries(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, w.dim)
		for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !('a' <= r && r <= 'z') }) {
			h := fnv.New64a()
			_, _ = h.Write([]byte(word))
			sum := h.Sum64()
			vectors[i][sum>>1%uint64(w.dim)] += 1 - 2*float32(sum&1)
		}
	}
	return vectors, nil
}

func (w words) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	return w.EmbedQueries(ctx, texts)
}

func (w words) Model() string { return "words" }

// demoStage is a stage over the demonstration corpus.
func demoStage(t testing.TB, c flat.Config) *core.Stage {
	t.Helper()
	store, err := flat.OpenFS(demo.Files, "data", c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return &core.Stage{Store: store, Planner: core.Planner{Embedder: words{384}}}
}

var demoQuestions = sync.OnceValues(func() ([]questions.Question, error) { return questions.OpenFS(demo.Files, "data") })

// question returns a question of the demonstration corpus as a request.
func question(t testing.TB, i int) httpapi.SelectRequest {
	t.Helper()
	all, err := demoQuestions()
	if err != nil {
		t.Fatal(err)
	}
	q := all[i%len(all)]
	req := httpapi.SelectRequest{Query: q.Text, Vector: httpapi.NewVector(q.Vector)}
	for _, sub := range q.Query().SubQueries {
		req.SubQueries = append(req.SubQueries, httpapi.SubQuery{Text: sub.Text, Vector: httpapi.NewVector(sub.Vector)})
	}
	return req
}

// journal is a log that tests read.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// service is a running server.
type service struct {
	*httpapi.Server
	url    string
	client *http.Client
	log    *journal
	// stop ends it and returns what Serve returned; it may be called more than once.
	stop func() error
}

func noDrain(c *httpapi.Config) {
	if c.Timeouts.Drain == nil {
		c.Timeouts.Drain = new(time.Duration)
	}
}

// start runs a server over the demonstration corpus, at a port of its own, until the test ends.
func start(t testing.TB, c httpapi.Config, change func(*httpapi.Deps)) *service {
	t.Helper()
	noDrain(&c)
	s := &service{log: &journal{}}
	deps := httpapi.Deps{Log: slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Version: "test"}
	if change != nil {
		change(&deps)
	}
	if deps.Stages == nil {
		deps.Stages = map[string]*core.Stage{"demo": demoStage(t, flat.Config{})}
	}
	var err error
	if s.Server, err = httpapi.New(c, deps); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + listener.Addr().String()
	if c.TLS.CertFile != "" {
		s.url = "https://" + listener.Addr().String()
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	s.client = &http.Client{Transport: transport}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		err := <-ended
		transport.CloseIdleConnections()
		return err
	})
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := s.stop(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

// post sends body, marshalled unless it is text already, and returns the answer with its body read.
func (s *service) post(t testing.TB, path string, body any, header ...string) (*http.Response, []byte) {
	t.Helper()
	encoded, ok := body.(string)
	if !ok {
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		encoded = string(data)
	}
	req, err := http.NewRequest(http.MethodPost, s.url+path, strings.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return s.do(t, req)
}

func (s *service) get(t testing.TB, path string, header ...string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return s.do(t, req)
}

func (s *service) do(t testing.TB, req *http.Request) (*http.Response, []byte) {
	t.Helper()
	answer, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, body
}

// decoded reads an answer that must have the given status.
func decoded[T any](t testing.TB, status int, answer *http.Response, body []byte) T {
	t.Helper()
	var value T
	if answer.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", answer.StatusCode, status, body)
	}
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return value
}

func ptr[T any](value T) *T { return &value }
