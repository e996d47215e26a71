package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/georag/georag/core"
)

// readyFor is how long an answer of the stores is believed, so that probes, which need no key, cannot be used to
// load them; readyWithin is how long they are given.
const (
	readyFor    = time.Second
	readyWithin = 500 * time.Millisecond
)

// readiness remembers whether the stores answered lately.
type readiness struct {
	mu    sync.Mutex
	asked time.Time
	err   error
}

// Health is the body of /healthz and /readyz.
type Health struct {
	Status  string `json:"status"` // ok, draining or unavailable
	Version string `json:"version,omitempty"`
}

// health says that the process serves requests, and nothing of what is behind it.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	s.writeJSON(w, http.StatusOK, Health{Status: "ok", Version: s.deps.Version})
}

// ready says whether requests should be sent here: not while draining, nor while a store is out of reach.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.draining.Load():
		s.writeJSON(w, http.StatusServiceUnavailable, Health{Status: "draining"})
	case s.reachable(r.Context()) != nil:
		s.writeJSON(w, http.StatusServiceUnavailable, Health{Status: "unavailable"})
	default:
		s.writeJSON(w, http.StatusOK, Health{Status: "ok"})
	}
}

// reachable asks the stores, or repeats what they said within readyFor. It outlives the probe that asks.
func (s *Server) reachable(ctx context.Context) error {
	s.readiness.mu.Lock()
	defer s.readiness.mu.Unlock()
	if time.Since(s.readiness.asked) < readyFor {
		return s.readiness.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyWithin)
	defer cancel()
	ask := s.deps.Ready
	if ask == nil {
		ask = s.describeAll
	}
	s.readiness.err, s.readiness.asked = ask(ctx), time.Now()
	return s.readiness.err
}

func (s *Server) describeAll(ctx context.Context) error {
	for _, name := range s.collections() {
		if store, ok := s.deps.Stages[name].Store.(core.Describer); ok {
			if _, err := store.Describe(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
