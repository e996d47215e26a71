package milvus

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	grpcmiddleware "github.com/grpc-ecosystem/go-grpc-middleware/retry"
	"github.com/milvus-io/milvus-proto/go-api/v2/commonpb"
	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"github.com/georag/georag/core"
)

// sdk is the [server] on milvus-sdk-go/v2, which only the files sdk*.go know. What the SDK does by itself and must not:
// block while dialling, retry for 22 s on Unavailable and 75 times on rate limits, drop the error codes, and panic
// on answers of the wrong shape.
type sdk struct{ client client.Client }

var _ server = (*sdk)(nil)

// dialSDK makes a client without waiting for its connection.
func dialSDK(cfg Config, key string, tlsConfig *tls.Config, answered func()) (server, error) {
	settings := client.Config{
		Address:        cfg.Addr,
		DBName:         cfg.Database,
		DisableConn:    true, // its handshake would be one more blocking call and tells nothing needed here
		RetryRateLimit: &client.RetryRateLimitOption{MaxRetry: 0},
		DialOptions:    dialOptions(cfg, tlsConfig, answered),
	}
	if cfg.Username != "" {
		settings.Username, settings.Password = cfg.Username, key
	} else {
		settings.APIKey = key
	}
	c, err := client.NewClient(context.Background(), settings)
	if err != nil {
		return nil, fmt.Errorf("adapters/milvus: addr %q: %w: %w", cfg.Addr, core.ErrInvalid, err)
	}
	return &sdk{c}, nil
}

func dialOptions(cfg Config, tlsConfig *tls.Config, answered func()) []grpc.DialOption {
	transport := insecure.NewCredentials()
	if tlsConfig != nil {
		transport = credentials.NewTLS(tlsConfig)
	}
	return []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 3 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{
			// A server that comes back is found within half a second.
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 500 * time.Millisecond},
			MinConnectTimeout: 2 * time.Second,
		}),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(cfg.maxMessageBytes()),
			grpcmiddleware.Disable(), // the SDK's own interceptor obeys this option
		),
		grpc.WithChainUnaryInterceptor(keepCodes(answered)),
	}
}

// keepCodes turns the status inside an answer into an error before the SDK reduces it to its words, and notes
// that the line is alive.
func keepCodes(answered func()) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if err := invoke(ctx, method, req, reply, cc, opts...); err != nil {
			return err
		}
		answered()
		state, ok := reply.(*commonpb.Status)
		if holder, holds := reply.(interface{ GetStatus() *commonpb.Status }); holds {
			state, ok = holder.GetStatus(), true
		}
		if !ok || state.GetCode() == 0 && state.GetErrorCode() == commonpb.ErrorCode_Success {
			return nil
		}
		return &serverError{
			code:      state.GetCode(),
			legacy:    state.GetErrorCode().String(),
			reason:    state.GetReason(),
			retriable: state.GetRetriable(),
		}
	}
}

// guarded calls the SDK and turns its panic on an answer of an unexpected shape into an error.
func guarded[T any](call func() (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("adapters/milvus: %w: the server's answer has an unexpected shape: %v", core.ErrUnavailable, p)
		}
	}()
	return call()
}

func (s *sdk) close() error { return s.client.Close() }

func (s *sdk) version(ctx context.Context) (string, error) { return s.client.GetVersion(ctx) }
