package qdrant

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/georag/georag/core"
)

// schemaAge is how long what was learnt of a collection is believed without a sign to the contrary: one that was
// made anew with another metric gives none.
const schemaAge = 30 * time.Second

// schema is what a search needs to know of a collection.
type schema struct {
	collection string
	vectors    map[string]vectorField // "" is the unnamed one
	sparse     []string
	shardKeys  []*qd.ShardKey // nil unless sharded by key
	sharded    bool
	model      string // that made the vectors, where the collection says so
	learnt     time.Time
}

// modelNote is the key of a collection's metadata under which [Store.Create] notes the model. Servers before Qdrant
// 1.16 have no metadata and ignore it.
const modelNote = "georag_model"

// vectorField is one dense vector of the collection.
type vectorField struct {
	name      string
	dimension int
	distance  qd.Distance
	multi     bool
	params    *qd.VectorParams
}

// label is the field's name in a message.
func (f vectorField) label() string {
	if f.name == "" {
		return "the unnamed vector"
	}
	return fmt.Sprintf("vector %q", f.name)
}

// known returns the collection's schema, asked for at need.
func (s *Store) known(ctx context.Context) (*schema, error) {
	s.mu.Lock()
	have := s.schema
	s.mu.Unlock()
	if have != nil && time.Since(have.learnt) < schemaAge && ctx.Err() == nil {
		return have, nil
	}
	fresh, err := read(ctx, s, "describe", s.discover)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.schema = fresh
	s.mu.Unlock()
	return fresh, nil
}

func (s *Store) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.schema = nil
}

func (s *Store) discover(ctx context.Context, l *line) (*schema, error) {
	info, err := l.collections.Get(ctx, &qd.GetCollectionInfoRequest{CollectionName: s.cfg.Collection})
	if err != nil {
		return nil, err
	}
	params := info.GetResult().GetConfig().GetParams()
	found := schemaOf(s.cfg.Collection, params)
	found.model = info.GetResult().GetConfig().GetMetadata()[modelNote].GetStringValue()
	if params.GetShardingMethod() != qd.ShardingMethod_Custom {
		return found, nil
	}
	found.sharded = true
	keys, err := l.collections.ListShardKeys(ctx, &qd.ListShardKeysRequest{CollectionName: s.cfg.Collection})
	if status.Code(err) == codes.Unimplemented { // before Qdrant 1.16
		return found, nil
	}
	for _, k := range keys.GetShardKeys() {
		found.shardKeys = append(found.shardKeys, k.GetKey())
	}
	return found, err
}

func schemaOf(collection string, params *qd.CollectionParams) *schema {
	found := &schema{collection: collection, vectors: make(map[string]vectorField), learnt: time.Now()}
	config := params.GetVectorsConfig()
	if p := config.GetParams(); p != nil {
		found.vectors[""] = fieldOf("", p)
	}
	for name, p := range config.GetParamsMap().GetMap() {
		found.vectors[name] = fieldOf(name, p)
	}
	found.sparse = slices.Sorted(maps.Keys(params.GetSparseVectorsConfig().GetMap()))
	return found
}

func fieldOf(name string, p *qd.VectorParams) vectorField {
	return vectorField{name: name, dimension: int(p.GetSize()), distance: p.GetDistance(), multi: p.GetMultivectorConfig() != nil, params: p}
}

// names lists all vectors for a message.
func (c *schema) names() []string {
	names := slices.Collect(maps.Keys(c.vectors))
	return append(names, c.sparse...)
}

// vector finds the named vector to search; an empty name is the unnamed vector or the only one.
func (c *schema) vector(name string) (vectorField, error) {
	f, ok := c.vectors[name]
	if !ok && name == "" {
		if len(c.vectors) > 1 {
			return f, fmt.Errorf("adapters/qdrant: collection %q has several vectors: %w: name one of %s as vector_name", c.collection, core.ErrInvalid, list(c.names()))
		}
		for _, f = range c.vectors {
			ok = true
		}
	}
	switch {
	case !ok && slices.Contains(c.sparse, name):
		return f, fmt.Errorf("adapters/qdrant: vector %q: %w: it is sparse; name it under hybrid_vectors instead", name, core.ErrUnsupported)
	case !ok:
		return f, fmt.Errorf("adapters/qdrant: vector %q: %w in collection %q, which has %s", name, core.ErrNotFound, c.collection, list(c.names()))
	case f.multi:
		return f, fmt.Errorf("adapters/qdrant: %s of collection %q: %w: it is a multi-vector (ColBERT), and selection needs one vector for each passage: search another vector of the collection", f.label(), c.collection, core.ErrUnsupported)
	}
	return f, nil
}
