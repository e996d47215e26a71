package milvus

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"sync"
	"testing"

	"github.com/georag/georag/adapters/storetest"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/milvusserver"
)

// TestConformance runs the suite of all stores on a real Milvus with the exact index.
func TestConformance(t *testing.T) {
	t.Parallel()
	addr := milvusserver.Addr(t)
	collections := newShelf(t, addr)
	storetest.Run(t, storetest.Backend{
		Open: func(t testing.TB, c storetest.Collection) core.Store {
			return newStore(t, collections.holding(c))
		},
		Metrics:    []core.Metric{core.MetricCosine, core.MetricDot, core.MetricEuclidean},
		IDs:        []storetest.IDKind{storetest.TextIDs, storetest.IntIDs},
		Lost:       []core.ID{core.IntID(math.MaxInt64)}, // Upsert refuses it and says why
		Filter:     equals,
		Tenants:    true,
		Partitions: true,
		Misnamings: misnamings(collections),
		Loader: func(t testing.TB, metric core.Metric, ids storetest.IDKind) (core.Loader, func() core.Store) {
			cfg := Config{Addr: addr, Collection: collectionName(), Policy: patient}
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

// shelf keeps the collections of one test, because loading one takes Milvus seconds and most cases only read.
// Cases that ask for the same passages get the same collection, and empty ones of the commonest shape are made
// beforehand, all at once.
type shelf struct {
	t     *testing.T
	addr  string
	made  map[string]Config
	blank []Config
}

// commonest is the shape that most cases of the suite ask for.
var commonest = storetest.Collection{Dimension: 16, Metric: core.MetricCosine, IDs: storetest.TextIDs}

func newShelf(t *testing.T, addr string) *shelf {
	s := &shelf{t: t, addr: addr, made: make(map[string]Config)}
	var all sync.WaitGroup
	for range 8 {
		cfg := Config{Addr: addr, Collection: collectionName(), Consistency: "strong", Policy: patient}
		s.blank = append(s.blank, cfg)
		all.Go(func() { create(t, cfg, commonest, true) })
	}
	all.Wait()
	return s
}

func (s *shelf) holding(c storetest.Collection) Config {
	content := fmt.Sprintf("%v", c)
	cfg, made := s.made[content]
	if made {
		return cfg
	}
	shape := c
	shape.Passages = nil
	if reflect.DeepEqual(shape, commonest) && len(s.blank) > 0 {
		cfg, s.blank = s.blank[0], s.blank[1:]
		put(s.t, cfg, c)
	} else {
		cfg = fill(s.t, s.addr, c, true)
	}
	s.made[content] = cfg
	return cfg
}

// misnamings are the names that are in no collection of the test's server.
func misnamings(collections *shelf) []storetest.Misnaming {
	wrongly := func(what, right string, name func(*Config)) storetest.Misnaming {
		return storetest.Misnaming{What: what, Open: func(t testing.TB, c storetest.Collection) (core.Store, string, string, error) {
			cfg := collections.holding(c)
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
