package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// chatRequest is what a server sees of a chat.
type chatRequest struct {
	Model       string
	Temperature *float64
	MaxTokens   int `json:"max_tokens"`
	Stream      bool
	Messages    []struct{ Role, Content string }
	Format      *struct {
		Type   string
		Schema struct {
			Name   string
			Strict bool
			Schema map[string]any
		} `json:"json_schema"`
	} `json:"response_format"`
}

// conversation keeps what was asked of a chat server.
type conversation struct {
	mu       sync.Mutex
	requests []chatRequest
}

func (c *conversation) decode(t *testing.T, r *http.Request) chatRequest {
	var in chatRequest
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/chat/completions" || !in.Stream || len(in.Messages) != 2 {
		t.Errorf("request %s %+v: %v", r.URL.Path, in, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, in)
	return in
}

// stream answers text in pieces of a few bytes, as models do, and closes with the finish reason, or without one.
func stream(w http.ResponseWriter, text, finish string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	fmt.Fprint(w, ": keep alive\n\n")
	chunk(w, `{"role":"assistant","content":""}`, "")
	for len(text) > 0 {
		size := min(7, len(text))
		for size < len(text) && text[size]&0xc0 == 0x80 { // whole runes, as the API promises
			size++
		}
		content, _ := json.Marshal(text[:size])
		chunk(w, `{"content":`+string(content)+`}`, "")
		text = text[size:]
	}
	if finish != "" {
		chunk(w, `{}`, finish)
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

func chunk(w http.ResponseWriter, delta, finish string) {
	reason := "null"
	if finish != "" {
		reason = `"` + finish + `"`
	}
	fmt.Fprintf(w, "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, reason)
	w.(http.Flusher).Flush()
}

// whole answers with a completion in one piece, whatever was asked for.
func whole(w http.ResponseWriter, text string) {
	content, _ := json.Marshal(text)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}]}`, content)
}

// hang reads the request, so that the server notices when the client leaves, and waits for that.
func hang(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func newWriter(t *testing.T, c WriterConfig, handler http.HandlerFunc) *SubQueryWriter {
	t.Helper()
	timeout, source := c.Timeout, c.Source
	c.Config = serve(t, handler)
	c.Source = source
	if timeout > 0 {
		c.Timeout = timeout
	}
	c.Model = "chat-model"
	w, err := NewSubQueryWriter(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// numbered is a list of n questions, one a line.
func numbered(n int) string {
	var list strings.Builder
	for i := range n {
		fmt.Fprintf(&list, "%d. Question number %d?\n", i+1, i+1)
	}
	return list.String()
}
