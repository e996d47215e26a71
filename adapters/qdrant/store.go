package qdrant

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/retry"
	"github.com/georag/georag/internal/retry/grpcretry"
	"github.com/georag/georag/internal/secret"
)

// Store is a Qdrant collection. It is safe for concurrent use and keeps one connection, which gRPC shares between
// calls.
type Store struct {
	cfg    Config
	where  endpoints
	key    secret.Secret
	reads  *retry.Retrier
	writes *retry.Retrier
	conn   *connection

	mu     sync.Mutex
	schema *schema // what was last learnt of the collection; nil where that proved stale
}

var (
	_ core.Store     = (*Store)(nil)
	_ core.Describer = (*Store)(nil)
	_ core.Scanner   = (*Store)(nil)
	_ core.Loader    = (*Store)(nil)
	_ core.ServerMMR = (*Store)(nil)
)

// New checks the configuration and reads the key and the certificates. It does not connect: that is the first
// call's part, so a server that is down now may be up by then.
func New(cfg Config) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg}
	var err error
	if s.where, err = cfg.endpoints(); err != nil {
		return nil, err
	}
	if s.key, err = cfg.Source.Load(); err != nil {
		return nil, err
	}
	tlsConfig, err := cfg.tlsConfig(s.where.tls)
	if err != nil {
		return nil, err
	}
	if s.reads, err = retry.New(cfg.Policy); err != nil {
		return nil, err
	}
	if s.writes, err = retry.New(cfg.writes()); err != nil {
		return nil, err
	}
	// A dial outlasts the call that began it, so that a silent server is told as what it is: a deadline passed.
	s.conn = newConnection(s.where, s.key, tlsConfig, cfg.maxMessageBytes(), 2*s.reads.Timeout())
	return s, nil
}

// Close ends the connection; calls in flight fail. Closing twice is no error.
func (s *Store) Close() error { return s.conn.close() }

// read makes a call that changes nothing, with the deadline and the retries of the configuration.
func read[T any](ctx context.Context, s *Store, what string, call func(context.Context, *line) (T, error)) (T, error) {
	return do(ctx, s, s.reads, classify, what, call)
}

// write makes a call once, with the longer deadline of writes.
func write[T any](ctx context.Context, s *Store, what string, call func(context.Context, *line) (T, error)) (T, error) {
	return do(ctx, s, s.writes, nil, what, call)
}

func do[T any](ctx context.Context, s *Store, r *retry.Retrier, again retry.Classify, what string, call func(context.Context, *line) (T, error)) (T, error) {
	value, err := retry.Do(ctx, r, func(ctx context.Context) (T, error) {
		l, err := s.conn.take()
		if err != nil {
			var none T
			return none, err
		}
		defer s.conn.put(l)
		start := time.Now()
		value, err := call(ctx, l)
		s.learn(l, start, err)
		return value, err
	}, again)
	return value, s.failed(ctx, r, what, err)
}

// learn drops what an error shows to be stale: a line on which nothing came before the deadline, and a schema the
// server contradicts.
func (s *Store) learn(l *line, start time.Time, err error) {
	switch {
	case err == nil:
	case errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded:
		if time.Since(start) >= s.reads.Timeout()/2 { // a caller in more of a hurry says nothing about the line
			s.conn.giveUp(l, start)
		}
	case refusal(status.Code(err)):
		s.forget()
	}
}

// classify is the [retry.Classify] of reads. What another try would be refused the same is left at once.
func classify(err error) (bool, time.Duration) {
	if alreadyTold(err) {
		return false, 0
	}
	return grpcretry.Classify(err)
}

// bounded gives a request of several calls one deadline for all of them.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	late := fmt.Errorf("no answer from %s within %v: %w: %w", s.where, s.reads.Timeout(), core.ErrUnavailable, context.DeadlineExceeded)
	return context.WithTimeoutCause(ctx, s.reads.Timeout(), late)
}

// seconds is the server's own limit on a call, so that it stops work nobody waits for.
func seconds(limit time.Duration) *uint64 {
	s := uint64(math.Ceil(limit.Seconds()))
	return &s
}
