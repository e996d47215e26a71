package httpapi

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/georag/georag/internal/obs"
)

// gate is the one place where requests wait: at most cap(turns) run, at most queue wait, none longer than wait.
type gate struct {
	turns   chan struct{}
	queue   int64
	wait    time.Duration
	waiting atomic.Int64
	metrics *obs.Metrics
}

func newGate(c LoadConfig, m *obs.Metrics) *gate {
	return &gate{turns: make(chan struct{}, c.Running), queue: int64(*c.Queue), wait: c.Wait, metrics: m}
}

// enter waits for a turn, which the caller gives back with leave. Turns are given in the order of arrival.
func (g *gate) enter(ctx context.Context) (leave func(), err error) {
	select {
	case g.turns <- struct{}{}:
		return g.entered(), nil
	default:
	}
	if g.waiting.Add(1) > g.queue {
		g.waiting.Add(-1)
		return nil, g.refuse(obs.RejectQueue)
	}
	g.metrics.Queued(1)
	defer func() {
		g.waiting.Add(-1)
		g.metrics.Queued(-1)
	}()
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	select {
	case g.turns <- struct{}{}:
		return g.entered(), nil
	case <-timer.C:
		return nil, g.refuse(obs.RejectWait)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (g *gate) entered() func() {
	g.metrics.Running(1)
	return func() {
		g.metrics.Running(-1)
		<-g.turns
	}
}

// refuse turns a request away. One second is the least that Retry-After can say, and ten queues' worth of waiting.
func (g *gate) refuse(reason obs.Rejection) *Fault {
	g.metrics.Rejected(reason)
	return &Fault{Status: http.StatusTooManyRequests, Code: CodeOverloaded, RetryAfter: time.Second,
		Message: "more requests than this server can take; try again later"}
}

// budget bounds the bytes of request bodies held at once, over all requests.
type budget struct {
	most int64
	held atomic.Int64
}

// take reserves n bytes, or none.
func (b *budget) take(n int64) bool {
	if b.held.Add(n) > b.most {
		b.held.Add(-n)
		return false
	}
	return true
}

func (b *budget) give(n int64) { b.held.Add(-n) }
