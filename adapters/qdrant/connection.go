package qdrant

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/retry/grpcretry"
	"github.com/georag/georag/internal/secret"
)

// line is one gRPC channel over all addresses, used from the first that answers.
type line struct {
	channel     *grpc.ClientConn
	points      qd.PointsClient
	collections qd.CollectionsClient
	health      qd.QdrantClient
	answered    atomic.Int64 // when the last answer came, in Unix nanoseconds
	calls       int          // in flight; guarded by connection.mu
}

// connection hands out the present line and replaces one that has gone dead. Nothing here blocks: gRPC dials in
// the background, and a call waits for that within its own deadline.
type connection struct {
	options []grpc.DialOption
	max     int    // bytes of one answer
	name    string // that every server's certificate must have; empty is the address's own

	mu      sync.Mutex
	addrs   []string // in the order to try; the dead move to the end
	current *line
	lines   map[*line]bool // open ones; true for those given up, which close after their last call
	closed  bool
}

func newConnection(e endpoints, key secret.Secret, tlsConfig *tls.Config, max int, dialTimeout time.Duration) *connection {
	transport, name := insecure.NewCredentials(), ""
	if tlsConfig != nil {
		transport, name = credentials.NewTLS(tlsConfig), tlsConfig.ServerName
	}
	pace := backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 500 * time.Millisecond}
	return &connection{
		max:   max,
		addrs: slices.Clone(e.addrs),
		lines: make(map[*line]bool),
		options: []grpc.DialOption{
			grpc.WithTransportCredentials(transport),
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: pace, MinConnectTimeout: dialTimeout}),
			grpc.WithChainUnaryInterceptor(sendKey(key), grpcretry.TrailerToRetryInfo),
			grpc.WithDisableServiceConfig(),
			grpc.WithNoProxy(), // the proxy's rules would be asked about the channel, not about an address
			grpc.WithUserAgent("georag"),
		},
		name: name,
	}
}

// sendKey adds the API key to every call.
func sendKey(key secret.Secret) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if !key.IsZero() {
			ctx = metadata.AppendToOutgoingContext(ctx, "api-key", key.Reveal())
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	}
}

// take returns the present line, made at need; put gives it back.
func (c *connection) take() (*line, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, fmt.Errorf("adapters/qdrant: %w: the store is closed", core.ErrUnavailable)
	}
	if c.current == nil {
		made, err := c.open()
		if err != nil {
			return nil, err
		}
		c.current, c.lines[made] = made, false
	}
	c.current.calls++
	return c.current, nil
}

func (c *connection) open() (*line, error) {
	// The names are resolved at each dial, so that a server that moved is found.
	found := manual.NewBuilderWithScheme("georag")
	var state resolver.State
	for _, addr := range c.addrs {
		at := resolver.Address{Addr: addr, ServerName: cmp.Or(c.name, addr)}
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{at}})
	}
	found.InitialState(state)
	made := &line{}
	receipt := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		err := invoke(ctx, method, req, reply, cc, opts...)
		if err == nil {
			made.answered.Store(time.Now().UnixNano())
		}
		return err
	}
	options := append(slices.Clone(c.options), grpc.WithResolvers(found), grpc.WithChainUnaryInterceptor(receipt),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(c.max)))
	channel, err := grpc.NewClient("georag:///qdrant", options...)
	if err != nil {
		return nil, fmt.Errorf("adapters/qdrant: %w: %w", core.ErrInvalid, err)
	}
	made.channel = channel
	made.points, made.collections, made.health = qd.NewPointsClient(channel), qd.NewCollectionsClient(channel), qd.NewQdrantClient(channel)
	return made, nil
}

func (c *connection) put(l *line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.calls--
	c.sweep(l)
}

// giveUp has the next call dial anew, from the next address, unless l answered anything since the given time.
// Calls that still wait on l may go on.
func (c *connection) giveUp(l *line, since time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, open := c.lines[l]; !open || l.answered.Load() >= since.UnixNano() {
		return
	}
	c.lines[l] = true
	if c.current == l {
		c.current = nil
		c.addrs = append(c.addrs[1:], c.addrs[0])
	}
	c.sweep(l)
}

// sweep closes a line that was given up and that nobody waits on.
func (c *connection) sweep(l *line) {
	if c.lines[l] && l.calls == 0 {
		delete(c.lines, l)
		_ = l.channel.Close() // of a line already given up there is nothing to tell
	}
}

// close ends every line at once; calls in flight fail.
func (c *connection) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	var errs []error
	for l := range c.lines {
		errs = append(errs, l.channel.Close())
	}
	clear(c.lines)
	c.current = nil
	return errors.Join(errs...)
}
