package retry

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// Retrier carries out calls under one [Policy] and one retry budget. It is safe for concurrent use; one server
// should have one Retrier.
type Retrier struct {
	policy Policy
	budget *bucket
	jitter func(limit time.Duration) time.Duration
}

// New returns a Retrier, or the error of [Policy.Validate].
func New(p Policy) (*Retrier, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &Retrier{policy: p, budget: newBucket(p.budget()), jitter: fullJitter}, nil
}

func fullJitter(limit time.Duration) time.Duration { return rand.N(limit + 1) }

// Timeout is the deadline given to each call.
func (r *Retrier) Timeout() time.Duration { return r.policy.timeout() }

// Classify tells what a failure is worth: whether the same call may succeed when repeated, and how long the
// server asked to wait first (0: it did not say).
type Classify func(err error) (retry bool, after time.Duration)

// Do carries out call under r's deadline and repeats it where classify says that it may help. A nil classify
// never repeats: that is for writes. Where r's own deadline has passed, the error wraps
// [context.DeadlineExceeded] beside the last failure; where ctx ended first, it wraps ctx's cause.
//
// Do relies on call to obey its context, as gRPC and net/http do. For one that may not, see [Bounded].
func Do[T any](ctx context.Context, r *Retrier, call func(context.Context) (T, error), classify Classify) (T, error) {
	own, cancel := context.WithTimeout(ctx, r.Timeout())
	defer cancel()
	r.budget.deposit()
	for attempt := 0; ; attempt++ {
		value, err := call(own)
		if err == nil {
			return value, nil
		}
		if own.Err() != nil {
			return value, r.ended(ctx, own, err)
		}
		if classify == nil || attempt >= r.policy.retries() {
			return value, err
		}
		again, after := classify(err)
		if !again || !r.pause(own, attempt, after) {
			return value, r.ended(ctx, own, err)
		}
	}
}

// pause waits before the next attempt. It reports false, at once, where the budget is spent or the wait would
// outlast the deadline: the caller is better served by the failure now than by a time-out later.
func (r *Retrier) pause(ctx context.Context, attempt int, after time.Duration) bool {
	wait := r.jitter(r.policy.pauseLimit(attempt))
	if after > 0 {
		wait = after
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return false
	}
	if !r.budget.withdraw() {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// ended adds to err why the call could not go on, where a context is the reason.
func (r *Retrier) ended(caller, own context.Context, err error) error {
	switch {
	case caller.Err() != nil:
		return fmt.Errorf("internal/retry: %w: %w", context.Cause(caller), err)
	case own.Err() != nil:
		return fmt.Errorf("internal/retry: no answer within %v: %w: %w", r.Timeout(), context.DeadlineExceeded, err)
	default:
		return err
	}
}

// Bounded runs a call that may ignore its context, and returns as soon as the context ends. The abandoned call
// keeps its goroutine until it returns by itself, so Bounded is only for calls that do end.
func Bounded[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := call(ctx)
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
