package qdrantproxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip" // for clients that compress
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/georag/georag/internal/selectproxy"
)

const (
	maxMessage = 256 << 20 // of a message in either direction
	maxStreams = 256       // calls at once on one connection
	// shutdownTimeout is how long calls under way may take once the proxy is told to stop.
	shutdownTimeout = 10 * time.Second
)

// GRPCDeps are what the proxy of gRPC works with.
type GRPCDeps struct {
	Selector *selectproxy.Selector
	// Authenticate tells which tenant the caller is bound to, "" for none, from the call's metadata as headers. Its
	// error is told by the selector's Problem. nil lets everyone in.
	Authenticate func(http.Header) (tenant string, err error)
	// Credentials of calls on their way to Qdrant.
	Credentials selectproxy.Credentials
	// Finished is told of every call that has ended: what it was, the status of HTTP that says the same as gRPC's, and
	// the time it took. nil is nobody.
	Finished func(ctx context.Context, route string, status int, took time.Duration)
	// Drain is how long calls are still taken once the proxy is told to stop.
	Drain time.Duration
	// TLS of the listener; nil is none.
	TLS *tls.Config
	// Target is Qdrant's "host:port", and TargetTLS how to reach it; nil is without TLS.
	Target    string
	TargetTLS *tls.Config
}

// GRPC is the proxy of Qdrant's gRPC interface. It knows two methods, Points/Query and Points/QueryBatch; of all others
// it knows no more than their names.
type GRPC struct {
	deps    GRPCDeps
	channel *grpc.ClientConn
	server  *grpc.Server
}

// NewGRPC makes a proxy; it connects with the first call.
func NewGRPC(d GRPCDeps) (*GRPC, error) {
	transport := insecure.NewCredentials()
	if d.TargetTLS != nil {
		transport = credentials.NewTLS(d.TargetTLS)
	}
	channel, err := grpc.NewClient(d.Target, grpc.WithTransportCredentials(transport), grpc.WithDisableServiceConfig(), grpc.WithNoProxy(),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{}), grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)))
	if err != nil {
		return nil, fmt.Errorf("adapters/qdrantproxy: %w", err)
	}
	p := &GRPC{deps: d, channel: channel}
	options := []grpc.ServerOption{
		grpc.ForceServerCodecV2(rawCodec{}), grpc.UnknownServiceHandler(p.serve),
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage), grpc.MaxConcurrentStreams(maxStreams),
		// Qdrant's clients ping more often than grpc-go allows by itself.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}),
	}
	if d.TLS != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(d.TLS)))
	}
	p.server = grpc.NewServer(options...)
	return p, nil
}

// Serve serves at listener, which it closes, until ctx ends; then calls are still taken for GRPCDeps.Drain, and those
// under way have ten seconds.
func (p *GRPC) Serve(ctx context.Context, listener net.Listener) error {
	ended := make(chan error, 1)
	go func() { ended <- p.server.Serve(listener) }()
	defer func() { _ = p.channel.Close() }()
	select {
	case err := <-ended:
		return fmt.Errorf("adapters/qdrantproxy: %w", err)
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return fmt.Errorf("adapters/qdrantproxy: %w", err)
	case <-time.After(p.deps.Drain):
	}
	force := time.AfterFunc(shutdownTimeout, p.server.Stop)
	p.server.GracefulStop()
	force.Stop()
	if err := <-ended; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("adapters/qdrantproxy: %w", err)
	}
	return nil
}

// call is one call on its way.
type call struct {
	*GRPC
	method string
	stream grpc.ServerStream
	ctx    context.Context // with the metadata for Qdrant
	header http.Header     // the metadata that came
	tenant string
}

// serve takes a call and tells how it ended.
func (p *GRPC) serve(_ any, stream grpc.ServerStream) error {
	started := time.Now()
	err := p.take(stream)
	if p.deps.Finished != nil {
		method, _ := grpc.MethodFromServerStream(stream)
		p.deps.Finished(stream.Context(), route(method), statusOfError(err), time.Since(started))
	}
	return err
}

// route is a method as a label. Clients may call any name, and as often as they like another, so those that the proxy
// does not know are all one.
func route(method string) string {
	if method == qd.Points_Query_FullMethodName || method == qd.Points_QueryBatch_FullMethodName {
		return "gRPC " + method
	}
	return "gRPC other"
}

func (p *GRPC) take(stream grpc.ServerStream) error {
	method, ok := grpc.MethodFromServerStream(stream)
	if !ok {
		return status.Error(codes.Internal, "the call has no method")
	}
	came, _ := metadata.FromIncomingContext(stream.Context())
	c := &call{GRPC: p, method: method, stream: stream, header: headerOf(came)}
	if p.deps.Authenticate != nil {
		var err error
		if c.tenant, err = p.deps.Authenticate(c.header); err != nil {
			return statusOf(p.deps.Selector.Problem(err))
		}
	}
	c.ctx = metadata.NewOutgoingContext(stream.Context(), p.onward(came))
	if method == qd.Points_Query_FullMethodName || method == qd.Points_QueryBatch_FullMethodName {
		return c.query()
	}
	if c.tenant != "" && method != qd.Qdrant_HealthCheck_FullMethodName {
		return statusOf(*selectproxy.BoundToTenant())
	}
	return c.pass(nil)
}

func headerOf(came metadata.MD) http.Header {
	header := make(http.Header, len(came))
	for name, values := range came {
		for _, value := range values {
			header.Add(name, value)
		}
	}
	return header
}

// onward is the metadata that goes on to Qdrant: without what belongs to this hop, to this proxy, or to its keys.
func (p *GRPC) onward(came metadata.MD) metadata.MD {
	gone := metadata.MD{}
	for name, values := range came {
		if strings.HasPrefix(name, ":") || strings.HasPrefix(name, "grpc-") || strings.HasPrefix(name, "x-georag-") ||
			name == "content-type" || name == "user-agent" || name == "te" || name == "connection" ||
			p.deps.Credentials.Replace && selectproxy.CarriesKey(name) {
			continue
		}
		gone[name] = values
	}
	if c := p.deps.Credentials; c.Replace && c.Value != "" {
		gone.Set(c.Name, c.Value)
	}
	return gone
}

// pass passes a call through, whatever its kind, beginning with the message that was read already.
func (c *call) pass(first *frame) error {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	onward, err := c.channel.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, c.method)
	if err != nil {
		return err
	}
	go func() {
		if err := c.sendAll(onward, first); err != nil {
			cancel()
		}
	}()
	return c.receiveAll(onward)
}

// sendAll passes the client's messages on, to their end.
func (c *call) sendAll(onward grpc.ClientStream, message *frame) error {
	for {
		if message == nil {
			message = &frame{}
			switch err := c.stream.RecvMsg(message); {
			case errors.Is(err, io.EOF):
				return onward.CloseSend()
			case err != nil:
				return err
			}
		}
		if err := onward.SendMsg(message); err != nil {
			if errors.Is(err, io.EOF) {
				return nil // Qdrant has ended the call and says why where its messages are received
			}
			return err
		}
		message = nil
	}
}

// receiveAll passes Qdrant's messages back, and its status.
func (c *call) receiveAll(onward grpc.ClientStream) error {
	header, err := onward.Header()
	if err == nil && len(header) > 0 {
		err = c.stream.SendHeader(header)
	}
	for err == nil {
		message := &frame{}
		if err = onward.RecvMsg(message); err == nil {
			err = c.stream.SendMsg(message)
		}
	}
	c.stream.SetTrailer(onward.Trailer())
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// statusOf is a refusal as gRPC tells it.
func statusOf(p selectproxy.Problem) error {
	code, known := map[int]codes.Code{
		http.StatusBadRequest: codes.InvalidArgument, http.StatusUnauthorized: codes.Unauthenticated, http.StatusForbidden: codes.PermissionDenied,
		http.StatusNotFound: codes.NotFound, http.StatusRequestEntityTooLarge: codes.ResourceExhausted, http.StatusTooManyRequests: codes.ResourceExhausted,
		http.StatusUnprocessableEntity: codes.FailedPrecondition, http.StatusGatewayTimeout: codes.DeadlineExceeded,
		http.StatusBadGateway: codes.Unavailable, http.StatusServiceUnavailable: codes.Unavailable, 499: codes.Canceled,
	}[p.Status]
	if !known {
		code = codes.Internal
	}
	return status.Error(code, p.Message)
}

// statusOfError is the status of HTTP that says what the client of gRPC is told of err.
func statusOfError(err error) int {
	code := status.Code(err)
	if code == codes.Unknown {
		code = status.FromContextError(err).Code()
	}
	same, known := map[codes.Code]int{
		codes.OK: http.StatusOK, codes.Canceled: 499, codes.InvalidArgument: http.StatusBadRequest, codes.DeadlineExceeded: http.StatusGatewayTimeout,
		codes.NotFound: http.StatusNotFound, codes.AlreadyExists: http.StatusConflict, codes.PermissionDenied: http.StatusForbidden,
		codes.ResourceExhausted: http.StatusTooManyRequests, codes.FailedPrecondition: http.StatusUnprocessableEntity, codes.Aborted: http.StatusConflict,
		codes.OutOfRange: http.StatusBadRequest, codes.Unimplemented: http.StatusNotImplemented, codes.Unavailable: http.StatusServiceUnavailable,
		codes.Unauthenticated: http.StatusUnauthorized,
	}[code]
	if !known {
		return http.StatusInternalServerError
	}
	return same
}
