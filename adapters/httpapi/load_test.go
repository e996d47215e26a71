package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/georag/georag/adapters/httpapi"
)

func TestOneWayForEveryEndpointUnderLoad(t *testing.T) {
	hold, entered := make(chan struct{}), make(chan struct{}, 1)
	s := start(t, httpapi.Config{Load: httpapi.LoadConfig{Running: 1, Queue: ptr(1), Wait: 20 * time.Millisecond}}, func(d *httpapi.Deps) {
		d.Routes = []httpapi.Route{{Pattern: "GET /hold", AnyBody: true, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { entered <- struct{}{}; <-hold })}}
	})
	done := make(chan struct{})
	go func() { defer close(done); s.get(t, "/hold") }()
	<-entered
	for _, path := range []string{"/v1/select", "/v1/diagnose", "/rerank", "/v1/rerank", "/v2/rerank"} {
		answer, body := s.post(t, path, `{"query":"a","documents":["b"]}`)
		if answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") != "1" || answer.Header.Get("Georag-Error") != string(httpapi.CodeOverloaded) {
			t.Errorf("%s: %d, Retry-After %q: %s", path, answer.StatusCode, answer.Header.Get("Retry-After"), body)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/openapi.json"} {
		if answer, _ := s.get(t, path); answer.StatusCode != 200 {
			t.Errorf("%s under load: %d", path, answer.StatusCode)
		}
	}
	if _, err := s.Admit(context.Background()); httpapi.FaultOf(err).Code != httpapi.CodeOverloaded {
		t.Errorf("Admit: %v", err)
	}
	close(hold)
	<-done
	leave, err := s.Admit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	leave()
	_, metrics := s.get(t, "/metrics")
	if !bytes.Contains(metrics, []byte(`georag_rejected_total{reason="wait"} 6`)) || !bytes.Contains(metrics, []byte("georag_requests_running 0")) {
		t.Errorf("%s", metrics)
	}
}

func TestQueueIsBounded(t *testing.T) {
	hold, entered := make(chan struct{}), make(chan struct{}, 8)
	s := start(t, httpapi.Config{Load: httpapi.LoadConfig{Running: 1, Queue: ptr(2), Wait: time.Minute}, Timeouts: httpapi.Timeouts{Request: 10 * time.Second}}, func(d *httpapi.Deps) {
		d.Routes = []httpapi.Route{{Pattern: "GET /hold", AnyBody: true, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { entered <- struct{}{}; <-hold })}}
	})
	var held sync.WaitGroup
	var ok atomic.Int64
	for range 3 {
		held.Go(func() {
			if answer, _ := s.get(t, "/hold"); answer.StatusCode == 200 {
				ok.Add(1)
			}
		})
	}
	<-entered
	for { // until two wait
		if _, metrics := s.get(t, "/metrics"); bytes.Contains(metrics, []byte("georag_requests_queued 2")) {
			break
		}
	}
	if answer, _ := s.get(t, "/hold"); answer.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the fourth: %d", answer.StatusCode)
	}
	close(hold)
	if held.Wait(); ok.Load() != 3 {
		t.Errorf("%d of 3 served", ok.Load())
	}
}

func TestBodiesHeldAtOnceAreBounded(t *testing.T) {
	s := start(t, httpapi.Config{Limits: httpapi.Limits{Body: 128 << 10}, Load: httpapi.LoadConfig{Buffered: 192 << 10}}, nil)
	slow, feed := io.Pipe()
	req, err := http.NewRequest(http.MethodPost, s.url+"/v1/select", slow)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	done := make(chan struct{})
	go func() {
		defer close(done)
		if answer, err := s.client.Do(req); err == nil {
			answer.Body.Close()
		}
	}()
	if _, err := feed.Write(bytes.Repeat([]byte(" "), 100<<10)); err != nil {
		t.Fatal(err)
	}
	large := `{"query":"` + strings.Repeat("a", 100<<10) + `"}`
	for { // until the slow request's bytes have arrived
		if answer, _ := s.post(t, "/v1/select", large); answer.StatusCode == http.StatusTooManyRequests {
			break
		}
	}
	if answer, body := s.post(t, "/v1/select", question(t, 0)); answer.StatusCode != 200 {
		t.Errorf("a small request: %d %s", answer.StatusCode, body)
	}
	feed.Close()
	<-done
	if answer, _ := s.post(t, "/v1/select", large); answer.StatusCode != http.StatusBadRequest {
		t.Errorf("afterwards: %d, want the text's length refused", answer.StatusCode)
	}
}

// TestSlowClientsAreCutOff opens connections that send a byte now and then, in the headers and in the body.
func TestSlowClientsAreCutOff(t *testing.T) {
	s := start(t, httpapi.Config{Timeouts: httpapi.Timeouts{Header: 150 * time.Millisecond, Body: 300 * time.Millisecond}}, nil)
	address := strings.TrimPrefix(s.url, "http://")
	var slow sync.WaitGroup
	for i := range 40 {
		slow.Go(func() {
			connection, err := net.Dial("tcp", address)
			if err != nil {
				t.Error(err)
				return
			}
			defer connection.Close()
			opening := "POST /v1/select HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
			if i%2 == 0 {
				opening += "Content-Length: 1000\r\n\r\n"
			}
			if _, err := io.WriteString(connection, opening); err != nil {
				return
			}
			cut := make(chan []byte, 1)
			go func() {
				all, _ := io.ReadAll(connection)
				cut <- all
			}()
			for {
				select {
				case answer := <-cut:
					if i%2 == 0 && !bytes.Contains(answer, []byte("408")) {
						t.Errorf("slow body: %q", answer)
					}
					return
				case <-time.After(20 * time.Millisecond):
					_, _ = io.WriteString(connection, "a")
				}
			}
		})
	}
	for range 10 {
		if answer, body := s.post(t, "/v1/select", question(t, 0)); answer.StatusCode != 200 {
			t.Errorf("a healthy request meanwhile: %d %s", answer.StatusCode, body)
		}
	}
	slow.Wait() // returns only where every one of them was cut off
}

func TestConnectionsAreBounded(t *testing.T) {
	s := start(t, httpapi.Config{Load: httpapi.LoadConfig{Connections: 2}}, nil)
	address := strings.TrimPrefix(s.url, "http://")
	var idle []net.Conn
	for range 2 {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		idle = append(idle, connection)
	}
	time.Sleep(20 * time.Millisecond) // until both are accepted
	impatient := &http.Client{Timeout: 100 * time.Millisecond, Transport: &http.Transport{DisableKeepAlives: true}}
	if answer, err := impatient.Get(s.url + "/healthz"); err == nil {
		answer.Body.Close()
		t.Error("a third connection was served")
	}
	idle[0].Close()
	if answer, _ := s.get(t, "/healthz"); answer.StatusCode != 200 {
		t.Errorf("%d", answer.StatusCode)
	}
}

// TestLoad drives 64 clients in a closed loop, then arrivals at twice the rate they reached, for five seconds in all:
// nothing but 200 and 429, and no goroutine is left. Latency and goodput are for a quiet machine and a service in a
// process of its own; ../../bench/load measures them.
func TestLoad(t *testing.T) {
	const half = 2500 * time.Millisecond
	config := httpapi.Config{Timeouts: httpapi.Timeouts{Request: time.Minute, Most: time.Minute}} // 504 is a slow machine's
	s := start(t, config, nil)
	bodies := make([][]byte, 12)
	for i := range bodies {
		var err error
		if bodies[i], err = json.Marshal(question(t, i)); err != nil {
			t.Fatal(err)
		}
	}
	before := runtime.NumGoroutine()
	closed := &tally{}
	closed.drive(half, func(stop <-chan struct{}) {
		var clients sync.WaitGroup
		for range 64 {
			clients.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
						closed.ask(t, s, bodies[i%12])
					}
				}
			})
		}
		clients.Wait()
	})
	peak := closed.rate(half)
	open := &tally{}
	open.drive(half, func(stop <-chan struct{}) {
		var clients sync.WaitGroup
		every := time.NewTicker(time.Duration(float64(time.Second) / (2 * max(peak, 1))))
		defer every.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				clients.Wait()
				return
			case <-every.C:
				clients.Go(func() { open.ask(t, s, bodies[i%12]) })
			}
		}
	})
	for name, c := range map[string]*tally{"closed loop": closed, "open loop": open} {
		if c.other != 0 || len(c.took) == 0 {
			t.Errorf("%s: %d answers were neither 200 nor 429; %d were 200", name, c.other, len(c.took))
		}
		t.Logf("%s: %.0f answers/s, %d refused, p50 %v, p99 %v", name, c.rate(half), c.refused, c.quantile(.5), c.quantile(.99))
	}
	s.client.CloseIdleConnections()
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before+8 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > before+8 {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

// tally counts answers.
type tally struct {
	mu             sync.Mutex
	took           []time.Duration // of those accepted
	refused, other int
}

func (c *tally) drive(span time.Duration, clients func(stop <-chan struct{})) {
	stop := make(chan struct{})
	time.AfterFunc(span, func() { close(stop) })
	clients(stop)
}

func (c *tally) ask(t *testing.T, s *service, body []byte) {
	begin := time.Now()
	answer, err := s.client.Post(s.url+"/v1/select", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch answer.StatusCode {
	case 200:
		c.took = append(c.took, time.Since(begin))
	case 429:
		c.refused++
	default:
		c.other++
	}
}

func (c *tally) rate(span time.Duration) float64 { return float64(len(c.took)) / span.Seconds() }

func (c *tally) quantile(q float64) time.Duration {
	slices.Sort(c.took)
	if len(c.took) == 0 {
		return 0
	}
	return c.took[min(len(c.took)-1, int(math.Ceil(q*float64(len(c.took)))))].Round(10 * time.Microsecond)
}
