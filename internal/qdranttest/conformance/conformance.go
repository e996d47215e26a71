// Package conformance runs the suite of all stores on the Qdrant store, over whichever server a test has. It is
// apart from the store's own tests because those have no container to start.
package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/georag/georag/adapters/qdrant"
	"github.com/georag/georag/adapters/storetest"
	"github.com/georag/georag/core"
)

// Server is a running Qdrant.
type Server struct {
	Addr string
	// Clustered: it has shard keys, which a single real server has not.
	Clustered bool
	// Keeps its collections after the test, so that they have to be dropped.
	Keeps bool
}

// patience bounds the calls of tests that are not about time, on a machine that may be busy.
const patience = 30 * time.Second

// Run runs the suite.
func Run(t *testing.T, s Server) {
	storetest.Run(t, storetest.Backend{
		Open:       func(t testing.TB, c storetest.Collection) core.Store { return New(t, s.Fill(t, c)) },
		Metrics:    []core.Metric{core.MetricCosine, core.MetricDot, core.MetricEuclidean, core.MetricManhattan},
		IDs:        []storetest.IDKind{storetest.UintIDs, storetest.UUIDs, storetest.TextIDs, storetest.IntIDs},
		Filter:     equals,
		Tenants:    true,
		Partitions: s.Clustered,
		Misnamings: []storetest.Misnaming{
			s.misnaming("collection", func(c *qdrant.Config) string {
				right := c.Collection
				c.Collection = "no_such_name"
				return right
			}),
			s.misnaming("vector", func(c *qdrant.Config) string { c.VectorName = "no_such_name"; return `""` }),
		},
		Loader: func(t testing.TB, _ core.Metric, ids storetest.IDKind) (core.Loader, func() core.Store) {
			cfg := s.config(ids)
			s.DropAtEnd(t, cfg.Collection)
			return Opened(t, cfg), func() core.Store { return New(t, cfg) }
		},
	})
}

// equals writes the filter as Qdrant's REST interface takes it.
func equals(field string, value any) string {
	quoted, _ := json.Marshal(value)
	return fmt.Sprintf(`{"must": [{"key": %q, "match": {"value": %s}}]}`, field, quoted)
}

func (s Server) misnaming(what string, misname func(*qdrant.Config) (right string)) storetest.Misnaming {
	return storetest.Misnaming{What: what, Open: func(t testing.TB, c storetest.Collection) (core.Store, string, string, error) {
		cfg := s.Fill(t, c)
		right := misname(&cfg)
		store, err := qdrant.New(cfg)
		return store, "no_such_name", right, err
	}}
}

// New returns a store; the caller closes it.
func New(t testing.TB, cfg qdrant.Config) *qdrant.Store {
	t.Helper()
	store, err := qdrant.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// Opened is [New], closed at the test's end.
func Opened(t testing.TB, cfg qdrant.Config) *qdrant.Store {
	t.Helper()
	store := New(t, cfg)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return store
}

var collectionNumber atomic.Int64

// CollectionName is one that no other test or test process uses.
func CollectionName() string {
	return fmt.Sprintf("georag_%d_%d", os.Getpid(), collectionNumber.Add(1))
}

// config is that of a new collection with the suite's kind of ID.
func (s Server) config(ids storetest.IDKind) qdrant.Config {
	cfg := qdrant.Config{Addr: s.Addr, Collection: CollectionName()}
	cfg.Timeout = patience
	if ids == storetest.TextIDs || ids == storetest.IntIDs {
		cfg.IDField = "doc_id"
	}
	return cfg
}

// Fill makes a collection that holds c and returns the configuration to search it with.
func (s Server) Fill(t testing.TB, c storetest.Collection) qdrant.Config {
	t.Helper()
	cfg := s.config(c.IDs)
	cfg.TenantKey = c.TenantKey
	loading, parts := cfg, map[string][]core.Candidate{"": c.Passages}
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
	s.DropAtEnd(t, cfg.Collection)
	spec := core.CollectionSpec{Dimension: c.Dimension, Metric: c.Metric, TextIDs: true, Exact: true}
	if err := Opened(t, loading).Create(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	for name, passages := range parts {
		if c.PartitionKey != "" {
			loading.ShardKeys = []string{name}
		}
		if err := Opened(t, loading).Upsert(t.Context(), passages); err != nil {
			t.Fatal(err)
		}
	}
	return cfg
}

// DropAtEnd leaves a server that keeps its collections as it was.
func (s Server) DropAtEnd(t testing.TB, collection string) {
	if !s.Keeps {
		return
	}
	t.Cleanup(func() {
		s.Raw(t, func(ctx context.Context, c Client) error {
			_, err := c.Delete(ctx, &qd.DeleteCollection{CollectionName: collection})
			return err
		})
	})
}

// Client is Qdrant's own.
type Client struct {
	qd.CollectionsClient
	Points qd.PointsClient
}

// Raw does with Qdrant's own client what the store does not do.
func (s Server) Raw(t testing.TB, do func(context.Context, Client) error) {
	t.Helper()
	channel, err := grpc.NewClient(s.Addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer channel.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := do(ctx, Client{qd.NewCollectionsClient(channel), qd.NewPointsClient(channel)}); err != nil {
		t.Fatal(err)
	}
}
