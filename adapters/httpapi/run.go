package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/net/netutil"
)

// SignalContext returns a context that ends with the first SIGINT or SIGTERM. A second one then ends the process at
// once, as it would without this function.
func SignalContext(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	ctx, stop = signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// Run listens at Config.Listen and serves until ctx ends; see [Server.Serve].
func (s *Server) Run(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.config.Listen)
	if err != nil {
		return fmt.Errorf("adapters/httpapi: %w", err)
	}
	return s.Serve(ctx, listener)
}

// Serve serves at listener, which it closes, until ctx ends. Then /readyz says 503 and clients are asked to
// reconnect elsewhere, while new requests are still served for Timeouts.Drain; then nothing new is accepted, and
// requests under way have Timeouts.Shutdown to end. The error is nil where all of them did.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	accepting := &backlog{Listener: listener}
	server := &http.Server{
		Handler:           s.Handler(),
		TLSConfig:         s.tls,
		ReadHeaderTimeout: s.config.Timeouts.Header,
		IdleTimeout:       s.config.Timeouts.Idle,
		// A safety net for what [writer] does not write itself; it lies beyond all that a request may take.
		WriteTimeout:   s.config.Timeouts.Header + s.config.Timeouts.Body + s.config.Load.Wait + s.config.Timeouts.Most + s.config.Timeouts.Write,
		MaxHeaderBytes: s.config.Limits.Headers,
		ErrorLog:       slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() {
		limited := netutil.LimitListener(accepting, s.config.Load.Connections)
		if s.tls != nil {
			ended <- server.ServeTLS(limited, "", "")
			return
		}
		ended <- server.Serve(limited)
	}()
	s.log.Info("serving", "address", listener.Addr().String(), "tls", s.tls != nil, "keys", s.keys != nil, "collections", s.collections())
	select {
	case err := <-ended:
		return fmt.Errorf("adapters/httpapi: %w", err)
	case <-ctx.Done():
	}
	return s.stop(server, accepting, ended)
}

func (s *Server) stop(server *http.Server, accepting *backlog, ended <-chan error) error {
	s.draining.Store(true)
	s.log.Info("draining", "for", s.config.Timeouts.Drain.String())
	select {
	case err := <-ended:
		return fmt.Errorf("adapters/httpapi: %w", err)
	case <-time.After(*s.config.Timeouts.Drain):
	}
	accepting.drain()
	ctx, cancel := context.WithTimeout(context.Background(), s.config.Timeouts.Shutdown)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close()
		return fmt.Errorf("adapters/httpapi: requests under way did not end within %v: %w", s.config.Timeouts.Shutdown, err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("adapters/httpapi: %w", err)
	}
	s.log.Info("stopped")
	return nil
}

// backlog accepts what the kernel has already accepted before it closes: such clients have sent their request and
// would see a reset.
type backlog struct{ net.Listener }

// backlogPause is how long the kernel's queue must have been empty.
const backlogPause = 20 * time.Millisecond

// drain returns once the queue is empty. Accept then fails for good, so Close follows.
func (b *backlog) drain() {
	if timed, ok := b.Listener.(interface{ SetDeadline(time.Time) error }); ok {
		_ = timed.SetDeadline(time.Now().Add(backlogPause))
		time.Sleep(backlogPause)
	}
}
