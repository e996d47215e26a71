package grpcretry

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

func TestClassify(t *testing.T) {
	busy, err := status.New(codes.ResourceExhausted, "busy").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		err   error
		again bool
		after time.Duration
	}{
		"unavailable":        {status.Error(codes.Unavailable, "gone"), true, 0},
		"exhausted":          {status.Error(codes.ResourceExhausted, "rate"), true, 0},
		"exhausted, told":    {busy.Err(), true, time.Second},
		"message too large":  {status.Error(codes.ResourceExhausted, "grpc: received message larger than max (5 vs. 4)"), false, 0},
		"invalid":            {status.Error(codes.InvalidArgument, "bad"), false, 0},
		"deadline":           {status.Error(codes.DeadlineExceeded, "late"), false, 0},
		"not a status error": {errors.New("other"), false, 0},
	}
	for name, test := range tests {
		if again, after := Classify(test.err); again != test.again || after != test.after {
			t.Errorf("%s: got %v, %v; want %v, %v", name, again, after, test.again, test.after)
		}
	}
}

func TestTrailerToRetryInfo(t *testing.T) {
	refuse := func(_ context.Context, _ string, _, _ any, _ *grpc.ClientConn, opts ...grpc.CallOption) error {
		for _, opt := range opts {
			if trailer, ok := opt.(grpc.TrailerCallOption); ok {
				*trailer.TrailerAddr = metadata.Pairs("retry-after", "2")
			}
		}
		return status.Error(codes.ResourceExhausted, "rate limit")
	}
	err := TrailerToRetryInfo(t.Context(), "/m", nil, nil, nil, refuse)
	if again, after := Classify(err); !again || after != 2*time.Second {
		t.Errorf("got %v, %v; want a retry after 2s", again, after)
	}
	accept := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil }
	if err := TrailerToRetryInfo(t.Context(), "/m", nil, nil, nil, accept); err != nil {
		t.Error(err)
	}
}
