package obs

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/georag/georag/core"
)

// seconds are the histogram bounds, from what a selection alone takes to the longest a request may.
var seconds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// Rejection says why a request was turned away before any work was done on it.
type Rejection string

const (
	RejectQueue       Rejection = "queue_full"   // as many wait as may
	RejectWait        Rejection = "wait"         // waited as long as may be
	RejectBuffer      Rejection = "buffer"       // too many bytes of request bodies are held
	RejectTenant      Rejection = "other_tenant" // the key is bound to another tenant
	RejectCredentials Rejection = "unauthorized" // no key, or none that is known
)

// Metrics are the service's counters and histograms, each in a registry of its own, so that two servers of one
// process do not share them. Every label has a bounded number of values.
type Metrics struct {
	registry *prometheus.Registry

	requests   *prometheus.CounterVec
	latency    *prometheus.HistogramVec
	arrows     *prometheus.HistogramVec
	selections *prometheus.CounterVec
	degraded   *prometheus.CounterVec
	fallbacks  *prometheus.CounterVec
	rejected   *prometheus.CounterVec
	panics     prometheus.Counter
	running    prometheus.Gauge
	queued     prometheus.Gauge
}

// NewMetrics returns metrics at zero, beside those of the Go runtime and the process.
func NewMetrics(version string) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: seconds}, labels)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	m := &Metrics{
		registry:   prometheus.NewRegistry(),
		requests:   counter("georag_http_requests_total", "Requests answered, by route and status.", "route", "status"),
		latency:    histogram("georag_http_request_seconds", "From the first byte of a request to the last of its answer.", "route"),
		arrows:     histogram("georag_stage_seconds", "Time of each arrow of the data flow.", "arrow"),
		selections: counter("georag_selections_total", "Selections made, by the selector asked for and the computation that ran.", "selector", "mode"),
		degraded:   counter("georag_degraded_total", "Reasons why selections were less than what was asked for.", "reason"),
		fallbacks:  counter("georag_selector_fallbacks_total", "Selections that a lower rung of the ladder answered, by the selector asked for.", "selector"),
		rejected:   counter("georag_rejected_total", "Requests turned away before any work, by reason.", "reason"),
		panics:     prometheus.NewCounter(prometheus.CounterOpts{Name: "georag_panics_total", Help: "Requests whose handler panicked."}),
		running:    gauge("georag_requests_running", "Requests being worked on."),
		queued:     gauge("georag_requests_queued", "Requests that wait for their turn."),
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "georag_build_info", Help: "1, with the version as label."}, []string{"version"})
	build.WithLabelValues(version).Set(1)
	m.registry.MustRegister(m.requests, m.latency, m.arrows, m.selections, m.degraded, m.fallbacks, m.rejected, m.panics,
		m.running, m.queued, build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.zero()
	return m
}

// zero makes the series whose labels are known from the start exist at 0, so that a rate over the first event of a
// series is seen.
func (m *Metrics) zero() {
	for _, arrow := range core.Arrows() {
		m.arrows.WithLabelValues(string(arrow))
	}
	for _, selector := range core.SelectorNames() {
		m.fallbacks.WithLabelValues(selector)
	}
	for _, reason := range []Rejection{RejectQueue, RejectWait, RejectBuffer, RejectTenant, RejectCredentials} {
		m.rejected.WithLabelValues(string(reason))
	}
}

// Handler serves the metrics in the text format of Prometheus, or OpenMetrics where asked.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// Gatherer gives the metrics to a test or to another exporter.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// Request counts an answered request. route is the pattern that matched, never the path.
func (m *Metrics) Request(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.latency.WithLabelValues(route).Observe(took.Seconds())
}

// Arrow adds the time of one arrow.
func (m *Metrics) Arrow(arrow core.Arrow, took time.Duration) {
	m.arrows.WithLabelValues(string(arrow)).Observe(took.Seconds())
}

// Selection counts a selection, why it was degraded, and whether another selector answered.
func (m *Metrics) Selection(t core.Trace) {
	m.selections.WithLabelValues(t.Selector, t.Mode).Inc()
	fell := false
	for _, reason := range t.Degraded {
		m.degraded.WithLabelValues(string(reason.Code)).Inc()
		fell = fell || reason.Code == core.ReasonSelectorFellBack
	}
	if fell {
		m.fallbacks.WithLabelValues(t.Selector).Inc()
	}
}

// Rejected counts a request that was turned away.
func (m *Metrics) Rejected(reason Rejection) { m.rejected.WithLabelValues(string(reason)).Inc() }

// Panicked counts a handler that panicked.
func (m *Metrics) Panicked() { m.panics.Inc() }

// Running and Queued change how many requests are worked on and wait.
func (m *Metrics) Running(by int) { m.running.Add(float64(by)) }

// Queued is as [Metrics.Running].
func (m *Metrics) Queued(by int) { m.queued.Add(float64(by)) }
