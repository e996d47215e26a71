package modelhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/retry"
	"github.com/georag/georag/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-canary-77ab12"

// serve starts a server for the test and a client of it with a key and no pause between retries.
func serve(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	t.Setenv("GEORAG_TEST_KEY", key)
	client, err := New(Config{
		BaseURL: server.URL + "/v1/",
		Source:  secret.Source{Env: "GEORAG_TEST_KEY"},
		Policy:  retry.Policy{MinPause: 1, MaxPause: 1},
	}, "", 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestPostJSON(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/echo" || r.Method != http.MethodPost || r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("request %s %s, Authorization %q", r.Method, r.URL.Path, r.Header.Get("Authorization"))
		}
		_, _ = io.Copy(w, r.Body)
	})
	var out map[string]int
	if err := client.PostJSON(t.Context(), "/echo", map[string]int{"a": 1}, &out); err != nil || out["a"] != 1 {
		t.Fatalf("out %v, error %v", out, err)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		is     error
		says   string
		calls  int
	}{
		"OpenAI":         {400, `{"error":{"message":"model not given","type":"invalid_request_error"}}`, core.ErrInvalid, "400 Bad Request: model not given", 1},
		"TEI":            {422, `{"error":"batch size 33 > maximum allowed batch size 32","error_type":"Validation"}`, core.ErrInvalid, "batch size 33", 1},
		"TEI backend":    {424, `{"error":"backend","error_type":"Backend"}`, core.ErrUnavailable, "424 Failed Dependency: backend", 3},
		"Cohere":         {422, `{"id":"x","message":"unknown field top"}`, core.ErrInvalid, "unknown field top", 1},
		"Jina":           {401, `{"detail":"Unauthorized"}`, core.ErrUnauthorized, "Unauthorized", 1},
		"FastAPI":        {422, `{"detail":[{"loc":["body"],"msg":"field required"},{"msg":"not a list"}]}`, core.ErrInvalid, "field required; not a list", 1},
		"plain":          {503, "overloaded\n\x1b[31mred", core.ErrUnavailable, "overloaded [31mred", 3},
		"page":           {502, "<html><body>Bad gateway</body></html>", core.ErrUnavailable, "502 Bad Gateway", 3},
		"empty":          {401, "", core.ErrUnauthorized, "401 Unauthorized", 1},
		"rate limit":     {429, `{"message":"slow down"}`, core.ErrUnavailable, "slow down", 3},
		"absent":         {404, `{"error":{"message":"no such model"}}`, core.ErrNotFound, "no such model", 1},
		"forbidden":      {403, `{}`, core.ErrUnauthorized, "403", 1},
		"not built":      {501, ``, core.ErrUnavailable, "501", 1},
		"redirect":       {307, ``, core.ErrInvalid, "307", 1},
		"key in pieces":  {401, "your key sk-can\x00ary-77ab12 is wrong", core.ErrUnauthorized, "key [redacted] is", 1},
		"key in the way": {401, `{"error":{"message":"Incorrect API key provided: ` + key + `"}}`, core.ErrUnauthorized, "[redacted]", 1},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				calls++
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			err := client.PostJSON(t.Context(), "/x", nil, new(any))
			var status *StatusError
			if !errors.Is(err, c.is) || !errors.As(err, &status) || status.Status != c.status || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v is not %v or does not say %q", err, c.is, c.says)
			}
			if calls != c.calls {
				t.Errorf("%d calls, want %d", calls, c.calls)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, status), key) {
				t.Errorf("the key shows in %v", err)
			}
		})
	}
}

func TestShareLeavesTimeToFallBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		part, cancel := Share(ctx, 0.7)
		defer cancel()
		start := time.Now()
		<-part.Done()
		if time.Since(start) != 7*time.Second || ctx.Err() != nil || !errors.Is(part.Err(), context.DeadlineExceeded) {
			t.Errorf("ended after %v with %v", time.Since(start), part.Err())
		}
	})
	part, cancel := Share(context.Background(), 0.7)
	if _, ok := part.Deadline(); ok || part.Err() != nil {
		t.Error("a deadline out of nothing")
	}
	cancel()
}

func TestRetryAfterIsObeyed(t *testing.T) {
	err := Check(&http.Response{
		StatusCode: 429, Header: http.Header{"Retry-After": {"7"}}, Body: io.NopCloser(strings.NewReader("")),
	}, secret.Secret{})
	if again, after := Classify(err); !again || after != 7*time.Second {
		t.Errorf("again %v after %v", again, after)
	}
}

func TestSecondChance(t *testing.T) {
	calls := 0
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, `"fine"`)
	})
	var out string
	if err := client.PostJSON(t.Context(), "/x", nil, &out); err != nil || out != "fine" || calls != 2 {
		t.Fatalf("out %q after %d calls, error %v", out, calls, err)
	}
}

func TestBrokenConnections(t *testing.T) {
	t.Run("nobody listens", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := listener.Addr().String()
		_ = listener.Close()
		client, err := New(Config{BaseURL: "http://" + address}, "", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.PostJSON(t.Context(), "/x", nil, new(any)); !errors.Is(err, core.ErrUnavailable) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("cut in the body", func(t *testing.T) {
		client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		})
		if err := client.PostJSON(t.Context(), "/x", nil, new(any)); !errors.Is(err, core.ErrUnavailable) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("not JSON", func(t *testing.T) {
		client := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
		err := client.PostJSON(t.Context(), "/x", nil, new(any))
		if err == nil || errors.Is(err, core.ErrUnavailable) || !strings.Contains(err.Error(), "not the JSON") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("silence", func(t *testing.T) {
		client := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := client.PostJSON(ctx, "/x", nil, new(any)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

func TestAnswersHaveABound(t *testing.T) {
	body := &boundedBody{ReadCloser: io.NopCloser(strings.NewReader("12345678")), left: 8}
	if all, err := io.ReadAll(body); err != nil || len(all) != 8 {
		t.Errorf("at the bound: %d bytes, error %v", len(all), err)
	}
	body = &boundedBody{ReadCloser: io.NopCloser(strings.NewReader("123456789")), left: 8}
	if _, err := io.ReadAll(body); err == nil {
		t.Error("above the bound: no error")
	}
}

func TestConfig(t *testing.T) {
	for url, says := range map[string]string{
		"ftp://host":               "http://",
		"host:80":                  "http",
		"http://":                  "name a host",
		"http://u:" + key + "@h/":  "must have no credentials",
		"https://h/v1?key=" + key:  "must have no credentials",
		"http://h/%zz" + key + "/": "not a URL",
	} {
		err := Config{BaseURL: url}.Validate()
		if !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), key) {
			t.Errorf("%s: error %v", url, err)
		}
	}
	if err := (Config{}).Validate(); err != nil {
		t.Error(err)
	}
	if _, err := New(Config{}, "", time.Second); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("no URL: error %v", err)
	}
	if _, err := New(Config{Source: secret.Source{Env: "GEORAG_TEST_UNSET"}}, "http://h", time.Second); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("no key: error %v", err)
	}
	negative := -1
	if err := (Config{Policy: retry.Policy{Retries: &negative}}).Validate(); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("negative retries: error %v", err)
	}
}
