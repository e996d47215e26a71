package flat

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/georag/georag/adapters/storetest"
	"github.com/georag/georag/core"
)

func TestMain(m *testing.M) {
	if os.Getenv(crashVariable) != "" {
		loadForever()
	}
	goleak.VerifyTestMain(m)
}

// TestConformance runs the suite of all stores on folders that a Loader wrote.
func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Backend{
		Open: func(t testing.TB, c storetest.Collection) core.Store {
			return mustOpen(t, Config{Dir: load(t, c), TenantKey: c.TenantKey})
		},
		Metrics:    metrics,
		IDs:        []storetest.IDKind{storetest.TextIDs, storetest.UintIDs, storetest.IntIDs, storetest.UUIDs},
		Filter:     equals,
		Tenants:    true,
		Misnamings: misnamings(),
		Loader: func(t testing.TB, metric core.Metric, _ storetest.IDKind) (core.Loader, func() core.Store) {
			cfg := Config{Dir: filepath.Join(t.TempDir(), "new", "index")}
			loader, err := NewLoader(cfg)
			if err != nil {
				t.Fatal(err)
			}
			return loader, func() core.Store { return mustOpen(t, cfg) }
		},
	})
}

// load writes a collection into a fresh folder, in batches so that it has several parts.
func load(t testing.TB, c storetest.Collection) (dir string) {
	t.Helper()
	dir = t.TempDir()
	loader, err := NewLoader(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := loader.Create(t.Context(), core.CollectionSpec{Dimension: c.Dimension, Metric: c.Metric}); err != nil {
		t.Fatal(err)
	}
	for first := 0; first < len(c.Passages); {
		next := min(first+1+len(c.Passages)/2, len(c.Passages))
		if err := loader.Upsert(t.Context(), c.Passages[first:next]); err != nil {
			t.Fatal(err)
		}
		first = next
	}
	return dir
}

func mustOpen(t testing.TB, cfg Config) *Store {
	t.Helper()
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func equals(field string, value any) string {
	condition, err := json.Marshal(map[string]any{field: value})
	if err != nil {
		panic(err)
	}
	return string(condition)
}

// misnamings are the fields that no passage of the suite has.
func misnamings() []storetest.Misnaming {
	wrongly := func(what string, name func(*Config)) storetest.Misnaming {
		return storetest.Misnaming{What: what, Open: func(t testing.TB, c storetest.Collection) (core.Store, string, string, error) {
			cfg := Config{Dir: load(t, c)}
			name(&cfg)
			s, err := Open(cfg)
			if err != nil {
				return nil, "no_such_name", "group", err
			}
			return s, "no_such_name", "group", nil
		}}
	}
	return []storetest.Misnaming{
		wrongly("tenant field", func(c *Config) { c.TenantKey = "no_such_name" }),
		wrongly("text field", func(c *Config) { c.TextField = "no_such_name" }),
	}
}
