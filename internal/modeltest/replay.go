// Package modeltest holds model servers for tests in the process: they replay what real models said of the
// demonstration's questions, and fail in every way a server does.
package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/georag/georag/demo"
	"github.com/georag/georag/internal/questions"
)

// Replay answers with what real models said: all-MiniLM-L6-v2 of each text of the demonstration, and the sub-queries
// that a large model wrote for its questions.
type Replay struct {
	Asked   []questions.Question
	Vectors map[string][]float32 // of every question and sub-query, by its text
}

// New reads the recordings.
func New(t testing.TB) *Replay {
	t.Helper()
	asked, err := questions.OpenFS(demo.Files, "data")
	if err != nil {
		t.Fatal(err)
	}
	r := &Replay{Asked: asked, Vectors: map[string][]float32{}}
	for _, q := range asked {
		r.Vectors[q.Text] = q.Vector
		for j, text := range q.SubQueries {
			r.Vectors[text] = q.SubQueryVectors[j]
		}
	}
	return r
}

// Embeddings serves POST /embeddings; a text without a recording is refused.
func (r *Replay) Embeddings(w http.ResponseWriter, req *http.Request) {
	var in struct{ Input []string }
	_ = json.NewDecoder(req.Body).Decode(&in)
	data := []map[string]any{}
	for i, text := range in.Input {
		v, ok := r.Vectors[text]
		if !ok {
			http.Error(w, "no recording of "+text, http.StatusBadRequest)
			return
		}
		data = append(data, map[string]any{"index": i, "embedding": v})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data})
}

// Chat serves POST /chat/completions as a stream: the recorded sub-queries of the question in the user's message.
func (r *Replay) Chat(w http.ResponseWriter, req *http.Request) {
	var in struct{ Messages []struct{ Content string } }
	_ = json.NewDecoder(req.Body).Decode(&in)
	var user struct{ Question string }
	_ = json.Unmarshal([]byte(in.Messages[1].Content), &user)
	for _, q := range r.Asked {
		if q.Text == user.Question {
			list, _ := json.Marshal(map[string]any{"sub_queries": q.SubQueries})
			delta, _ := json.Marshal(string(list))
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", delta)
		}
	}
}

// Scores serves TEI's POST /rerank: each text scores its length, so that the longest is the best.
func (r *Replay) Scores(w http.ResponseWriter, req *http.Request) {
	var in struct{ Texts []string }
	_ = json.NewDecoder(req.Body).Decode(&in)
	if len(in.Texts) > 32 {
		http.Error(w, `{"error":"batch size > maximum allowed batch size 32","error_type":"Validation"}`, http.StatusUnprocessableEntity)
		return
	}
	ranks := []map[string]any{}
	for i, text := range in.Texts {
		ranks = append(ranks, map[string]any{"index": i, "score": float64(len(text)) / 1e4})
	}
	_ = json.NewEncoder(w).Encode(ranks)
}

// Faults are the ways in which a server fails; nil hangs up the listener itself.
var Faults = map[string]http.HandlerFunc{
	"nobody listens": nil,
	"503":            func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
	"429":            func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
	"401":            func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
	"500 page": func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<html>oops</html>", http.StatusInternalServerError)
	},
	"rubbish":  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "\x00\x01 rubbish") },
	"hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	"silent": func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	},
}

// EchoKey refuses every key and says it back, as some servers do.
func EchoKey(w http.ResponseWriter, req *http.Request) {
	http.Error(w, `{"error":{"message":"`+req.Header.Get("Authorization")+` is wrong"}}`, http.StatusUnauthorized)
}

// EachFault runs a test of every fault, each in parallel with the others, with the recordings of healthy servers.
func EachFault(t *testing.T, test func(t *testing.T, r *Replay, name string, fault http.HandlerFunc)) {
	t.Helper()
	r := New(t)
	for name, fault := range Faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, r, name, fault)
		})
	}
}
