package selectproxy

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func newForwarder(t *testing.T, upstream http.HandlerFunc, u Upstream, c Credentials) *Forwarder {
	t.Helper()
	server := httptest.NewServer(upstream)
	t.Cleanup(server.Close)
	if u.URL == "" {
		u.URL = server.URL
	}
	f, err := NewForwarder(u, c, slog.New(slog.DiscardHandler), func(w http.ResponseWriter, p Problem) { http.Error(w, p.Message, p.Status) })
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// send sends a request to a handler over a real connection.
func send(t *testing.T, handler http.HandlerFunc, body io.Reader, headers ...string) (*http.Response, string) {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/x", body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(content)
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	for _, name := range append(keyHeaders, "Upgrade") {
		w.Header().Set("Echo-"+name, r.Header.Get(name))
	}
	_, _ = w.Write(body)
}

// TestReadKeepsTheBody: a body that was read to decide about it still passes through whole, read to its end or not.
func TestReadKeepsTheBody(t *testing.T) {
	f := newForwarder(t, echo, Upstream{MaxBody: 1000}, Credentials{})
	for size, fits := range map[int]bool{0: true, 1000: true, 1001: false, 100000: false} {
		body := strings.Repeat("x", size)
		for _, source := range []io.Reader{strings.NewReader(body), io.MultiReader(strings.NewReader(body))} { // with its length, and in chunks
			var got []byte
			var err error
			_, echoed := send(t, func(w http.ResponseWriter, r *http.Request) {
				got, err = f.Read(w, r)
				f.Forward(w, r, "")
			}, source)
			var tooLarge *TooLarge
			if fits && (err != nil || string(got) != body) || !fits && !errors.As(err, &tooLarge) || echoed != body {
				t.Errorf("%d bytes: read %d, %v, passed through %d", size, len(got), err, len(echoed))
			}
		}
	}
}

func TestCredentials(t *testing.T) {
	theirs := []string{"Authorization", "Bearer theirs", "Api-Key", "theirs", "X-Api-Key", "theirs", "Connection", "Upgrade", "Upgrade", "websocket"}
	for _, c := range []struct {
		credentials Credentials
		want        [4]string
	}{
		{Credentials{}, [4]string{"Bearer theirs", "theirs", "theirs", ""}},
		{Credentials{Name: "api-key", Value: "ours"}, [4]string{"Bearer theirs", "theirs", "theirs", ""}},
		{Credentials{Replace: true}, [4]string{}},
		{Credentials{Replace: true, Name: "api-key", Value: "ours"}, [4]string{"", "ours", "", ""}},
	} {
		f := newForwarder(t, echo, Upstream{}, c.credentials)
		answer, _ := send(t, func(w http.ResponseWriter, r *http.Request) { f.Forward(w, r, "why") }, strings.NewReader("x"), theirs...)
		for i, name := range append(keyHeaders, "Upgrade") {
			if got := answer.Header.Get("Echo-" + name); got != c.want[i] {
				t.Errorf("%+v: %s arrived as %q, want %q", c.credentials, name, got, c.want[i])
			}
		}
		if answer.Header.Get(HeaderSkipped) != "why" {
			t.Error("the reason is not told")
		}
	}
}

// TestForwardChanged: labels stand on changed answers only, and an answer that is not what it should be is the
// database's fault.
func TestForwardChanged(t *testing.T) {
	for body, want := range map[string]struct {
		status int
		says   string
		label  string
	}{
		"good":                    {200, "CHANGED", "yes"},
		"refused":                 {200, "refused", ""},
		"bad":                     {502, "selection order", ""},
		"missing":                 {404, "missing", ""},
		strings.Repeat("x", 2000): {502, "max_body", ""},
	} {
		f := newForwarder(t, func(w http.ResponseWriter, r *http.Request) {
			sent, _ := io.ReadAll(r.Body)
			if string(sent) != "asked anew" || r.ContentLength != int64(len(sent)) {
				t.Errorf("arrived: %q with length %d", sent, r.ContentLength)
			}
			if body == "missing" {
				w.WriteHeader(404)
			}
			_, _ = io.WriteString(w, body)
		}, Upstream{MaxBody: 100}, Credentials{})
		answer, said := send(t, func(w http.ResponseWriter, r *http.Request) {
			f.ForwardChanged(w, r, Change{Body: []byte("asked anew"), Labels: map[string]string{HeaderMode: "yes"}, Answer: func(body []byte) ([]byte, bool, error) {
				switch string(body) {
				case "refused":
					return nil, false, nil
				case "bad":
					return nil, false, io.ErrUnexpectedEOF
				}
				return []byte("CHANGED"), true, nil
			}})
		}, strings.NewReader("asked"))
		if answer.StatusCode != want.status || !strings.Contains(said, want.says) || answer.Header.Get(HeaderMode) != want.label {
			t.Errorf("%.10s: %s %q %v", body, answer.Status, said, answer.Header)
		}
	}
}

func TestUnreachable(t *testing.T) {
	gone := newForwarder(t, echo, Upstream{URL: "http://127.0.0.1:1"}, Credentials{})
	if answer, said := send(t, func(w http.ResponseWriter, r *http.Request) { gone.Forward(w, r, "") }, nil); answer.StatusCode != 502 || strings.Contains(said, "127.0.0.1") {
		t.Errorf("no server: %s %q", answer.Status, said)
	}
	wait := make(chan struct{})
	defer close(wait)
	late := newForwarder(t, func(http.ResponseWriter, *http.Request) { <-wait }, Upstream{Timeout: 50 * time.Millisecond}, Credentials{})
	if answer, _ := send(t, func(w http.ResponseWriter, r *http.Request) { late.Forward(w, r, "") }, nil); answer.StatusCode != 504 {
		t.Errorf("no answer: %s", answer.Status)
	}
}

// TestStreams: an answer goes on as it comes.
func TestStreams(t *testing.T) {
	more := make(chan struct{})
	f := newForwarder(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "first")
		_ = http.NewResponseController(w).Flush()
		<-more
		_, _ = io.WriteString(w, " second")
	}, Upstream{}, Credentials{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.Forward(w, r, "") }))
	defer server.Close()
	answer, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	first := make([]byte, 5)
	if _, err := io.ReadFull(answer.Body, first); err != nil || string(first) != "first" {
		t.Fatalf("%q, %v", first, err)
	}
	close(more)
	if rest, err := io.ReadAll(answer.Body); err != nil || !bytes.Equal(rest, []byte(" second")) {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestUpstreamValidate(t *testing.T) {
	for _, u := range []Upstream{{}, {URL: "localhost:6333"}, {URL: "ftp://x"}, {URL: "http://u:p@x"}, {URL: "http://x?y"}, {URL: "http://x", Timeout: -1}, {URL: "http://x", MaxBody: -1}, {URL: "http://x", CAFile: "absent"}} {
		_, err := NewForwarder(u, Credentials{}, slog.Default(), nil)
		if err == nil {
			t.Errorf("%+v is accepted", u)
		}
	}
	if err := (Upstream{URL: "https://x:6333/behind"}).Validate(); err != nil {
		t.Error(err)
	}
}
