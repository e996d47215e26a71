package qdrantproxy

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/selectproxy"
)

// nesting bounds what is read of a query: filters may stand within filters.
const nesting = 64

// defaultLimit is Qdrant's, of a query that names none.
const defaultLimit = 10

// query is the body of one, as it came.
type query struct{ selectproxy.Fields }

func readQuery(body []byte) (query, error) {
	f, err := selectproxy.ReadFields(body, nesting)
	return query{f}, err
}

// readBatch reads the body of a batch: its searches.
func readBatch(body []byte) ([]query, error) {
	f, err := selectproxy.ReadFields(body, nesting)
	if err != nil {
		return nil, err
	}
	var raw []json.RawMessage
	if err := f.Read("searches", &raw); err != nil {
		return nil, err
	}
	for name := range f {
		if name != "searches" {
			return nil, &selectproxy.Unsupported{Field: name, Reason: "this proxy does not know it"}
		}
	}
	searches := make([]query, len(raw))
	for i := range raw {
		if searches[i], err = readQuery(raw[i]); err != nil {
			return nil, err
		}
	}
	return searches, nil
}

// search is a query as the core reads it.
func (q query) search(consistency string) (selectproxy.Search, error) {
	s := selectproxy.Search{K: defaultLimit, Query: core.Query{Scope: core.Scope{Consistency: consistency, Filter: string(q.Fields["filter"])}}}
	if err := q.checkNames(); err != nil {
		return s, err
	}
	for name, target := range map[string]any{"limit": &s.K, "using": &s.Query.Scope.VectorName} {
		if err := q.Read(name, target); err != nil {
			return s, err
		}
	}
	var err error
	if s.Query.Scope.Partitions, err = readShardKeys(q.Fields["shard_key"]); err != nil {
		return s, err
	}
	s.Query.Vector, err = readVector(q.Fields["query"])
	return s, err
}

// honoured are the fields that a selection honours itself, or leaves to Qdrant when it asks for the selected points.
var honoured = []string{"query", "using", "filter", "limit", "with_payload", "with_vector", "shard_key"}

// checkNames refuses what a selection cannot honour, unless it asks for nothing.
func (q query) checkNames() error {
	for _, name := range slices.Sorted(maps.Keys(q.Fields)) {
		value := string(bytes.TrimSpace(q.Fields[name]))
		nothing := name == "prefetch" && value == "[]" || name == "params" && value == "{}" || name == "offset" && value == "0"
		if !nothing && !slices.Contains(honoured, name) {
			return &selectproxy.Unsupported{Field: name, Reason: "selections are made for plain nearest-neighbour queries without it"}
		}
	}
	return nil
}

// readVector reads a query that is a dense vector, alone or as {"nearest": …}; nil is no query.
func readVector(value json.RawMessage) ([]float32, error) {
	value = bytes.TrimSpace(value)
	switch {
	case len(value) == 0:
		return nil, nil
	case value[0] == '{':
		inner, err := selectproxy.ReadFields(value, nesting)
		if err != nil {
			return nil, err
		}
		nearest, ok := inner["nearest"]
		if !ok || len(inner) != 1 {
			return nil, notDense
		}
		value = bytes.TrimSpace(nearest)
	}
	if value[0] != '[' || len(bytes.TrimSpace(value[1:])) > 0 && bytes.TrimSpace(value[1:])[0] == '[' {
		return nil, notDense
	}
	vector := []float32{}
	if err := json.Unmarshal(value, &vector); err != nil {
		return nil, &selectproxy.Malformed{Message: "query: " + err.Error()}
	}
	return vector, nil
}

var notDense = &selectproxy.Unsupported{Field: "query", Reason: "selections are made for one dense vector, as it is or as {\"nearest\": …}"}

// readShardKeys reads a text, a number, or a list of them.
func readShardKeys(value json.RawMessage) ([]string, error) {
	value = bytes.TrimSpace(value)
	if len(value) == 0 {
		return nil, nil
	}
	var keys []core.ID
	if value[0] != '[' {
		value = slices.Concat([]byte("["), value, []byte("]"))
	}
	if err := json.Unmarshal(value, &keys); err != nil {
		return nil, &selectproxy.Unsupported{Field: "shard_key", Reason: "it is neither a key nor a list of keys"}
	}
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = key.String()
	}
	return names, nil
}
