package qdrant

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	qd "github.com/qdrant/go-client/qdrant"
	"go.uber.org/goleak"

	"github.com/georag/georag/adapters/storetest"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/qdranttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is the address of the Qdrant under test: the real one of GEORAG_QDRANT_ADDR, or one in this process.
func server(t testing.TB) (addr string, real bool) {
	t.Helper()
	if addr := os.Getenv("GEORAG_QDRANT_ADDR"); addr != "" {
		t.Logf("QDRANT: real server at %s (GEORAG_QDRANT_ADDR)", addr)
		return addr, true
	}
	t.Log("QDRANT: in-process server (internal/qdranttest), not a real Qdrant; set GEORAG_QDRANT_ADDR to test one")
	return qdranttest.Start(t, qdranttest.Config{}).Addr(), false
}

var collectionNumber atomic.Int64

// collectionName is one that no other test or test process uses.
func collectionName() string {
	return fmt.Sprintf("georag_%d_%d", os.Getpid(), collectionNumber.Add(1))
}

func newStore(t testing.TB, cfg Config) *Store {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// opened is newStore, closed at the test's end.
func opened(t testing.TB, cfg Config) *Store {
	t.Helper()
	s := newStore(t, cfg)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// raw makes a call of Qdrant's own client, for what the store does not do.
func raw[T any](t testing.TB, addr string, call func(context.Context, *line) (T, error)) T {
	t.Helper()
	s := newStore(t, Config{Addr: addr, Collection: "any", MaxMessageBytes: 1 << 30})
	defer s.Close()
	l, err := s.conn.take()
	if err != nil {
		t.Fatal(err)
	}
	defer s.conn.put(l)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	answer, err := call(ctx, l)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func dropAtEnd(t testing.TB, addr, collection string) {
	t.Cleanup(func() {
		raw(t, addr, func(ctx context.Context, l *line) (*qd.CollectionOperationResponse, error) {
			return l.collections.Delete(ctx, &qd.DeleteCollection{CollectionName: collection})
		})
	})
}

// configFor is the configuration of a new collection with the suite's kind of ID.
func configFor(addr string, ids storetest.IDKind) Config {
	cfg := Config{Addr: addr, Collection: collectionName()}
	if ids == storetest.TextIDs || ids == storetest.IntIDs {
		cfg.IDField = "doc_id"
	}
	return cfg
}

// fill makes a collection that holds c and returns the configuration to search it with.
func fill(t testing.TB, addr string, c storetest.Collection) Config {
	t.Helper()
	cfg := configFor(addr, c.IDs)
	cfg.TenantKey = c.TenantKey
	parts := map[string][]core.Candidate{"": c.Passages}
	loading := cfg
	if c.PartitionKey != "" {
		parts = make(map[string][]core.Candidate)
		for _, p := range c.Passages {
			name := p.Payload[c.PartitionKey].(string)
			parts[name] = append(parts[name], p)
		}
		for name := range parts {
			loading.ShardKeys = append(loading.ShardKeys, name)
		}
	}
	dropAtEnd(t, addr, cfg.Collection)
	loader := opened(t, loading)
	if err := loader.Create(t.Context(), core.CollectionSpec{Dimension: c.Dimension, Metric: c.Metric, TextIDs: true, Exact: true}); err != nil {
		t.Fatal(err)
	}
	for name, passages := range parts {
		if c.PartitionKey != "" {
			loading.ShardKeys = []string{name}
		}
		if err := opened(t, loading).Upsert(t.Context(), passages); err != nil {
			t.Fatal(err)
		}
	}
	return cfg
}
