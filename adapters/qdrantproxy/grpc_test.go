package qdrantproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/georag/georag/internal/selectproxy"
)

// startGRPC puts a proxy in front of a server that answers every method by serve, and returns a client of the proxy.
func startGRPC(t *testing.T, d GRPCDeps, serve grpc.StreamHandler) (client *grpc.ClientConn, stop func() error) {
	t.Helper()
	listen := func() net.Listener {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return listener
	}
	behind, front := listen(), listen()
	upstream := grpc.NewServer(grpc.ForceServerCodecV2(rawCodec{}), grpc.UnknownServiceHandler(serve), grpc.MaxRecvMsgSize(maxMessage))
	go func() { _ = upstream.Serve(behind) }()
	t.Cleanup(upstream.Stop)
	d.Target = behind.Addr().String()
	if d.Selector == nil {
		d.Selector = &selectproxy.Selector{Problem: func(err error) selectproxy.Problem {
			return selectproxy.Problem{Status: http.StatusUnauthorized, Message: err.Error()}
		}}
	}
	proxy, err := NewGRPC(d)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- proxy.Serve(ctx, front) }()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	client, err = grpc.NewClient(front.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{}), grpc.MaxCallRecvMsgSize(maxMessage)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client, stop
}

// echoAll sends every message back, with the metadata that came as header, and ends with a status and a trailer.
func echoAll(_ any, stream grpc.ServerStream) error {
	came, _ := metadata.FromIncomingContext(stream.Context())
	if err := stream.SendHeader(metadata.Pairs("key", strings.Join(came.Get("api-key"), "|"), "other", strings.Join(came.Get("other"), "|"), "ours", strings.Join(came.Get("x-georag-query"), "|"))); err != nil {
		return err
	}
	for {
		message := &frame{}
		switch err := stream.RecvMsg(message); {
		case errors.Is(err, io.EOF):
			stream.SetTrailer(metadata.Pairs("end", "1"))
			return status.Error(codes.DataLoss, "ended as agreed")
		case err != nil:
			return err
		}
		if err := stream.SendMsg(message); err != nil {
			return err
		}
	}
}

var both = &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}

// TestStreamsBothWays: messages go on one by one in both directions, of any size, and so do metadata, trailers and the
// status.
func TestStreamsBothWays(t *testing.T) {
	client, _ := startGRPC(t, GRPCDeps{Credentials: selectproxy.Credentials{Replace: true, Name: "api-key", Value: "ours"}}, echoAll)
	ctx := metadata.AppendToOutgoingContext(t.Context(), "api-key", "theirs", "other", "a", "other", "b", "x-georag-query", "eA")
	stream, err := client.NewStream(ctx, both, "/any.Service/Method")
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{{}, []byte("one"), bytes.Repeat([]byte("x"), 6<<20)} {
		back := &frame{}
		if err := errors.Join(stream.SendMsg(&frame{data}), stream.RecvMsg(back)); err != nil || !bytes.Equal(back.data, data) {
			t.Fatalf("%d bytes came back as %d, %v", len(data), len(back.data), err)
		}
	}
	header, err := stream.Header()
	if err != nil || header.Get("key")[0] != "ours" || header.Get("other")[0] != "a|b" || header.Get("ours")[0] != "" {
		t.Errorf("header %v, %v", header, err)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	err = stream.RecvMsg(&frame{})
	if status.Code(err) != codes.DataLoss || status.Convert(err).Message() != "ended as agreed" || stream.Trailer().Get("end") == nil {
		t.Errorf("ended with %v and trailer %v", err, stream.Trailer())
	}
}

// TestDeadline: the client's deadline and its leaving reach Qdrant.
func TestDeadline(t *testing.T) {
	left := make(chan error, 1)
	client, _ := startGRPC(t, GRPCDeps{}, func(_ any, stream grpc.ServerStream) error {
		if _, limited := stream.Context().Deadline(); !limited {
			left <- errors.New("no deadline arrived")
			return nil
		}
		<-stream.Context().Done()
		left <- nil
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := client.Invoke(ctx, "/any.Service/Method", &frame{}, &frame{}); status.Code(err) != codes.DeadlineExceeded {
		t.Error(err)
	}
	if err := <-left; err != nil {
		t.Error(err)
	}
}

// TestAuthenticate: no method is called for who is not let in, and none but the health check for who is bound.
func TestAuthenticate(t *testing.T) {
	called := 0
	client, _ := startGRPC(t, GRPCDeps{Authenticate: func(h http.Header) (string, error) {
		switch h.Get("Api-Key") {
		case "good":
			return "", nil
		case "bound":
			return "a", nil
		}
		return "", errors.New("who are you")
	}}, func(_ any, stream grpc.ServerStream) error {
		called++
		return stream.SendMsg(&frame{})
	})
	for _, c := range []struct {
		key, method string
		want        codes.Code
	}{
		{"", "/any.Service/Method", codes.Unauthenticated},
		{"", qd.Qdrant_HealthCheck_FullMethodName, codes.Unauthenticated},
		{"", qd.Points_Query_FullMethodName, codes.Unauthenticated},
		{"good", "/any.Service/Method", codes.OK},
		{"bound", "/any.Service/Method", codes.PermissionDenied},
		{"bound", qd.Points_Query_FullMethodName, codes.PermissionDenied},
		{"bound", qd.Points_QueryBatch_FullMethodName, codes.PermissionDenied},
		{"bound", qd.Points_Scroll_FullMethodName, codes.PermissionDenied},
		{"bound", qd.Qdrant_HealthCheck_FullMethodName, codes.OK},
	} {
		before := called
		err := client.Invoke(metadata.AppendToOutgoingContext(t.Context(), "api-key", c.key), c.method, &frame{}, &frame{})
		if status.Code(err) != c.want || (called > before) != (c.want == codes.OK) {
			t.Errorf("%q %s: %v", c.key, c.method, err)
		}
	}
}

// TestNonsense: a query that is no message passes through to be judged, and is refused where a selection was asked for.
func TestNonsense(t *testing.T) {
	client, _ := startGRPC(t, GRPCDeps{}, func(_ any, stream grpc.ServerStream) error { return stream.SendMsg(&frame{[]byte("judged")}) })
	back := &frame{}
	if err := client.Invoke(t.Context(), qd.Points_Query_FullMethodName, &frame{[]byte("\xff\xff")}, back); err != nil || string(back.data) != "judged" {
		t.Errorf("%q, %v", back.data, err)
	}
	asking := metadata.AppendToOutgoingContext(t.Context(), "x-georag-select", "on")
	if err := client.Invoke(asking, qd.Points_Query_FullMethodName, &frame{[]byte("\xff\xff")}, back); status.Code(err) != codes.InvalidArgument {
		t.Error(err)
	}
}

// TestShutdown: a call under way ends before the proxy does.
func TestShutdown(t *testing.T) {
	running, finish := make(chan struct{}), make(chan struct{})
	client, stop := startGRPC(t, GRPCDeps{}, func(_ any, stream grpc.ServerStream) error {
		close(running)
		<-finish
		return stream.SendMsg(&frame{[]byte("done")})
	})
	answered := make(chan error, 1)
	go func() { answered <- client.Invoke(context.Background(), "/any.Service/Method", &frame{}, &frame{}) }()
	<-running
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	close(finish)
	if err := errors.Join(<-answered, <-stopped); err != nil {
		t.Error(err)
	}
}

// TestDrainAndTelling: a call that comes while the proxy drains is still taken, and how every call ended is told, under
// one of few names.
func TestDrainAndTelling(t *testing.T) {
	told := make(chan string, 3)
	client, stop := startGRPC(t, GRPCDeps{
		Drain: time.Second,
		Finished: func(_ context.Context, route string, status int, _ time.Duration) {
			told <- fmt.Sprint(route, " ", status)
		},
		Authenticate: func(h http.Header) (string, error) {
			if h.Get("Api-Key") == "" {
				return "", errors.New("who are you")
			}
			return "", nil
		},
	}, func(_ any, stream grpc.ServerStream) error { return stream.SendMsg(&frame{}) })
	keyed := metadata.AppendToOutgoingContext(t.Context(), "api-key", "good")
	if err := client.Invoke(keyed, qd.Points_Query_FullMethodName, &frame{}, &frame{}); err != nil {
		t.Error(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	time.Sleep(50 * time.Millisecond) // until the drain has begun
	if err := client.Invoke(keyed, "/any.Service/Confidential", &frame{}, &frame{}); err != nil {
		t.Errorf("while draining: %v", err)
	}
	_ = client.Invoke(t.Context(), qd.Points_QueryBatch_FullMethodName, &frame{}, &frame{})
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	for _, want := range []string{"gRPC /qdrant.Points/Query 200", "gRPC other 200", "gRPC /qdrant.Points/QueryBatch 401"} {
		if got := <-told; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
}

func TestUnreachableGRPC(t *testing.T) {
	proxy, err := NewGRPC(GRPCDeps{Target: "127.0.0.1:1", Selector: &selectproxy.Selector{}})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- proxy.Serve(ctx, listener) }()
	alone, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{})))
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	if err := alone.Invoke(t.Context(), "/any.Service/Method", &frame{}, &frame{}); status.Code(err) != codes.Unavailable {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
