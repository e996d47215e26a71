package httpapi

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"time"

	"github.com/georag/georag/core"
)

// Keyed reports whether requests need a key.
func (s *Server) Keyed() bool { return s.keys != nil }

// TLS is the listener's configuration, for listeners of other protocols beside it; nil is none.
func (s *Server) TLS() *tls.Config { return s.tls }

// AuthenticateHeader tells whose key stands in the headers; see [Server.Authenticate].
func (s *Server) AuthenticateHeader(h http.Header) (Principal, error) {
	return s.Authenticate(presentedKey(h))
}

// Instrument returns stage with the server's metrics and spans of every arrow, for a [Route] that selects itself.
func (s *Server) Instrument(stage core.Stage) core.Stage {
	stage.Observe = s.observing(stage.Observe)
	return stage
}

// Selected notes a selection that a [Route], or another listener, has made: for the log, the metrics and the span.
func (s *Server) Selected(ctx context.Context, made core.Trace) { s.selected(ctx, made) }

// Drain is how long the server still accepts once told to stop, for listeners beside it.
func (s *Server) Drain() time.Duration { return *s.config.Timeouts.Drain }

// Finished notes a request that another listener has answered: its log line and its metrics. route must be one of few,
// for it becomes a label; status is one of HTTP.
func (s *Server) Finished(ctx context.Context, route string, status int, took time.Duration) {
	s.metrics.Request(route, status, took)
	level := slog.LevelInfo
	if status >= 500 {
		level = slog.LevelError
	}
	s.log.Log(ctx, level, "request", "route", route, "status", status, "took_ms", float64(took.Microseconds())/1000)
}

// CheckExposure refuses an address, of a listener beside the server's, that others can reach while the server has
// neither keys nor client certificates. The error wraps [core.ErrInvalid].
func (c Config) CheckExposure(listen string) error {
	c.Listen = listen
	return c.validateExposure()
}
