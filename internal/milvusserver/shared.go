package milvusserver

import (
	"os"
	"sync"
	"testing"
)

var shared struct {
	sync.Mutex
	server *Server
	err    error // of the one attempt to start
}

// Addr returns the address of the Milvus that this process's tests share, and starts one at first use. Where none
// can be had the test is skipped with a line that says so; with CI=true it fails, because there the real server
// is part of what is promised. A package that calls it calls [StopShared] at the end of its TestMain.
func Addr(t testing.TB) string {
	t.Helper()
	if addr := os.Getenv(AddrVariable); addr != "" {
		t.Log("SERVER: Milvus: real server")
		return addr
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = Start()
	}
	if shared.err != nil {
		Absent(t, shared.err)
	}
	t.Log("SERVER: Milvus: real server")
	return shared.server.Addr()
}

// Own starts a server for one test that does to it what others must not see, and stops it at the test's end.
// Settings are those of [Start].
func Own(t testing.TB, settings ...string) *Server {
	t.Helper()
	server, err := Start(settings...)
	if err != nil && os.Getenv(AddrVariable) != "" {
		t.Skipf("SKIPPED: the given Milvus is not this test's to restart, and there is no other: %v", err)
	}
	if err != nil {
		Absent(t, err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Errorf("stop Milvus: %v", err)
		}
	})
	return server
}

// Absent ends a test that cannot have its Milvus: a failure with CI=true, a loud skip elsewhere.
func Absent(t testing.TB, err error) {
	t.Helper()
	if required() {
		t.Fatalf("no Milvus, which CI requires: %v", err)
	}
	t.Skipf("SKIPPED: no Milvus: %v; set %s to a running one", err, AddrVariable)
}

// required reports whether a Milvus that cannot be had is a failure.
func required() bool { return os.Getenv("CI") == "true" }

// StopShared stops the server that [Addr] started, if it did.
func StopShared() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		return nil
	}
	server := shared.server
	shared.server = nil
	return server.Stop()
}
