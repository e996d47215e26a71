package qdrant

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	qd "github.com/qdrant/go-client/qdrant"

	"github.com/georag/georag/core"
)

// scope is a request's restriction in Qdrant's terms. Every query of the request gets the same one.
type scope struct {
	filter      *qd.Filter // nil where nothing is restricted
	shards      *qd.ShardKeySelector
	consistency *qd.ReadConsistency
}

// scopeOf translates a request's scope. A tenant or shard key that is required and empty is [core.ErrEmptyScope].
func (s *Store) scopeOf(c *schema, r core.Scope) (scope, error) {
	shards, err := s.shards(c, r.Partitions)
	if err != nil {
		return scope{}, err
	}
	tenant, err := s.tenantCondition(r.Tenant)
	if err != nil {
		return scope{}, err
	}
	filter, err := ParseFilter(r.Filter)
	if err != nil {
		return scope{}, err
	}
	consistency := r.Consistency
	if consistency == "" {
		consistency = s.cfg.Consistency
	}
	level, err := parseConsistency(consistency)
	return scope{filter: within(filter, tenant), shards: shards, consistency: level}, err
}

// within restricts filter further by conditions, nil ones left out. The filter becomes one condition beside the
// others, so that none of its clauses can widen them.
func within(filter *qd.Filter, conditions ...*qd.Condition) *qd.Filter {
	must := slices.DeleteFunc(conditions, func(c *qd.Condition) bool { return c == nil })
	if len(must) == 0 {
		return filter
	}
	if filter != nil {
		must = append(must, qd.NewFilterAsCondition(filter))
	}
	return &qd.Filter{Must: must}
}

// tenantCondition is the condition that the tenant key has the tenant's value. A tenant that is an integer may be
// stored as text or as a number.
func (s *Store) tenantCondition(tenant string) (*qd.Condition, error) {
	key := s.cfg.TenantKey
	switch {
	case key == "" && tenant == "":
		return nil, nil
	case key == "":
		return nil, fmt.Errorf("adapters/qdrant: tenant %q: %w: the store has no tenant_key", tenant, core.ErrInvalid)
	case tenant == "":
		return nil, fmt.Errorf("adapters/qdrant: %w: tenant_key is %q and the request names no tenant", core.ErrEmptyScope, key)
	case !utf8.ValidString(tenant):
		return nil, fmt.Errorf("adapters/qdrant: tenant %q: %w: it is not UTF-8", tenant, core.ErrInvalid)
	}
	text := qd.NewMatchKeyword(key, tenant)
	number, ok := core.ParseID(tenant).Int()
	if !ok {
		return text, nil
	}
	return qd.NewFilterAsCondition(&qd.Filter{Should: []*qd.Condition{text, qd.NewMatchInt(key, number)}}), nil
}

// shards selects the requested shard keys, which must be among the configured ones and exist; nil is all shards.
func (s *Store) shards(c *schema, requested []string) (*qd.ShardKeySelector, error) {
	names := s.cfg.ShardKeys
	if requested != nil {
		if len(requested) == 0 {
			return nil, fmt.Errorf("adapters/qdrant: %w: the list of shard keys is empty", core.ErrEmptyScope)
		}
		for _, name := range requested {
			if len(names) > 0 && !slices.Contains(names, name) {
				return nil, fmt.Errorf("adapters/qdrant: shard key %q: %w: the configured ones are %s", name, core.ErrNotFound, list(names))
			}
		}
		names = requested
	}
	if len(names) == 0 {
		return nil, nil
	}
	if !c.sharded {
		return nil, fmt.Errorf("adapters/qdrant: shard keys %s: %w in collection %q, which is not sharded by key", list(names), core.ErrNotFound, c.collection)
	}
	selector := &qd.ShardKeySelector{}
	for _, name := range names {
		key, err := c.shardKey(name)
		if err != nil {
			return nil, err
		}
		selector.ShardKeys = append(selector.ShardKeys, key)
	}
	return selector, nil
}

// shardKey finds an existing key, text or number. A server that does not list its keys is told a number where the
// name is one.
func (c *schema) shardKey(name string) (*qd.ShardKey, error) {
	if c.shardKeys == nil {
		if n, natural := core.ParseID(name).Uint(); natural {
			return qd.NewShardKeyNum(n), nil
		}
		return qd.NewShardKey(name), nil
	}
	var names []string
	for _, key := range c.shardKeys {
		existing := shardKeyName(key)
		if existing == name {
			return key, nil
		}
		names = append(names, existing)
	}
	return nil, fmt.Errorf("adapters/qdrant: shard key %q: %w in collection %q, which has %s", name, core.ErrNotFound, c.collection, list(names))
}

func shardKeyName(key *qd.ShardKey) string {
	if n, ok := key.GetKey().(*qd.ShardKey_Number); ok {
		return strconv.FormatUint(n.Number, 10)
	}
	return key.GetKeyword()
}

func parseConsistency(text string) (*qd.ReadConsistency, error) {
	switch text {
	case "":
		return nil, nil
	case "all":
		return qd.NewReadConsistencyType(qd.ReadConsistencyType_All), nil
	case "majority":
		return qd.NewReadConsistencyType(qd.ReadConsistencyType_Majority), nil
	case "quorum":
		return qd.NewReadConsistencyType(qd.ReadConsistencyType_Quorum), nil
	}
	replicas, err := strconv.ParseUint(text, 10, 16)
	if err != nil || replicas == 0 {
		return nil, fmt.Errorf("adapters/qdrant: consistency %q: %w: must be all, majority, quorum or a number of replicas", text, core.ErrInvalid)
	}
	return qd.NewReadConsistencyFactor(replicas), nil
}
