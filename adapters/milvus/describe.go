package milvus

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/georag/georag/core"
)

// Describe tells what the collection holds. Where it is not loaded, Count is −1, there is no sample, and Index
// says so. A tenant key does not restrict it.
func (s *Store) Describe(ctx context.Context) (core.Description, error) {
	return withCollection(ctx, s, "describe", func(ctx context.Context, l *link, c *collection) (core.Description, error) {
		f, err := c.vector(s.cfg.VectorField)
		if err != nil {
			return core.Description{}, err
		}
		version, err := l.server.version(ctx)
		if err != nil {
			return core.Description{}, err
		}
		d := core.Description{
			Store:      "milvus " + strings.TrimPrefix(version, "v"),
			Collection: c.real,
			Vectors:    firstOf(f.name, c.names(func(f field) bool { return f.kind.vector() })),
			Metric:     f.index.metric,
			Dimension:  f.dimension,
			Count:      -1,
			IDKind:     string(c.primary().kind),
			Payload:    c.names(func(f field) bool { return !f.kind.vector() && !f.primary && !f.dynamic }),
			Index:      f.index.String(),
			Model:      c.model,
		}
		loaded, err := l.server.loaded(ctx, s.cfg.Collection)
		if err != nil {
			return core.Description{}, err
		}
		if !loaded {
			d.Index += " (the collection is not loaded)"
			return d, nil
		}
		return d, s.sample(ctx, l, c, f, &d)
	})
}

// sample adds the count and one row: its ID, and the names of its dynamic fields.
func (s *Store) sample(ctx context.Context, l *link, c *collection, f vectorField, d *core.Description) error {
	all := scope{partitions: s.cfg.Partitions, consistency: "strong"}
	count, err := l.server.count(ctx, c.name, all)
	if err != nil {
		return err
	}
	d.Count = count
	rows, err := l.server.query(ctx, queryCall{collection: c, scope: all, limit: 1, output: c.output(s.cfg.OutputFields), vector: f})
	if err != nil || len(rows) == 0 {
		return err
	}
	d.SampleID = rows[0].ID
	for _, name := range slices.Sorted(maps.Keys(rows[0].Payload)) {
		if !slices.Contains(d.Payload, name) {
			d.Payload = append(d.Payload, name)
		}
	}
	return nil
}

func firstOf(first string, names []string) []string {
	return append([]string{first}, slices.DeleteFunc(names, func(n string) bool { return n == first })...)
}

// String is the index's type and its build parameters, "HNSW M=16 efConstruction=200".
func (i index) String() string {
	parts := []string{i.kind}
	for _, name := range slices.Sorted(maps.Keys(i.params)) {
		if name != "index_type" && name != "metric_type" {
			parts = append(parts, fmt.Sprintf("%s=%s", name, i.params[name]))
		}
	}
	return strings.Join(parts, " ")
}
