// Package grpcretry tells which failures of a gRPC call are worth another attempt.
package grpcretry

import (
	"context"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/georag/georag/internal/retry"
)

// Classify is a [retry.Classify] for reads: Unavailable and ResourceExhausted are worth another attempt, after
// the RetryInfo of the status where there is one. A message above a size limit is ResourceExhausted too, but the
// same every time, so it is not.
func Classify(err error) (again bool, after time.Duration) {
	s, ok := status.FromError(err)
	if !ok || MessageTooLarge(err) {
		return false, 0
	}
	switch s.Code() {
	case codes.Unavailable, codes.ResourceExhausted:
		return true, retryInfo(s)
	default:
		return false, 0
	}
}

// MessageTooLarge reports whether err is gRPC's own refusal of a message above the send or receive limit. There
// is no code of its own for it, only the words of grpc-go.
func MessageTooLarge(err error) bool {
	s, ok := status.FromError(err)
	return ok && s.Code() == codes.ResourceExhausted && strings.Contains(s.Message(), "larger than max")
}

// TrailerToRetryInfo is a client interceptor for servers that send the pause as a "retry-after" trailer, as
// Qdrant does: it moves the trailer into the status, where [Classify] and callers find it.
func TrailerToRetryInfo(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	var trailer metadata.MD
	err := invoke(ctx, method, req, reply, cc, append(opts, grpc.Trailer(&trailer))...)
	values := trailer.Get("retry-after")
	if err == nil || len(values) == 0 {
		return err
	}
	after := retry.After(values[0], time.Now())
	detailed, failed := status.Convert(err).WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(after)})
	if failed != nil {
		return err
	}
	return detailed.Err()
}

func retryInfo(s *status.Status) time.Duration {
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return max(0, info.GetRetryDelay().AsDuration())
		}
	}
	return 0
}
