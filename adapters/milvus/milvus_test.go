package milvus

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"go.uber.org/goleak"

	"github.com/georag/georag/adapters/storetest"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/milvusserver"
	"github.com/georag/georag/internal/retry"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := milvusserver.StopShared(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
		os.Exit(code)
	}))
}

// patient outlasts a machine that tests keep busy. Deadlines have tests of their own.
var patient = retry.Policy{Timeout: 20 * time.Second}

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

// admin is the SDK itself, for what the store does not do: dropping and releasing collections.
func admin(t testing.TB, addr string) client.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := client.NewClient(ctx, client.Config{Address: addr})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func drop(t testing.TB, addr, collection string) {
	t.Helper()
	c := admin(t, addr)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := c.DropCollection(ctx, collection); err != nil {
		t.Errorf("drop %s: %v", collection, err)
	}
}

func specOf(c storetest.Collection, exact bool) core.CollectionSpec {
	return core.CollectionSpec{Dimension: c.Dimension, Metric: c.Metric, TextIDs: c.IDs == storetest.TextIDs, Exact: exact}
}

// fill makes a collection that holds c and returns the configuration to search it with. What was written is
// visible when it returns.
func fill(t testing.TB, addr string, c storetest.Collection, exact bool) Config {
	t.Helper()
	cfg := Config{Addr: addr, Collection: collectionName(), TenantField: c.TenantKey, Consistency: "strong", Policy: patient}
	create(t, cfg, c, exact)
	put(t, cfg, c)
	return cfg
}

// create makes the empty collection, and drops it at the test's end.
func create(t testing.TB, cfg Config, c storetest.Collection, exact bool) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(byPartition(c))) {
		if name != "" {
			cfg.Partitions = append(cfg.Partitions, name)
		}
	}
	s := newStore(t, cfg)
	defer s.Close()
	if err := s.Create(context.Background(), specOf(c, exact)); err != nil {
		t.Error(err)
		return
	}
	t.Cleanup(func() { drop(t, cfg.Addr, cfg.Collection) })
}

// put writes the passages of c, each into its partition, and waits until they are visible.
func put(t testing.TB, cfg Config, c storetest.Collection) {
	t.Helper()
	for name, passages := range byPartition(c) {
		into := cfg
		if name != "" {
			into.Partitions = []string{name}
		}
		upsert(t, into, passages)
	}
	s := newStore(t, cfg)
	defer s.Close()
	waitVisible(t, s, int64(len(c.Passages)))
}

func byPartition(c storetest.Collection) map[string][]core.Candidate {
	parts := make(map[string][]core.Candidate)
	for _, p := range c.Passages {
		name, _ := p.Payload[c.PartitionKey].(string) // none: ""
		parts[name] = append(parts[name], p)
	}
	return parts
}

func upsert(t testing.TB, cfg Config, passages []core.Candidate) {
	t.Helper()
	writer := newStore(t, cfg)
	defer writer.Close()
	if err := writer.Upsert(t.Context(), passages); err != nil {
		t.Fatal(err)
	}
}

// waitVisible makes one strongly consistent count, after which every later search sees what was written.
func waitVisible(t testing.TB, s *Store, want int64) {
	t.Helper()
	n, err := withCollection(t.Context(), s, "count", func(ctx context.Context, l *link, c *collection) (int64, error) {
		return l.server.count(ctx, c.name, scope{consistency: "strong"})
	})
	if err != nil || n != want {
		t.Fatalf("collection holds %d passages (error %v), want %d", n, err, want)
	}
}
