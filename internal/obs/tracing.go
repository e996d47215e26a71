package obs

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/georag/georag/core"
)

// Config says where traces go. Its zero value sends none.
type Config struct {
	// Endpoint is the URL of an OTLP/HTTP collector, e.g. http://collector:4318. Empty is no tracing.
	Endpoint string `koanf:"endpoint"`
	// Sample is the share of requests that are traced, in [0, 1], where the caller has not decided: nil is 1.
	Sample *float64 `koanf:"sample"`
}

// Validate reports a setting out of its range; the error wraps [core.ErrInvalid].
func (c Config) Validate() error {
	if c.Sample != nil && !(*c.Sample >= 0 && *c.Sample <= 1) {
		return fmt.Errorf("internal/obs: sample %v: %w: must be in [0, 1]", *c.Sample, core.ErrInvalid)
	}
	if c.Endpoint == "" {
		return nil
	}
	if u, err := url.Parse(c.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("internal/obs: endpoint %q: %w: want http://host:port or https://host:port", c.Endpoint, core.ErrInvalid)
	}
	return nil
}

// tracesURL is Endpoint with the path of OTLP/HTTP, unless it names one.
func (c Config) tracesURL() string {
	u, err := url.Parse(c.Endpoint)
	if err != nil || strings.Trim(u.Path, "/") != "" {
		return c.Endpoint
	}
	return u.JoinPath("v1/traces").String()
}

func (c Config) sampler() sdk.Sampler {
	share := 1.0
	if c.Sample != nil {
		share = *c.Sample
	}
	return sdk.ParentBased(sdk.TraceIDRatioBased(share))
}

// Tracing makes the spans of requests and of each arrow of the data flow.
type Tracing struct {
	tracer   trace.Tracer
	shutdown func(context.Context) error
}

// NewTracing starts sending traces as c says. Close sends what is left.
func NewTracing(ctx context.Context, c Config, version string) (*Tracing, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Endpoint == "" {
		return NoTracing(), nil
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(c.tracesURL()), otlptracehttp.WithTimeout(5*time.Second))
	if err != nil {
		return nil, fmt.Errorf("internal/obs: tracing to %s: %w", c.Endpoint, err)
	}
	return tracingTo(sdk.NewBatchSpanProcessor(exporter), c, version), nil
}

// NoTracing makes spans that go nowhere.
func NoTracing() *Tracing {
	return &Tracing{tracer: noop.NewTracerProvider().Tracer("georag"), shutdown: func(context.Context) error { return nil }}
}

// TracingTo makes spans that go to processor, for tests and for programs with a pipeline of their own.
func TracingTo(processor sdk.SpanProcessor, version string) *Tracing {
	return tracingTo(processor, Config{}, version)
}

func tracingTo(processor sdk.SpanProcessor, c Config, version string) *Tracing {
	provider := sdk.NewTracerProvider(
		sdk.WithSpanProcessor(processor), sdk.WithSampler(c.sampler()),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "georag"), attribute.String("service.version", version))),
	)
	return &Tracing{tracer: provider.Tracer("georag"), shutdown: provider.Shutdown}
}

// Close sends what is left, as long as ctx allows.
func (t *Tracing) Close(ctx context.Context) error { return t.shutdown(ctx) }

// Start begins a request's span, a child of the span that ctx carries.
func (t *Tracing) Start(ctx context.Context, name string) (context.Context, trace.Span) {
	return t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer))
}

// Arrow records one arrow of the flow that has ended, as a child of the span that ctx carries.
func (t *Tracing) Arrow(ctx context.Context, arrow core.Arrow, start time.Time, took time.Duration) {
	_, span := t.tracer.Start(ctx, string(arrow), trace.WithTimestamp(start))
	span.End(trace.WithTimestamp(start.Add(took)))
}

// Selection writes what a selection was to the span that ctx carries.
func Selection(ctx context.Context, t core.Trace) {
	codes := make([]string, len(t.Degraded))
	for i, reason := range t.Degraded {
		codes[i] = string(reason.Code)
	}
	trace.SpanFromContext(ctx).SetAttributes(
		attribute.String("georag.preset", t.Preset), attribute.String("georag.selector", t.Selector),
		attribute.String("georag.mode", t.Mode), attribute.String("georag.pool", string(t.Pool)),
		attribute.Int("georag.candidates", t.Candidates), attribute.Int("georag.selected", len(t.Steps)),
		attribute.StringSlice("georag.degraded", codes),
	)
}
