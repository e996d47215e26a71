package integration

import (
	"context"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/georag/georag/internal/qdranttest"
	"github.com/georag/georag/internal/qdranttest/conformance"
)

const qdrantImage = "qdrant/qdrant:v1.17.1"

// qdrantServer is the Qdrant to test on: the one of GEORAG_QDRANT_ADDR, a container where Docker runs, or one in
// this process; real tells them apart. All tests share it.
var qdrantServer = sync.OnceValues(func() (found conformance.Server, what string) {
	if addr := os.Getenv("GEORAG_QDRANT_ADDR"); addr != "" {
		return conformance.Server{Addr: addr, Keeps: true}, "real server at " + addr + " (GEORAG_QDRANT_ADDR)"
	}
	why := "no Docker and no GEORAG_QDRANT_ADDR"
	if dockerRuns() {
		addr, err := startQdrantContainer()
		if err == nil {
			return conformance.Server{Addr: addr, Keeps: true}, "real server, container " + qdrantImage
		}
		why = "the container did not start: " + err.Error()
	}
	local, err := qdranttest.New(qdranttest.Config{})
	if err != nil {
		return conformance.Server{}, err.Error()
	}
	closers = append(closers, func() error { local.Close(); return nil })
	return conformance.Server{Addr: local.Addr(), Clustered: true}, "in-process server, NOT a real Qdrant (" + why + ")"
})

// closers end what tests shared; TestMain calls them.
var closers []func() error

func qdrantUnderTest(t testing.TB) conformance.Server {
	t.Helper()
	server, what := qdrantServer()
	if server.Addr == "" {
		t.Fatal(what)
	}
	t.Log("SERVER: Qdrant: " + what)
	return server
}

// dockerRuns asks the daemon's socket itself: testcontainers panics where there is none.
func dockerRuns() bool {
	if os.Getenv("DOCKER_HOST") != "" {
		return true
	}
	conn, err := net.DialTimeout("unix", "/var/run/docker.sock", time.Second)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

func startQdrantContainer() (addr string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	container, err := testcontainers.Run(ctx, qdrantImage,
		testcontainers.WithExposedPorts("6334/tcp"), testcontainers.WithWaitStrategy(wait.ForListeningPort("6334/tcp")))
	if container != nil {
		closers = append(closers, func() error { return testcontainers.TerminateContainer(container) })
	}
	if err != nil {
		return "", err
	}
	return container.PortEndpoint(ctx, "6334/tcp", "")
}
