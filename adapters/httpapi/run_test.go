package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/core"
	"github.com/georag/georag/demo"
)

// TestStoppingLosesNoAcceptedRequest stops a server 50 times under 32 clients that keep asking. A request counts as
// accepted once its handler ran; its client must have had the whole answer.
func TestStoppingLosesNoAcceptedRequest(t *testing.T) {
	stages := map[string]*core.Stage{"demo": demoStage(t, flat.Config{})}
	for run := range 50 {
		drain := []time.Duration{0, 5 * time.Millisecond}[run%2]
		arrived := &marks{}
		s := start(t, httpapi.Config{Timeouts: httpapi.Timeouts{Drain: &drain}}, func(d *httpapi.Deps) {
			d.Stages = stages
			d.Routes = []httpapi.Route{{Pattern: "POST /work", AnyBody: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				arrived.add(httpapi.RequestID(r.Context()))
				time.Sleep(2 * time.Millisecond)
				_, _ = io.WriteString(w, strings.Repeat("done ", 2000))
			})}}
		})
		answered := askUntilStopped(t, s)
		for _, id := range arrived.list() {
			if !answered.has(id) {
				t.Fatalf("run %d, drain %v: request %s was accepted and its answer lost", run, drain, id)
			}
		}
		if len(arrived.list()) < 32 {
			t.Fatalf("run %d: only %d requests", run, len(arrived.list()))
		}
	}
}

// askUntilStopped has 32 clients ask again and again, stops the server meanwhile, and returns which requests had a
// whole answer.
func askUntilStopped(t *testing.T, s *service) *marks {
	t.Helper()
	answered, sent := &marks{}, make(chan struct{}, 4096)
	var clients sync.WaitGroup
	for client := range 32 {
		clients.Go(func() {
			for n := 0; ; n++ {
				id := fmt.Sprintf("c%d-n%d", client, n)
				req, _ := http.NewRequest(http.MethodPost, s.url+"/work", strings.NewReader("{}"))
				req.Header.Set("X-Request-Id", id)
				answer, err := s.client.Do(req)
				if err != nil {
					return // refused: the server no longer listens
				}
				body, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				if err == nil && (answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == 200 && len(body) == 10000) {
					answered.add(id)
				}
				select {
				case sent <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 64 {
		<-sent
	}
	if err := s.stop(); err != nil {
		t.Fatalf("Serve: %v", err)
	}
	clients.Wait()
	return answered
}

// marks is a set of names.
type marks struct {
	mu    sync.Mutex
	names map[string]bool
}

func (m *marks) add(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names == nil {
		m.names = map[string]bool{}
	}
	m.names[name] = true
}

func (m *marks) has(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.names[name]
}

func (m *marks) list() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for name := range m.names {
		names = append(names, name)
	}
	return names
}

func TestReadinessGoesFirst(t *testing.T) {
	drain := 500 * time.Millisecond
	s := start(t, httpapi.Config{Timeouts: httpapi.Timeouts{Drain: &drain}}, nil)
	if answer, body := s.get(t, "/readyz"); answer.StatusCode != 200 {
		t.Fatalf("%s", body)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	for !strings.Contains(s.log.String(), "draining") {
		time.Sleep(time.Millisecond)
	}
	if answer, body := s.get(t, "/readyz"); answer.StatusCode != 503 || !strings.Contains(string(body), "draining") {
		t.Errorf("/readyz: %d %s", answer.StatusCode, body)
	}
	answer, body := s.post(t, "/v1/select", question(t, 0))
	if answer.StatusCode != 200 || !answer.Close {
		t.Errorf("while draining: %d, Close %v: %s", answer.StatusCode, answer.Close, body)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestReadinessFollowsTheStore(t *testing.T) {
	var down sync.Map
	s := start(t, httpapi.Config{}, func(d *httpapi.Deps) {
		d.Ready = func(context.Context) error {
			if _, yes := down.Load("store"); yes {
				return core.ErrUnavailable
			}
			return nil
		}
	})
	down.Store("store", true)
	if answer, body := s.get(t, "/readyz"); answer.StatusCode != 503 {
		t.Errorf("%d: %s", answer.StatusCode, body)
	}
	if answer, _ := s.get(t, "/healthz"); answer.StatusCode != 200 {
		t.Errorf("/healthz: %d", answer.StatusCode)
	}
}

func TestRequestsThatOutlastTheShutdownAreAnError(t *testing.T) {
	release := make(chan struct{})
	entered := make(chan struct{})
	noWait := time.Duration(0)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := httpapi.New(httpapi.Config{Timeouts: httpapi.Timeouts{Drain: &noWait, Shutdown: 20 * time.Millisecond}}, httpapi.Deps{
		Stages: map[string]*core.Stage{"demo": demoStage(t, flat.Config{})}, Log: slog.New(slog.DiscardHandler),
		Routes: []httpapi.Route{{Pattern: "GET /stuck", AnyBody: true, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(entered); <-release })}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended, left := make(chan error, 1), make(chan struct{})
	go func() { ended <- s.Serve(ctx, listener) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	go func() {
		defer close(left)
		if answer, err := client.Get("http://" + listener.Addr().String() + "/stuck"); err == nil {
			answer.Body.Close()
		}
	}()
	<-entered
	cancel()
	if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Serve: %v", err)
	}
	close(release)
	<-left
}

const childVariable = "GEORAG_HTTPAPI_CHILD"

// serveAsChild is the process that the tests of signals end: a server with a route that never returns by itself.
func serveAsChild() int {
	ctx, stop := httpapi.SignalContext(context.Background())
	defer stop()
	store, err := flat.OpenFS(demo.Files, "data", flat.Config{})
	if err != nil {
		return 3
	}
	defer store.Close()
	s, err := httpapi.New(httpapi.Config{Timeouts: httpapi.Timeouts{Drain: ptr(10 * time.Millisecond), Shutdown: time.Minute}}, httpapi.Deps{
		Stages: map[string]*core.Stage{"demo": {Store: store}}, Log: slog.New(slog.NewJSONHandler(os.Stderr, nil)),
		Routes: []httpapi.Route{{Pattern: "GET /stuck", AnyBody: true, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { select {} })}},
	})
	if err != nil {
		return 3
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 3
	}
	fmt.Println(listener.Addr())
	if err := s.Serve(ctx, listener); err != nil {
		return 1
	}
	return 0
}

// child starts such a process and returns it with its address.
func child(t *testing.T) (*exec.Cmd, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.Command(self)
	process.Env = append(os.Environ(), childVariable+"=1")
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Process.Kill() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return process, strings.TrimSpace(address)
}

func TestFirstSignalEndsCleanlyAndSecondAtOnce(t *testing.T) {
	process, _ := child(t)
	if err := process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := process.Wait(); err != nil {
		t.Errorf("after one signal: %v", err)
	}

	process, address := child(t)
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := io.WriteString(connection, "GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		time.Sleep(100 * time.Millisecond) // until the request is under way, and the first signal is taken
		if err := process.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	var exit *exec.ExitError
	if err := process.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("after two signals: %v", err)
	}
}
