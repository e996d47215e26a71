package qdrant_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/georag/georag/internal/qdranttest"
	"github.com/georag/georag/internal/qdranttest/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) { conformance.Run(t, server(t)) }

// server is the Qdrant under test: the real one of GEORAG_QDRANT_ADDR, or one in this process.
func server(t testing.TB) conformance.Server {
	t.Helper()
	if addr := os.Getenv("GEORAG_QDRANT_ADDR"); addr != "" {
		t.Logf("SERVER: Qdrant: real server at %s (GEORAG_QDRANT_ADDR)", addr)
		return conformance.Server{Addr: addr, Keeps: true}
	}
	t.Log("SERVER: Qdrant: in-process server, NOT a real Qdrant (set GEORAG_QDRANT_ADDR to test one)")
	return inProcess(qdranttest.Start(t, qdranttest.Config{}))
}

func inProcess(s *qdranttest.Server) conformance.Server {
	return conformance.Server{Addr: s.Addr(), Clustered: true}
}
