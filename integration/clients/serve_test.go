// Package clients tests `georag serve` with the client libraries that its users have: Qdrant's official Go and Python
// clients, and the Python clients of the rerank protocols.
package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	qd "github.com/qdrant/go-client/qdrant"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/adapters/qdrant"
	"github.com/georag/georag/adapters/static"
	"github.com/georag/georag/core"
	"github.com/georag/georag/demo"
	"github.com/georag/georag/internal/milvusserver"
	"github.com/georag/georag/internal/qdranttest"
	"github.com/georag/georag/internal/secret"
)

// binary is the program, built once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "georag-clients-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "georag")
	output, err := exec.Command("go", "build", "-o", path, "github.com/georag/georag/cmd/georag").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, output)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if err := milvusserver.StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	if path, err := binary(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// service is a running `georag serve`.
type service struct {
	url string
	log *bytes.Buffer // complete once the test ends
}

// serve starts the program with a configuration in which LISTEN stands for its address.
func serve(t *testing.T, config string) *service {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	s := &service{url: "http://" + freeAddr(t), log: &bytes.Buffer{}}
	file := filepath.Join(t.TempDir(), "georag.yaml")
	config = strings.ReplaceAll(config, "LISTEN", strings.TrimPrefix(s.url, "http://"))
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	program := exec.Command(path, "serve", "--config", file)
	program.Stdout, program.Stderr = s.log, s.log
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- program.Wait() }()
	t.Cleanup(func() {
		_ = program.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("georag serve ended with %v", err)
			}
		case <-time.After(20 * time.Second):
			_ = program.Process.Kill()
			<-ended
			t.Error("georag serve did not end on SIGTERM")
		}
		if t.Failed() {
			t.Logf("georag serve said:\n%s", s.log)
		}
		if strings.Contains(s.log.String(), "panicked") {
			t.Error("a handler panicked")
		}
	})
	for range 600 {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("georag serve ended at once: %v\n%s", err, s.log)
		case <-time.After(50 * time.Millisecond):
		}
		if answer, err := http.Get(s.url + "/healthz"); err == nil {
			_ = answer.Body.Close()
			return s
		}
	}
	t.Fatal("georag serve did not come up")
	return nil
}

// freeAddr is an address of this machine that nothing listens at.
func freeAddr(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// upstream is a Qdrant with the demonstration corpus: gRPC and REST over the same data.
type upstream struct {
	*qdranttest.Server
	rest  string
	mu    sync.Mutex
	heard []heard // what came in by REST
}

// heard is a request of REST as it arrived.
type heard struct {
	method, uri string
	header      http.Header
	body        []byte
}

// all are the requests so far, at least one.
func (u *upstream) all(t *testing.T) []heard {
	t.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.heard) == 0 {
		t.Fatal("nothing arrived")
	}
	return slices.Clone(u.heard)
}

const (
	collection  = "demo"
	upstreamKey = "key-of-the-database"
)

// startUpstream starts it. Every second passage belongs to tenant "a", the others to "b".
func startUpstream(t *testing.T, key string) *upstream {
	t.Helper()
	u := &upstream{Server: qdranttest.Start(t, qdranttest.Config{APIKey: key})}
	inner := u.Server.REST(qdrant.ParseFilter)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		u.mu.Lock()
		u.heard = append(u.heard, heard{r.Method, r.RequestURI, r.Header.Clone(), body.Bytes()})
		u.mu.Unlock()
		r.Body = http.NoBody
		if body.Len() > 0 {
			r.Body = struct {
				*bytes.Reader
				nopCloser
			}{bytes.NewReader(body.Bytes()), nopCloser{}}
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	u.rest = front.URL
	u.load(t, key)
	return u
}

type nopCloser struct{}

func (nopCloser) Close() error { return nil }

func (u *upstream) load(t *testing.T, key string) {
	t.Helper()
	client := goClient(t, u.Addr(), key)
	source, err := flat.OpenFS(demo.Files, "data", flat.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	var texts []string
	err = source.Scan(t.Context(), core.Scope{}, 0, func(c core.Candidate) bool {
		texts = append(texts, c.PayloadText())
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	vectors := embed(t, texts...)
	points := make([]*qd.PointStruct, len(texts))
	for i, text := range texts {
		points[i] = &qd.PointStruct{
			Id: qd.NewIDNum(uint64(i) + 1), Vectors: qd.NewVectors(vectors[i]...),
			Payload: qd.NewValueMap(map[string]any{"text": text, "tenant": []string{"a", "b"}[i%2], "n": int64(i)}),
		}
	}
	dimension := uint64(len(vectors[0]))
	err = client.CreateCollection(t.Context(), &qd.CreateCollection{CollectionName: collection,
		VectorsConfig: qd.NewVectorsConfig(&qd.VectorParams{Size: dimension, Distance: qd.Distance_Cosine})})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Upsert(t.Context(), &qd.UpsertPoints{CollectionName: collection, Points: points}); err != nil {
		t.Fatal(err)
	}
}

// embed makes vectors with the table in the binary, which is the served model too.
func embed(t *testing.T, texts ...string) [][]float32 {
	t.Helper()
	embedder, err := static.NewEmbedder()
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := embedder.EmbedQueries(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

// goClient is Qdrant's official Go client.
func goClient(t *testing.T, addr, key string) *qd.Client {
	t.Helper()
	host, port := splitAddr(t, addr)
	client, err := qd.NewClient(&qd.Config{Host: host, Port: port, APIKey: key, SkipCompatibilityCheck: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func splitAddr(t *testing.T, addr string) (host string, port int) {
	t.Helper()
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	if port, err = strconv.Atoi(text); err != nil {
		t.Fatal(err)
	}
	return host, port
}

// keysFile writes a keys file with the key of everyone and one bound to tenant "a".
const (
	openKey  = "key-of-everyone-0123456789"
	boundKey = "key-of-tenant-a-0123456789"
)

func keysFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keys")
	content := "everyone " + httpapi.HashKey(secret.New(openKey)) + "\na " + httpapi.HashKey(secret.New(boundKey)) + " tenant=a\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// python runs a script with a client library on the given input and returns what it prints. The libraries are installed at first use;
// where that cannot be done the test is skipped, and with CI=true it fails.
func python(t *testing.T, script, requirements, input string, args ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: -short: no Python client is run")
	}
	unable := func(err error, what string) {
		t.Helper()
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s, which CI requires: %v", what, err)
		}
		t.Skipf("SKIPPED: %s: %v", what, err)
	}
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		unable(err, "no Python")
	}
	cache, err := filepath.Abs("../../.cache")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	environment, err := exec.CommandContext(ctx, interpreter, "environment.py", cache, requirements).Output()
	if err != nil {
		unable(err, "the Python clients of "+requirements+" cannot be installed")
	}
	ctx, cancel = context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, strings.TrimSpace(string(environment)), append([]string{script}, args...)...)
	var said bytes.Buffer
	run.Stdin, run.Stderr = strings.NewReader(input), &said
	output, err := run.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", script, err, output, &said)
	}
	return string(output)
}

// decode reads the last line of a script's output.
func decode(t *testing.T, output string, target any) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), target); err != nil {
		t.Fatalf("%v in %s", err, output)
	}
}
