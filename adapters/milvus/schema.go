package milvus

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/georag/georag/core"
)

// fieldKind groups Milvus's data types by how this package treats them.
type fieldKind string

const (
	kindInt64    fieldKind = "int64"
	kindVarchar  fieldKind = "varchar"
	kindBool     fieldKind = "bool"
	kindInt32    fieldKind = "int32"
	kindFloat    fieldKind = "float"
	kindDouble   fieldKind = "double"
	kindJSON     fieldKind = "json"
	kindOther    fieldKind = "other"
	kindFloat32  fieldKind = "float_vector"
	kindFloat16  fieldKind = "float16_vector"
	kindBFloat16 fieldKind = "bfloat16_vector"
	kindBinary   fieldKind = "binary_vector"
	kindSparse   fieldKind = "sparse_float_vector"
)

func (k fieldKind) half() bool { return k == kindFloat16 || k == kindBFloat16 }

func (k fieldKind) dense() bool { return k == kindFloat32 || k.half() }

func (k fieldKind) vector() bool { return k.dense() || k == kindBinary || k == kindSparse }

// field is one field of a collection.
type field struct {
	name         string
	kind         fieldKind
	dimension    int // of dense vectors
	maxLength    int // of a varchar, in bytes
	primary      bool
	autoID       bool
	partitionKey bool
	dynamic      bool // the JSON field behind the dynamic ones
}

// index is a vector field's index.
type index struct {
	kind   string // "HNSW", "FLAT", …
	metric string // "COSINE", "IP", "L2", …
	params map[string]string
}

// vectorField is a vector field together with its index.
type vectorField struct {
	field
	index index
}

// collection is the part of a collection's schema that searches need.
type collection struct {
	name    string // as configured; possibly an alias
	real    string // the collection itself
	model   string // that made the vectors, where Create noted it
	fields  []field
	dynamic bool // fields outside the schema are allowed
	// halfWrong: the server accepts half-precision vectors, and computes their scores wrongly.
	halfWrong bool
	indexed   map[string]index
}

func (c *collection) find(name string) (field, bool) {
	i := slices.IndexFunc(c.fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return field{}, false
	}
	return c.fields[i], true
}

func (c *collection) primary() field {
	return c.fields[slices.IndexFunc(c.fields, func(f field) bool { return f.primary })]
}

// names lists the fields that keep admits, for an error's reader.
func (c *collection) names(keep func(field) bool) []string {
	var names []string
	for _, f := range c.fields {
		if keep(f) {
			names = append(names, f.name)
		}
	}
	return names
}

// vector returns the vector field to search: the named one, or the only one.
func (c *collection) vector(name string) (vectorField, error) {
	all := c.names(func(f field) bool { return f.kind.vector() })
	if name == "" {
		if dense := c.names(func(f field) bool { return f.kind.dense() }); len(dense) == 1 {
			name = dense[0]
		} else {
			return vectorField{}, fmt.Errorf("adapters/milvus: %w: collection %q has the vector fields %s: name one as vector_field", core.ErrInvalid, c.name, list(all))
		}
	}
	f, ok := c.find(name)
	if !ok || !f.kind.vector() {
		return vectorField{}, fmt.Errorf("adapters/milvus: vector field %q of collection %q: %w; it has %s", name, c.name, core.ErrNotFound, list(all))
	}
	if f.kind == kindBinary {
		return vectorField{}, fmt.Errorf("adapters/milvus: field %q: %w: it holds binary vectors, and selection needs the cosine of the stored vectors", name, core.ErrUnsupported)
	}
	if c.halfWrong && f.kind.half() {
		return vectorField{}, fmt.Errorf("adapters/milvus: field %q: %w: Milvus before 2.4 scores %s wrongly; use float_vector there", name, core.ErrUnsupported, f.kind)
	}
	idx, ok := c.indexed[name]
	if !ok {
		return vectorField{}, fmt.Errorf("adapters/milvus: index of field %q of collection %q: %w; create one in Milvus, then load the collection", name, c.name, core.ErrNotFound)
	}
	return vectorField{field: f, index: idx}, nil
}

// output returns the payload fields to ask for.
func (c *collection) output(configured []string) []string {
	if len(configured) > 0 {
		return configured
	}
	return c.names(func(f field) bool { return !f.kind.vector() && !f.primary })
}

// check compares the configured names with the collection.
func (c *collection) check(cfg Config) error {
	if primary := c.primary(); cfg.IDField != "" && cfg.IDField != primary.name {
		return fmt.Errorf("adapters/milvus: id_field %q: %w: the primary key of collection %q is %q", cfg.IDField, core.ErrNotFound, c.name, primary.name)
	}
	scalars := c.names(func(f field) bool { return !f.kind.vector() && !f.dynamic })
	if f, ok := c.find(cfg.TenantField); cfg.TenantField != "" && !c.dynamic && (!ok || f.kind.vector()) {
		return fmt.Errorf("adapters/milvus: tenant_field %q of collection %q: %w; it has %s", cfg.TenantField, c.name, core.ErrNotFound, list(scalars))
	}
	for _, name := range cfg.OutputFields {
		if f, ok := c.find(name); !c.dynamic && (!ok || f.kind.vector()) {
			return fmt.Errorf("adapters/milvus: output field %q of collection %q: %w; it has %s", name, c.name, core.ErrNotFound, list(scalars))
		}
	}
	return nil
}

// describe reads the schema and the indexes of the configured collection, once per connection.
func (s *Store) describe(ctx context.Context, l *link) (*collection, error) {
	if known := l.schema.Load(); known != nil {
		return known, nil
	}
	c, err := l.server.describe(ctx, s.cfg.Collection)
	if err != nil {
		return nil, s.missing(ctx, l, err)
	}
	c.indexed = make(map[string]index)
	for _, name := range c.names(func(f field) bool { return f.kind.vector() }) {
		idx, ok, err := l.server.index(ctx, s.cfg.Collection, name)
		if err != nil {
			return nil, err
		}
		if ok {
			c.indexed[name] = idx
		}
	}
	if len(c.names(func(f field) bool { return f.kind.half() })) > 0 {
		version, err := l.server.version(ctx)
		if err != nil {
			return nil, err
		}
		c.halfWrong = before24.MatchString(version)
	}
	if err := c.check(s.cfg); err != nil {
		return nil, err
	}
	l.schema.Store(c)
	return c, nil
}

// before24 are the versions that know half-precision vectors in name only: 2.3.5 returned the vectors as stored and
// scores of no relation to them.
var before24 = regexp.MustCompile(`^v?2\.[0-3]\.`)

// missing adds to a "no such collection" what collections there are.
func (s *Store) missing(ctx context.Context, l *link, err error) error {
	if !isMissingCollection(err) {
		return err
	}
	names, failed := l.server.collections(ctx)
	if failed != nil {
		return err
	}
	return fmt.Errorf("adapters/milvus: collection %q: %w; the database has %s", s.cfg.Collection, core.ErrNotFound, list(names))
}

// list writes names for a reader, at most twenty of them.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	slices.Sort(names)
	more := ""
	if len(names) > 20 {
		names, more = names[:20], ", …"
	}
	return strings.Join(names, ", ") + more
}
