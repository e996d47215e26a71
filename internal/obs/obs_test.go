package obs

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/georag/georag/core"
)

func TestConfig(t *testing.T) {
	share := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		config Config
		ok     bool
	}{
		{Config{}, true}, {Config{Endpoint: "http://collector:4318"}, true}, {Config{Endpoint: "https://collector", Sample: share(0)}, true}, {Config{Sample: share(1)}, true},
		{Config{Endpoint: "collector:4318"}, false}, {Config{Endpoint: "grpc://collector"}, false}, {Config{Sample: share(1.1)}, false}, {Config{Sample: share(-0.1)}, false},
	} {
		if err := c.config.Validate(); (err == nil) != c.ok || err != nil && !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%+v: %v", c.config, err)
		}
	}
}

func TestTracesReachACollector(t *testing.T) {
	got := make(chan string, 4)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if len(body) > 0 {
			got <- r.URL.Path
		}
	}))
	defer collector.Close()
	tracing, err := NewTracing(context.Background(), Config{Endpoint: collector.URL}, "test")
	if err != nil {
		t.Fatal(err)
	}
	ctx, span := tracing.Start(context.Background(), "request")
	tracing.Arrow(ctx, core.ArrowPick, time.Now(), time.Millisecond)
	span.End()
	if err := tracing.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	select {
	case path := <-got:
		if path != "/v1/traces" {
			t.Errorf("sent to %s", path)
		}
	default:
		t.Error("nothing was sent")
	}
}

func TestSampleZeroSendsNothing(t *testing.T) {
	none := 0.0
	tracing, err := NewTracing(context.Background(), Config{Endpoint: "http://127.0.0.1:1", Sample: &none}, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, span := tracing.Start(context.Background(), "request"); span.IsRecording() {
		t.Error("a span is recorded")
	}
	if err := tracing.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestMetricNamesAreWellFormed(t *testing.T) {
	m := NewMetrics("test")
	m.Request("GET /x", 200, time.Millisecond)
	m.Selection(core.Trace{Selector: "georag", Mode: "facility", Degraded: []core.Reason{{Code: core.ReasonSelectorFellBack}, {Code: core.ReasonHyDE}}})
	problems, err := testutil.GatherAndLint(m.Gatherer())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	if n := testutil.ToFloat64(m.fallbacks.WithLabelValues("georag")); n != 1 {
		t.Errorf("%v fallbacks", n)
	}
}
