package cache

import (
	"context"
	"errors"
)

// flight makes call once for all who ask for k at the same time. The call goes on when the one who started it leaves,
// until that one's deadline. What came of a deadline that was another's, an error or a value that sound rejects, is
// not passed on: the caller then asks again, the last time alone.
func flight[T any](ctx context.Context, c *Cache, k key, sound func(T) bool, call func(context.Context) (T, error)) (T, error) {
	for range 2 {
		led := false
		done := c.flights.DoChan(string(k[:]), func() (any, error) {
			led = true
			own, cancel := c.detach(ctx)
			defer cancel()
			c.counts.calls.Add(1)
			return call(own)
		})
		select {
		case <-ctx.Done():
			var none T
			return none, context.Cause(ctx)
		case outcome := <-done:
			value, _ := outcome.Val.(T)
			late := errors.Is(outcome.Err, context.DeadlineExceeded) || errors.Is(outcome.Err, context.Canceled)
			if led || !late && (outcome.Err != nil || sound(value)) {
				return value, outcome.Err
			}
		}
	}
	c.counts.calls.Add(1)
	return call(ctx)
}

// detach returns a context with ctx's values and deadline that ends with the cache instead of with ctx's caller.
func (c *Cache) detach(ctx context.Context) (context.Context, context.CancelFunc) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(c.closing, cancel)
	end := func() { stop(); cancel() }
	deadline, ok := ctx.Deadline()
	if !ok {
		return own, end
	}
	timed, expire := context.WithDeadline(own, deadline)
	return timed, func() { expire(); end() }
}
