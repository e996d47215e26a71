package qdranttest

import (
	"maps"
	"slices"
	"sync"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Data are collections in memory, which may outlive the server that serves them.
type Data struct {
	mu          sync.RWMutex
	collections map[string]*collection
}

// NewData returns no collections.
func NewData() *Data { return &Data{collections: make(map[string]*collection)} }

// collection is guarded by Data.mu.
type collection struct {
	config    *qd.CreateCollection
	dense     map[string]*qd.VectorParams // "" is the unnamed one
	sparse    map[string]*qd.SparseVectorParams
	indexes   map[string]*qd.PayloadSchemaInfo
	points    map[key]*point
	sorted    []*point // by ID; nil after a change
	shardKeys []*qd.ShardKey
}

// key is a point's ID as a map's key.
type key struct {
	num  uint64
	uuid string
}

type point struct {
	key     key
	id      *qd.PointId
	payload map[string]*qd.Value
	dense   map[string][]float32
	sparse  map[string]*qd.SparseVector
	multi   map[string]*qd.MultiDenseVector
	shard   string // printed shard key; "" where the collection has none
}

func invalid(format string, args ...any) error {
	return status.Errorf(codes.InvalidArgument, "Wrong input: "+format, args...)
}

// find returns a collection; the caller holds mu.
func (d *Data) find(name string) (*collection, error) {
	c, ok := d.collections[name]
	if !ok {
		return nil, status.Errorf(codes.NotFound, "Not found: Collection `%s` doesn't exist!", name)
	}
	return c, nil
}

// ordered lists the points in the order of their IDs, numbers first.
func (c *collection) ordered() []*point {
	if c.sorted == nil {
		c.sorted = slices.SortedFunc(maps.Values(c.points), comparePoints)
	}
	return c.sorted
}

// in lists the points of the selected shards that meet the filter.
func (c *collection) in(filter *qd.Filter, shards *qd.ShardKeySelector) ([]*point, error) {
	if err := c.checkShards(shards); err != nil {
		return nil, err
	}
	if filter == nil && shards == nil {
		return c.sorted, nil
	}
	var found []*point
	for _, p := range c.sorted {
		if p.in(shards) && matches(filter, p) {
			found = append(found, p)
		}
	}
	return found, nil
}

func (c *collection) checkShards(shards *qd.ShardKeySelector) error {
	for _, k := range shards.GetShardKeys() {
		if !slices.ContainsFunc(c.shardKeys, func(have *qd.ShardKey) bool { return printShard(have) == printShard(k) }) {
			return status.Errorf(codes.InvalidArgument, "Bad request: Shard key %s not found", printShard(k))
		}
	}
	return nil
}

func (p *point) in(shards *qd.ShardKeySelector) bool {
	if shards == nil {
		return true
	}
	return slices.ContainsFunc(shards.GetShardKeys(), func(k *qd.ShardKey) bool { return printShard(k) == p.shard })
}

// printShard tells a text key from a number.
func printShard(k *qd.ShardKey) string {
	if k == nil {
		return ""
	}
	return k.String()
}

func (c *collection) vector(name string) (*qd.VectorParams, error) {
	if p, ok := c.dense[name]; ok {
		return p, nil
	}
	return nil, invalid("Not existing vector name error: %s", name)
}
