// Package qdranttest is a Qdrant server for tests in the process: the gRPC services of Qdrant's own protocol on a
// loopback port, over collections in memory that are searched exhaustively. It knows named, sparse and
// multi-vectors, the four metrics and the three storage types, payload filters, RRF and MMR, shard keys and API
// keys, and refuses in Qdrant's words. It keeps nothing, builds no index and has no strict mode, no cluster and no
// full-text index; filters on text are Qdrant's for fields without one.
package qdranttest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Version is what the server says of itself.
const Version = "1.17.1"

// Config of a server. Its zero value is one on a free port, without key or TLS.
type Config struct {
	// Addr to listen on; empty is a free port of 127.0.0.1.
	Addr string
	// APIKey that every call has to carry; empty is none.
	APIKey string
	// TLS of the port; nil is none.
	TLS credentials.TransportCredentials
	// Before is called before each call is served, with the method's name ("QueryBatch"); its error is the answer.
	Before func(ctx context.Context, method string, request any) error
	// Data are the collections to serve; nil is none. A server that is started with another's serves the same,
	// as after a restart.
	Data *Data
}

// Server is a running server.
type Server struct {
	cfg    Config
	addr   string
	data   *Data
	grpc   *grpc.Server
	done   chan struct{}
	calls  sync.Map // method → *atomic.Int64
	closed sync.Once
}

// New starts a server. The error is that of listening.
func New(cfg Config) (*Server, error) {
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("internal/qdranttest: %w", err)
	}
	s := &Server{cfg: cfg, addr: listener.Addr().String(), data: cfg.Data, done: make(chan struct{})}
	if s.data == nil {
		s.data = NewData()
	}
	options := []grpc.ServerOption{grpc.UnaryInterceptor(s.serve), grpc.MaxRecvMsgSize(1 << 30)}
	if cfg.TLS != nil {
		options = append(options, grpc.Creds(cfg.TLS))
	}
	s.grpc = grpc.NewServer(options...)
	qd.RegisterPointsServer(s.grpc, &points{data: s.data})
	qd.RegisterCollectionsServer(s.grpc, &collections{data: s.data})
	qd.RegisterQdrantServer(s.grpc, health{})
	go func() {
		defer close(s.done)
		_ = s.grpc.Serve(listener) // ends with Close, and there is nobody to tell
	}()
	return s, nil
}

// Start starts a server for a test and closes it at the test's end.
func Start(t testing.TB, cfg Config) *Server {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Addr is the server's "host:port".
func (s *Server) Addr() string { return s.addr }

// Data are the server's collections.
func (s *Server) Data() *Data { return s.data }

// Calls is how often a method was called so far, refused calls included.
func (s *Server) Calls(method string) int64 {
	if n, ok := s.calls.Load(method); ok {
		return n.(*atomic.Int64).Load()
	}
	return 0
}

// Close ends all connections at once, as a killed server does. Closing twice is no error.
func (s *Server) Close() {
	s.closed.Do(func() {
		s.grpc.Stop()
		<-s.done
	})
}

// serve counts a call, checks its key, and lets the test answer it first.
func (s *Server) serve(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	method := info.FullMethod
	for i := len(method) - 1; i >= 0; i-- {
		if method[i] == '/' {
			method = method[i+1:]
			break
		}
	}
	counter, _ := s.calls.LoadOrStore(method, new(atomic.Int64))
	counter.(*atomic.Int64).Add(1)
	if err := s.authorize(ctx); err != nil {
		return nil, err
	}
	if s.cfg.Before != nil {
		if err := s.cfg.Before(ctx, method, request); err != nil {
			return nil, err
		}
	}
	return handle(ctx, request)
}

func (s *Server) authorize(ctx context.Context) error {
	if s.cfg.APIKey == "" {
		return nil
	}
	sent, _ := metadata.FromIncomingContext(ctx)
	switch keys := sent.Get("api-key"); {
	case len(keys) == 0:
		return status.Error(codes.Unauthenticated, "Must provide an API key or an Authorization bearer token")
	case keys[0] != s.cfg.APIKey:
		return status.Error(codes.Unauthenticated, "Invalid API key or JWT")
	}
	return nil
}

type health struct{ qd.UnimplementedQdrantServer }

func (health) HealthCheck(context.Context, *qd.HealthCheckRequest) (*qd.HealthCheckReply, error) {
	return &qd.HealthCheckReply{Title: "qdrant - vector search engine", Version: Version}, nil
}
