package httpapi

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/obs"
)

// Deps are what a [Server] works with.
type Deps struct {
	// Stages by the name that a request's "collection" gives. At least one.
	Stages map[string]*core.Stage
	// Default names the stage of requests that give no name; "" is the only one there is.
	Default string
	// Routes of other protocols. They take the way of all requests.
	Routes []Route
	// Ready reports why the service cannot answer now; nil asks every store that implements [core.Describer].
	Ready func(context.Context) error

	Log     *slog.Logger // nil is [slog.Default]
	Metrics *obs.Metrics // nil is new ones
	Tracing *obs.Tracing // nil is none
	Version string
}

// Route is an endpoint of another protocol.
type Route struct {
	// Pattern as [http.ServeMux] reads it, e.g. "POST /collections/{name}/points/query".
	Pattern string
	// Handler is called with the body complete in r.Body, bounded and decompressed, with the deadline in its
	// context, and during its turn. [PrincipalOf] tells who asks. It must not hijack the connection.
	Handler http.Handler
	// Answer, where set, takes the place of Handler: it returns what is sent as JSON, or an error that [FaultOf] tells.
	Answer func(r *http.Request, body []byte) (any, error)
	// Open routes need no key: static files, probes.
	Open bool
	// Free routes wait for no turn, have no deadline and read no body: what must answer also under load.
	Free bool
	// Stream routes write straight to the client and keep their turn meanwhile; others are buffered.
	Stream bool
	// AnyBody accepts other content types than JSON, and no body at all.
	AnyBody bool
	// Shape, where set, gives a fault the form of the route's protocol.
	Shape func(*Fault) any
}

// Server is the service. It keeps no state between requests.
type Server struct {
	config  Config
	deps    Deps
	mux     *http.ServeMux
	gate    *gate
	budget  *budget
	keys    *watched[keyring]
	tls     *tls.Config
	log     *slog.Logger
	metrics *obs.Metrics
	tracing *obs.Tracing

	draining  atomic.Bool
	readiness readiness
}

// New checks everything that can be checked before serving. The error wraps [core.ErrInvalid].
func New(c Config, d Deps) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := &Server{config: c.withDefaults(), deps: d, mux: http.NewServeMux()}
	if err := s.checkStages(); err != nil {
		return nil, err
	}
	s.log = cmp.Or(d.Log, slog.Default())
	if s.metrics = d.Metrics; s.metrics == nil {
		s.metrics = obs.NewMetrics(d.Version)
	}
	if s.tracing = d.Tracing; s.tracing == nil {
		s.tracing = obs.NoTracing()
	}
	s.gate, s.budget = newGate(s.config.Load, s.metrics), &budget{most: s.config.Load.Buffered}
	var err error
	if s.keys, err = openKeys(s.config.Auth, s.log); err != nil {
		return nil, err
	}
	if s.tls, err = openTLS(s.config.TLS, s.log); err != nil {
		return nil, err
	}
	for _, route := range append(s.ownRoutes(), d.Routes...) {
		if err := s.register(route); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// ownRoutes lists what this package serves itself.
func (s *Server) ownRoutes() []Route {
	routes := []Route{
		{Pattern: "GET /healthz", Handler: http.HandlerFunc(s.health), Open: true, Free: true},
		{Pattern: "GET /readyz", Handler: http.HandlerFunc(s.ready), Open: true, Free: true},
		{Pattern: "GET /metrics", Handler: s.metrics.Handler(), Open: s.config.Auth.OpenMetrics, Free: true},
		{Pattern: "GET /openapi.json", Handler: http.HandlerFunc(serveOpenAPI), Open: true, Free: true},
		{Pattern: "POST /v1/select", Handler: s.answering(s.selectPassages)},
		{Pattern: "POST /v1/diagnose", Handler: s.answering(s.diagnose)},
	}
	for _, path := range []string{"/rerank", "/v1/rerank", "/v2/rerank"} {
		routes = append(routes, Route{Pattern: "POST " + path, Handler: s.answering(s.rerank), Shape: unknownShape})
	}
	return routes
}

// register adds a route. Patterns that conflict are an error, not a panic.
func (s *Server) register(route Route) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("adapters/httpapi: %w: route %q: %v", core.ErrInvalid, route.Pattern, cause)
		}
	}()
	if route.Answer != nil {
		route.Handler = s.answering(route.Answer)
	}
	s.mux.Handle(route.Pattern, s.along(route))
	return nil
}

// checkStages refuses stages whose own settings are out of range or exceed the limits.
func (s *Server) checkStages() error {
	if len(s.deps.Stages) == 0 {
		return fmt.Errorf("adapters/httpapi: %w: there is no stage to serve", core.ErrInvalid)
	}
	for name, stage := range s.deps.Stages {
		settings := settingsOf(stage)
		if err := settings.Validate(); err != nil {
			return fmt.Errorf("adapters/httpapi: collection %q: %w", name, err)
		}
		for _, limit := range []struct {
			name      string
			got, most int
		}{
			{"k", settings.K, s.config.Limits.K},
			{"candidates", settings.Candidates, s.config.Limits.Candidates},
		} {
			if limit.got > limit.most {
				return fmt.Errorf("adapters/httpapi: %w: collection %q: %s is %d, more than limits.%s = %d", core.ErrInvalid, name, limit.name, limit.got, limit.name, limit.most)
			}
		}
	}
	if s.deps.Default == "" && len(s.deps.Stages) == 1 {
		s.deps.Default = s.collections()[0]
	}
	if _, ok := s.deps.Stages[s.deps.Default]; s.deps.Default != "" && !ok {
		return fmt.Errorf("adapters/httpapi: %w: the default collection %q is not among %q", core.ErrInvalid, s.deps.Default, s.collections())
	}
	return nil
}

func (s *Server) collections() []string { return slices.Sorted(maps.Keys(s.deps.Stages)) }

// stage returns the named stage and its name.
func (s *Server) stage(name string) (*core.Stage, string, error) {
	name = cmp.Or(name, s.deps.Default)
	if stage, ok := s.deps.Stages[name]; ok {
		return stage, name, nil
	}
	return nil, "", invalid("collection", "unknown, or missing where there are several; have %q", s.collections())
}

// settingsOf returns a stage's settings, the default preset for none.
func settingsOf(stage *core.Stage) core.Settings {
	if stage.Settings == (core.Settings{}) {
		return core.DefaultPreset()
	}
	return stage.Settings
}

// Admit waits for a turn on behalf of a request that does not come by HTTP. The error is a *[Fault].
func (s *Server) Admit(ctx context.Context) (leave func(), err error) {
	if leave, err = s.gate.enter(ctx); err != nil {
		return nil, FaultOf(err)
	}
	return leave, nil
}

// Handler serves all routes, for use in a program's own server. [Server.Run] adds the listener and its limits.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }
