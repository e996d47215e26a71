package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/modelhttp"
	"github.com/georag/georag/internal/secret"
)

const key = "sk-canary-90ee41"

// hostile are servers that say the key back in every place that ends up in a message.
var hostile = map[string]http.HandlerFunc{
	"401 with the key":       refuse(401, `{"error":{"message":"Incorrect API key provided: `+key+`"}}`),
	"401 in plain text":      refuse(401, "bad key "+key),
	"401 with a broken key":  refuse(401, "bad key "+key[:4]+"\x00"+key[4:]),
	"400 with the header":    refuse(400, `{"detail":"header Authorization: Bearer `+key+` not understood"}`),
	"404 with the key":       refuse(404, `{"message":"no model for `+key+`"}`),
	"429 with the key":       refuse(429, `{"error":"limit of `+key+` reached"}`),
	"503 with the key":       refuse(503, key),
	"redirect with the key":  redirect,
	"200, key is no JSON":    refuse(200, key),
	"200, error with key":    refuse(200, `{"error":{"message":"key `+key+` expired"}}`),
	"200, type with the key": typed("text/" + key),
	"stream error":           typed("text/event-stream", `data: {"error":{"message":"key `+key+` expired"}}`, ""),
	"stream error, late":     typed("text/event-stream", `data: {"choices":[{"delta":{"content":"1. a?\n"}}]}`, "", `data: {"error":"`+key+`"}`, ""),
	"stream of no JSON":      typed("text/event-stream", `data: `+key, ""),
	"index with the key":     refuse(200, `{"data":[{"index":"`+key+`","embedding":"`+key+`"}]}`),
	"hang up":                func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) },
}

func refuse(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func redirect(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "http://elsewhere.invalid/?key="+key, http.StatusTemporaryRedirect)
}

func typed(kind string, lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprintln(w, strings.Join(lines, "\n"))
	}
}

func TestNoMessageShowsTheKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GEORAG_TEST_KEY", key)
	var log bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	for name, handler := range hostile {
		for where, source := range map[string]secret.Source{"environment": {Env: "GEORAG_TEST_KEY"}, "file": {File: file}} {
			t.Run(name+", "+where, func(t *testing.T) {
				received := false
				c := serve(t, func(w http.ResponseWriter, r *http.Request) {
					received = r.Header.Get("Authorization") == "Bearer "+key
					handler(w, r)
				})
				c.Source = source
				for _, said := range everythingSaid(t, c) {
					if strings.Contains(said, key) {
						t.Errorf("the key shows in %s", said)
					}
				}
				if !received {
					t.Error("the key was not sent, so nothing was tested")
				}
			})
		}
	}
	if strings.Contains(log.String(), key) {
		t.Errorf("the key shows in the log: %s", log.String())
	}
}

// everythingSaid calls the server in every way and returns all that a person or a log could get to see.
func everythingSaid(t *testing.T, c modelhttp.Config) []string {
	t.Helper()
	config := ChatConfig{Config: c, Model: "m"}
	embedder, err1 := NewEmbedder(EmbedderConfig{Config: c, Model: "m"})
	writer, err2 := NewSubQueryWriter(WriterConfig{ChatConfig: config})
	passages, err3 := NewPassageWriter(PassageConfig{ChatConfig: config})
	answerer, err4 := NewAnswerer(AnswererConfig{ChatConfig: config})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	_, err1 = embedder.EmbedQueries(t.Context(), []string{"a"})
	written, err2 := writer.WriteSubQueries(t.Context(), "Who?", 5)
	_, err3 = passages.WritePassage(t.Context(), "Who?")
	_, err4 = answerer.Answer(t.Context(), "Who?", nil)
	if err1 == nil || written.Degraded == "" && err2 == nil {
		t.Errorf("nothing failed: %v, %+v", err1, written)
	}
	written.Texts = nil // what a model wrote is its own
	said := []string{written.Degraded, embedder.Fingerprint(), writer.Fingerprint(), passages.Fingerprint(), answerer.Fingerprint()}
	for _, value := range []any{err1, err2, err3, err4, written, c, config, embedder, writer, passages, answerer} {
		said = append(said, fmt.Sprintf("%v %+v %#v", value, value, value))
	}
	for err := range unwrapped(err1, err2, err3, err4) {
		said = append(said, fmt.Sprintf("%T %v %+v %#v", err, err, err, err))
		encoded, _ := json.Marshal(err)
		said = append(said, string(encoded))
		slog.Error("model call failed", "error", err)
	}
	return said
}

// unwrapped yields errors and all that they wrap.
func unwrapped(errs ...error) func(func(error) bool) {
	return func(yield func(error) bool) {
		for queue := errs; len(queue) > 0; queue = queue[1:] {
			switch err := queue[0].(type) {
			case nil:
				continue
			case interface{ Unwrap() []error }:
				queue = append(queue, err.Unwrap()...)
			case interface{ Unwrap() error }:
				queue = append(queue, err.Unwrap())
			}
			if !yield(queue[0]) {
				return
			}
		}
	}
}

// The variables of the official library are not read: its key belongs to another server.
func TestForeignKeysStayAtHome(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", key)
	t.Setenv("OPENAI_BASE_URL", "http://elsewhere.invalid")
	t.Setenv("OPENAI_ORG_ID", key)
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Own: "+key)
	reached := false
	config := serve(t, func(w http.ResponseWriter, r *http.Request) {
		reached = true
		if sent := fmt.Sprint(r.Header); strings.Contains(sent, key) || r.Header.Get("Authorization") != "" {
			t.Errorf("sent %s", sent)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	w, err := NewSubQueryWriter(WriterConfig{ChatConfig: ChatConfig{Config: config, Model: "m"}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteSubQueries(t.Context(), "Who?", 5); !errors.Is(err, core.ErrUnavailable) || !reached {
		t.Errorf("error %v, reached %v", err, reached)
	}
}

func TestKeysAreNotTakenFromURLs(t *testing.T) {
	for _, url := range []string{"http://user:" + key + "@host/v1", "http://host/v1?api_key=" + key, "http://host/v1#" + key} {
		_, err := NewEmbedder(EmbedderConfig{Config: modelhttp.Config{BaseURL: url}, Model: "m"})
		if !errors.Is(err, core.ErrInvalid) || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), key) {
			t.Errorf("%v", err)
		}
	}
}
