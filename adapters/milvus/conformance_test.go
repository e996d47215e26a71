package milvus

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/georag/georag/adapters/storetest"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/milvusserver"
)

// TestConformance runs the suite of all stores on a real Milvus with the exact index.
func TestConformance(t *testing.T) {
	addr := milvusserver.Addr(t)
	storetest.Run(t, storetest.Backend{
		Open: func(t testing.TB, c storetest.Collection) core.Store {
			return newStore(t, fill(t, addr, c, true))
		},
		Metrics:    []core.Metric{core.MetricCosine, core.MetricDot, core.MetricEuclidean},
		IDs:        []storetest.IDKind{storetest.TextIDs, storetest.IntIDs},
		Filter:     equals,
		Tenants:    true,
		Partitions: true,
		Misnamings: misnamings(addr),
		Loader: func(t testing.TB, metric core.Metric, ids storetest.IDKind) (core.Loader, func() core.Store) {
			cfg := Config{Addr: addr, Collection: collectionName()}
			loader := newStore(t, cfg)
			t.Cleanup(func() {
				drop(t, addr, cfg.Collection)
				loader.Close()
			})
			return loader, func() core.Store { return newStore(t, cfg) }
		},
	})
}

func equals(field string, value any) string {
	if text, ok := value.(string); ok {
		return field + " == " + strconv.Quote(text)
	}
	return fmt.Sprintf("%s == %v", field, value)
}

// misnamings are the names that are in no collection of the test's server.
func misnamings(addr string) []storetest.Misnaming {
	wrongly := func(what, right string, name func(*Config)) storetest.Misnaming {
		return storetest.Misnaming{What: what, Open: func(t testing.TB, c storetest.Collection) (core.Store, string, string, error) {
			cfg := fill(t, addr, c, true)
			if right == "" {
				right = cfg.Collection
			}
			name(&cfg)
			s, err := New(cfg)
			return s, "no_such_name", right, err
		}}
	}
	return []storetest.Misnaming{
		wrongly("collection", "", func(c *Config) { c.Collection = "no_such_name" }),
		wrongly("vector field", "vector", func(c *Config) { c.VectorField = "no_such_name" }),
		wrongly("id field", "id", func(c *Config) { c.IDField = "no_such_name" }),
	}
}
