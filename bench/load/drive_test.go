package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// TestDriverCounts: every answer is counted as what it was, and arrivals do not wait for answers.
func TestDriverCounts(t *testing.T) {
	var asked atomic.Int64
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		if n == 8 { // none of which is answered yet
			close(release)
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
		w.WriteHeader([]int{200, 200, 429, 500}[n%4])
	}))
	defer server.Close()
	d := newDriver(&service{url: server.URL}, [][]byte{[]byte("{}")})
	defer d.client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go func() {
		select {
		case <-release:
			cancel()
		case <-ctx.Done():
		}
	}()
	d.open(ctx, 1000)
	if asked.Load() < 8 {
		t.Fatalf("%d requests: arrivals waited for answers", asked.Load())
	}
	total := len(d.took) + d.refused
	for _, n := range d.others {
		total += n
	}
	if int64(total) != asked.Load() || len(d.took) == 0 || d.refused == 0 || d.others["500"] == 0 || len(d.others) != 1 {
		t.Errorf("of %d: %d answered, %d refused, others %v", asked.Load(), len(d.took), d.refused, d.others)
	}
}

func TestQuantile(t *testing.T) {
	times := make([]time.Duration, 100)
	for i := range times {
		times[i] = time.Duration(i+1) * time.Millisecond
	}
	for q, want := range map[float64]time.Duration{0: 1, .5: 50, .99: 99, 1: 100} {
		if got := quantile(times, q); got != want*time.Millisecond {
			t.Errorf("%v: %v", q, got)
		}
	}
	if quantile(nil, .5) != 0 || median([]float64{3, 1, 2}) != 2 {
		t.Error("of nothing, or the median")
	}
}
