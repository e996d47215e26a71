package qdrant

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/georag/georag/adapters/storetest"
	"github.com/georag/georag/core"
)

// TestConformance runs the suite of all stores.
func TestConformance(t *testing.T) {
	addr, real := server(t)
	storetest.Run(t, storetest.Backend{
		Open: func(t testing.TB, c storetest.Collection) core.Store {
			return newStore(t, fill(t, addr, c))
		},
		Metrics: []core.Metric{core.MetricCosine, core.MetricDot, core.MetricEuclidean, core.MetricManhattan},
		IDs:     []storetest.IDKind{storetest.UintIDs, storetest.UUIDs, storetest.TextIDs, storetest.IntIDs},
		Filter:  equals,
		Tenants: true,
		// A single real server has no cluster mode, and without one no shard keys.
		Partitions: !real,
		Misnamings: []storetest.Misnaming{
			misnaming(addr, "collection", func(c *Config) string { right := c.Collection; c.Collection = "no_such_name"; return right }),
			misnaming(addr, "vector", func(c *Config) string { c.VectorName = "no_such_name"; return `""` }),
		},
		Loader: func(t testing.TB, _ core.Metric, ids storetest.IDKind) (core.Loader, func() core.Store) {
			cfg := configFor(addr, ids)
			dropAtEnd(t, addr, cfg.Collection)
			return opened(t, cfg), func() core.Store { return newStore(t, cfg) }
		},
	})
}

// equals writes the filter as Qdrant's REST interface takes it.
func equals(field string, value any) string {
	quoted, _ := json.Marshal(value)
	return fmt.Sprintf(`{"must": [{"key": %q, "match": {"value": %s}}]}`, field, quoted)
}

func misnaming(addr, what string, misname func(*Config) (right string)) storetest.Misnaming {
	return storetest.Misnaming{What: what, Open: func(t testing.TB, c storetest.Collection) (core.Store, string, string, error) {
		cfg := fill(t, addr, c)
		right := misname(&cfg)
		s, err := New(cfg)
		return s, "no_such_name", right, err
	}}
}
