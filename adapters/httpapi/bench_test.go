package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/core"
)

// BenchmarkSelect is one whole request on the demonstration corpus, decoding and encoding included.
func BenchmarkSelect(b *testing.B) {
	s, err := httpapi.New(httpapi.Config{}, httpapi.Deps{Stages: map[string]*core.Stage{"demo": demoStage(b, flat.Config{})}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	body, err := json.Marshal(question(b, 0))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodPost, "/v1/select", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if s.Handler().ServeHTTP(w, r); w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}

// BenchmarkRerank ranks N texts, of which 20 are put in selection order.
func BenchmarkRerank(b *testing.B) {
	s, err := httpapi.New(httpapi.Config{Timeouts: httpapi.Timeouts{Request: time.Minute, Most: time.Minute}}, httpapi.Deps{
		Stages: map[string]*core.Stage{"demo": demoStage(b, flat.Config{})}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{20, 100, 200, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			body, err := json.Marshal(map[string]any{"query": rerankQuery, "documents": manyDocuments(n)})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, "/rerank", bytes.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				if s.Handler().ServeHTTP(w, r); w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body)
				}
			}
		})
	}
}
