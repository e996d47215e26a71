package httpapi

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/obs"
)

// call is what is known of a request on its way; the log line and the answer's headers are made from it.
type call struct {
	id        string
	principal Principal
	shape     func(*Fault) any

	fault     *Fault
	selection bool // a selection was made, with:
	mode      string
	degraded  []string
	query     string // for the log, where it may say
}

type callKey struct{}

// callOf returns the request's call.
func callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return &call{}
}

// PrincipalOf tells a [Route]'s handler who asks.
func PrincipalOf(ctx context.Context) Principal { return callOf(ctx).principal }

// RequestID is the identifier that the log, the trace and the header X-Request-Id give a request.
func RequestID(ctx context.Context) string { return callOf(ctx).id }

// serve is the outermost part of the way: identifier, span, log line, metrics, panics, unknown routes.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	c := &call{id: requestID(r.Header.Get("X-Request-Id"))}
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	_, pattern := s.mux.Handler(r)
	ctx, span := s.tracing.Start(context.WithValue(ctx, callKey{}, c), routeName(pattern))
	defer span.End()
	r = r.WithContext(ctx)
	out := &writer{ResponseWriter: w, server: s}
	s.bound(out, r)
	out.Header().Set("X-Request-Id", c.id)
	defer func() {
		if cause := recover(); cause != nil {
			s.recovered(out, c, cause)
		}
		s.finish(r, routeName(pattern), c, out.status, time.Since(start), span)
	}()
	if pattern == "" {
		s.unknown(out, r)
		return
	}
	s.mux.ServeHTTP(out, r)
}

// bound gives the connection until when the body must be there. The deadline is lifted once it is.
func (s *Server) bound(w http.ResponseWriter, r *http.Request) {
	if r.Body != nil && r.Body != http.NoBody {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.config.Timeouts.Body)) // recorders have no connection
	}
}

// unknown answers where no route matches, in the words of the mux but as a fault.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	var plain heldAnswer
	s.mux.ServeHTTP(&plain, r)
	f := &Fault{Status: http.StatusNotFound, Code: CodeRoute, Message: "no such path"}
	if plain.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", plain.Header().Get("Allow"))
		f = &Fault{Status: plain.status, Code: CodeMethod, Message: "the path does not take this method; see the header Allow"}
	}
	s.reply(w, callOf(r.Context()), f)
}

func (s *Server) recovered(w *writer, c *call, cause any) {
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(cause)
	}
	s.metrics.Panicked()
	attributes := []any{"request_id", c.id, "stack", string(debug.Stack())}
	if s.config.Log.Queries {
		attributes = append(attributes, "panic", cause)
	}
	s.log.Error("handler panicked", attributes...)
	if w.status == 0 {
		s.reply(w, c, &Fault{Status: http.StatusInternalServerError, Code: CodeInternal, Message: "internal error"})
	}
}

// finish writes the log line, the metrics and the span of an answered request.
func (s *Server) finish(r *http.Request, route string, c *call, status int, took time.Duration, span trace.Span) {
	s.metrics.Request(route, status, took)
	span.SetAttributes(attribute.Int("http.response.status_code", status), attribute.String("http.route", route), attribute.String("georag.request_id", c.id))
	level := slog.LevelInfo
	attributes := []any{"request_id", c.id, "route", route, "status", status, "took_ms", float64(took.Microseconds()) / 1000}
	if c.principal.Name != "" {
		attributes = append(attributes, "key", c.principal.Name)
	}
	if c.selection {
		attributes = append(attributes, "mode", c.mode, "degraded", c.degraded)
	}
	if s.config.Log.Queries && c.query != "" {
		attributes = append(attributes, "query", c.query)
	}
	if f := c.fault; f != nil {
		attributes = append(attributes, "code", f.Code)
		if s.config.Log.Queries {
			attributes = append(attributes, "error", f.Error(), "cause", f.cause)
		} else if f.Status >= 500 {
			attributes = append(attributes, "cause", safeCause(f.cause))
		}
		if f.Status >= 500 {
			level = slog.LevelError
			span.SetStatus(codes.Error, string(f.Code))
		}
	}
	if route == "GET /healthz" || route == "GET /readyz" || route == "GET /metrics" {
		level = slog.LevelDebug
	}
	s.log.Log(r.Context(), level, "request", attributes...)
}

// along puts a route's handler on the way of all requests.
func (s *Server) along(route Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := callOf(r.Context())
		c.shape = route.Shape
		err := error(nil)
		if !route.Open {
			c.principal, err = s.Authenticate(presentedKey(r.Header))
		}
		switch {
		case err != nil:
		case route.Free:
			route.Handler.ServeHTTP(w, r)
		default:
			err = s.walk(w, r, route)
		}
		if err != nil {
			s.reply(w, c, FaultOf(err))
		}
	})
}

// walk is the way of a request whose key is known: body, deadline, turn, handler, answer.
func (s *Server) walk(w http.ResponseWriter, r *http.Request, route Route) error {
	allowed, err := s.timeout(r)
	if err != nil {
		return err
	}
	body, release, err := s.body(r, route)
	if err != nil {
		return err
	}
	defer release()
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // see bound
	r.Body = io.NopCloser(bytes.NewReader(body))
	ctx, cancel := context.WithTimeout(r.Context(), allowed)
	defer cancel()
	leave, err := s.gate.enter(ctx)
	if err != nil {
		return err
	}
	if route.Stream {
		defer leave()
		route.Handler.ServeHTTP(w, r.WithContext(ctx))
		return nil
	}
	held := &heldAnswer{}
	func() {
		defer leave()
		route.Handler.ServeHTTP(held, r.WithContext(ctx))
	}()
	held.sendTo(w)
	return nil
}

func (s *Server) body(r *http.Request, route Route) (body []byte, release func(), err error) {
	if route.AnyBody {
		return s.readBounded(r.Body)
	}
	return s.readBody(r)
}

// timeout reads how long the caller wants to wait: the header Request-Timeout or the parameter timeout, in seconds
// or as a Go duration.
func (s *Server) timeout(r *http.Request) (time.Duration, error) {
	text, field := r.Header.Get("Request-Timeout"), "Request-Timeout"
	if given := r.URL.Query().Get("timeout"); given != "" {
		text, field = given, "timeout"
	}
	if text == "" {
		return s.config.Timeouts.Request, nil
	}
	allowed, err := time.ParseDuration(text)
	if err != nil {
		allowed, err = time.ParseDuration(text + "s")
	}
	if err != nil || allowed <= 0 || allowed > s.config.Timeouts.Most {
		return 0, invalid(field, "want seconds or a duration such as 500ms, above 0 and up to %v", s.config.Timeouts.Most)
	}
	return allowed, nil
}

// answering makes a handler of a function that decodes the body and returns what is to be sent as JSON.
func (s *Server) answering(answer func(r *http.Request, body []byte) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			var value any
			if value, err = answer(r, body); err == nil {
				label(w.Header(), callOf(r.Context()))
				s.writeJSON(w, http.StatusOK, value)
				return
			}
		}
		s.reply(w, callOf(r.Context()), FaultOf(err))
	})
}

// label says in the headers how a selection was made, for protocols whose answers have no place for it.
func label(h http.Header, c *call) {
	if !c.selection {
		return
	}
	h.Set("Georag-Mode", c.mode)
	if len(c.degraded) > 0 {
		h.Set("Georag-Degraded", strings.Join(slices.Compact(slices.Sorted(slices.Values(c.degraded))), ", "))
	}
}

// reply sends a fault.
func (s *Server) reply(w http.ResponseWriter, c *call, f *Fault) {
	c.fault = f
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((f.RetryAfter+time.Second-1)/time.Second)))
	}
	if f.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.Header().Set("Georag-Error", string(f.Code))
	if f.body == nil && c.shape != nil {
		s.writeJSON(w, f.Status, c.shape(f))
		return
	}
	s.writeJSON(w, f.Status, f.json())
}

// writeJSON sends value. Values are made of types that marshal; a failure is a bug and answered as such.
func (s *Server) writeJSON(w http.ResponseWriter, status int, value any) {
	encoded, err := json.Marshal(value)
	if err != nil {
		s.log.Error("answer does not marshal", "type", safeCause(err))
		status, encoded = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"internal error"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(encoded, '\n')) // a client that has left is in nobody's way
}

// selected notes a selection for the log, the metrics, the span and the answer's headers.
func (s *Server) selected(ctx context.Context, made core.Trace) {
	c := callOf(ctx)
	c.selection, c.mode, c.degraded = true, made.Mode, []string{}
	for _, reason := range made.Degraded {
		c.degraded = append(c.degraded, string(reason.Code))
	}
	s.metrics.Selection(made)
	obs.Selection(ctx, made)
}

// requestID is the caller's, where it is harmless in a log, or a new one.
func requestID(given string) string {
	harmless := given != "" && len(given) <= 64 && strings.IndexFunc(given, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	}) < 0
	if harmless {
		return given
	}
	var random [12]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

// routeName is a pattern as a label.
func routeName(pattern string) string {
	if pattern == "" {
		return "unknown"
	}
	return pattern
}
