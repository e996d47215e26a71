package milvus

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/retry"
	"github.com/georag/georag/internal/secret"
)

// Store is a Milvus collection. It is safe for concurrent use and keeps one connection, which gRPC shares between
// calls.
type Store struct {
	cfg    Config
	key    secret.Secret
	reads  *retry.Retrier
	writes *retry.Retrier
	conn   connection
	loaded atomic.Bool // the collection was seen in the server's memory
}

var (
	_ core.Store     = (*Store)(nil)
	_ core.Describer = (*Store)(nil)
	_ core.Scanner   = (*Store)(nil)
	_ core.Loader    = (*Store)(nil)
)

// New checks the configuration and reads the key and the certificates. It does not connect: that is the first
// call's part, so a server that is down now may be up by then.
func New(cfg Config) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	key, err := cfg.Source.Load()
	if err != nil {
		return nil, err
	}
	tlsConfig, err := cfg.tlsConfig()
	if err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg, key: key}
	if s.reads, err = retry.New(cfg.Policy); err != nil {
		return nil, err
	}
	if s.writes, err = retry.New(cfg.writes()); err != nil {
		return nil, err
	}
	s.conn.dial = func(l *link) (server, error) {
		return dialSDK(cfg, key.Reveal(), tlsConfig, func() { l.answered.Store(time.Now().UnixNano()) })
	}
	return s, nil
}

// Close ends the connection; calls in flight fail. Closing twice is no error.
func (s *Store) Close() error { return s.conn.close() }

// read makes a call that changes nothing, with the deadline and the retries of the configuration.
func read[T any](ctx context.Context, s *Store, what string, call func(context.Context, *link) (T, error)) (T, error) {
	return do(ctx, s, s.reads, classify, what, call)
}

// write makes a call once, with the longer deadline of writes.
func write(ctx context.Context, s *Store, what string, call func(context.Context, *link) error) error {
	_, err := do(ctx, s, s.writes, nil, what, func(ctx context.Context, l *link) (struct{}, error) {
		return struct{}{}, call(ctx, l)
	})
	return err
}

func do[T any](ctx context.Context, s *Store, r *retry.Retrier, again retry.Classify, what string, call func(context.Context, *link) (T, error)) (T, error) {
	value, err := retry.Do(ctx, r, func(ctx context.Context) (T, error) {
		l, err := s.conn.acquire()
		if err != nil {
			var none T
			return none, err
		}
		defer s.conn.release(l)
		start := time.Now()
		value, err := call(ctx, l)
		s.learn(l, start, err)
		return value, s.missingPartition(ctx, l, err)
	}, again)
	return value, s.failed(ctx, r, what, err)
}

// learn drops what an error shows to be stale: a line on which nothing came before the deadline, and a schema
// the server contradicts.
func (s *Store) learn(l *link, start time.Time, err error) {
	var refusal *serverError
	switch {
	case err == nil:
	case errors.As(err, &refusal):
		l.schema.Store(nil)
		s.loaded.Store(false)
	case errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded:
		s.conn.retire(l, start)
	}
}

// withCollection is [read] with the collection's schema.
func withCollection[T any](ctx context.Context, s *Store, what string, call func(context.Context, *link, *collection) (T, error)) (T, error) {
	return read(ctx, s, what, func(ctx context.Context, l *link) (T, error) {
		c, err := s.describe(ctx, l)
		if err != nil {
			var none T
			return none, err
		}
		return call(ctx, l, c)
	})
}

// ensureLoaded loads the collection into the server's memory where the configuration asks for it and it is not
// there. That may take as long as a write.
func (s *Store) ensureLoaded(ctx context.Context) error {
	if !s.cfg.Load || s.loaded.Load() {
		return nil
	}
	err := write(ctx, s, "load", func(ctx context.Context, l *link) error {
		if _, err := s.describe(ctx, l); err != nil {
			return err
		}
		if there, err := l.server.loaded(ctx, s.cfg.Collection); there || err != nil {
			return err
		}
		return l.server.load(ctx, s.cfg.Collection)
	})
	s.loaded.Store(err == nil)
	return err
}

// bounded gives a request of several calls one deadline for all of them.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	late := fmt.Errorf("no answer from %s within %v: %w: %w", s.cfg.Addr, s.reads.Timeout(), core.ErrUnavailable, context.DeadlineExceeded)
	return context.WithTimeoutCause(ctx, s.reads.Timeout(), late)
}
