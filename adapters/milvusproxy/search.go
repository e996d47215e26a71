package milvusproxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/selectproxy"
)

// nesting bounds what is read of a search.
const nesting = 16

// defaultLimit is Milvus's, of a search that names none.
const defaultLimit = 100

// search is the body of one, as it came.
type search struct{ selectproxy.Fields }

func readSearch(body []byte) (search, error) {
	f, err := selectproxy.ReadFields(body, nesting)
	for name, value := range f {
		switch string(bytes.TrimSpace(value)) {
		case `""`, "[]", "{}":
			delete(f, name) // to Milvus that is as if it were not there
		}
	}
	return search{f}, err
}

// collection is the name, "" where there is none to be read.
func (f search) collection() (name string) {
	_ = f.Read("collectionName", &name)
	return name
}

// honoured are the fields that a selection honours itself, or leaves to Milvus when it asks for the selected rows.
var honoured = []string{"dbName", "collectionName", "data", "vector", "annsField", "partitionNames", "filter", "limit", "outputFields", "consistencyLevel"}

// query is the search as the core reads it.
func (f search) query(c Config, database string) (selectproxy.Search, error) {
	s := selectproxy.Search{K: defaultLimit}
	if err := f.checkNames(); err != nil {
		return s, err
	}
	scope := &s.Query.Scope
	for name, target := range map[string]any{
		"limit": &s.K, "annsField": &scope.VectorName, "partitionNames": &scope.Partitions, "filter": &scope.Filter,
		"consistencyLevel": &scope.Consistency, "dbName": &database,
	} {
		if err := f.Read(name, target); err != nil {
			return s, err
		}
	}
	if !c.inDatabase(database) {
		return s, &selectproxy.Unsupported{Field: "dbName", Reason: "this proxy is configured for another database"}
	}
	scope.Consistency = strings.ToLower(scope.Consistency)
	var err error
	s.Query.Vector, err = f.vector()
	return s, err
}

// checkNames refuses what a selection cannot honour, unless it asks for nothing.
func (f search) checkNames() error {
	for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
		nothing := name == "offset" && string(bytes.TrimSpace(f.Fields[name])) == "0" || (name == "searchParams" || name == "params") && onlyMetric(f.Fields[name])
		if !nothing && !slices.Contains(honoured, name) {
			return &selectproxy.Unsupported{Field: name, Reason: "selections are made for plain searches without it"}
		}
	}
	return nil
}

// onlyMetric reports search parameters that say no more than the metric, which Milvus checks itself.
func onlyMetric(value json.RawMessage) bool {
	var params map[string]json.RawMessage
	if json.Unmarshal(value, &params) != nil {
		return false
	}
	for name, value := range params {
		if name != "metricType" && !(name == "params" && string(bytes.TrimSpace(value)) == "{}") {
			return false
		}
	}
	return true
}

// vector is the search's one dense vector: "data" of v2, "vector" of v1.
func (f search) vector() ([]float32, error) {
	one := &selectproxy.Unsupported{Field: "data", Reason: "selections are made for one dense vector"}
	value, ok := f.Fields["vector"]
	if data, several := f.Fields["data"]; several {
		var vectors []json.RawMessage
		if json.Unmarshal(data, &vectors) != nil || len(vectors) != 1 || ok {
			return nil, one
		}
		value, ok = vectors[0], true
	}
	if !ok || bytes.TrimSpace(value)[0] != '[' {
		return nil, one
	}
	var vector []float32
	if err := json.Unmarshal(value, &vector); err != nil {
		return nil, &selectproxy.Malformed{Message: "data: " + err.Error()}
	}
	return vector, nil
}

// only is the search restricted to the given rows. The store has refused filters that do not stay in parentheses.
func (f search) only(idField string, ids []core.ID) ([]byte, error) {
	restricted := maps.Clone(f.Fields)
	expression := idField + " in [" + strings.Join(literals(ids), ", ") + "]"
	var filter string
	if err := f.Read("filter", &filter); err != nil {
		return nil, err
	}
	if strings.TrimSpace(filter) != "" {
		expression = "(" + expression + ") && (" + filter + ")"
	}
	for name, value := range map[string]any{"filter": expression, "limit": len(ids)} {
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		restricted[name] = encoded
	}
	return json.Marshal(restricted)
}

// escapes are those of Milvus's string literals.
var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`)

func literals(ids []core.ID) []string {
	written := make([]string, len(ids))
	for i, id := range ids {
		written[i] = id.String()
		if text, ok := id.Text(); ok {
			written[i] = `"` + escapes.Replace(text) + `"`
		}
	}
	return written
}

// Codes of Milvus's successes: that of v2 and that of v1.
const (
	codeDone   = 0
	codeDoneV1 = 200
)

// inOrder brings the rows of an answer into the order of ids; ok is false where Milvus refused, with a message. Rows
// that are gone meanwhile are left out. Milvus prints an integer key as a number or as text.
func inOrder(body []byte, ids []core.ID) (ordered []byte, ok bool, err error) {
	var answer map[string]json.RawMessage
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, false, err
	}
	var code *int
	if err := json.Unmarshal(answer["code"], &code); err != nil || code == nil {
		return nil, false, fmt.Errorf("it has no code")
	}
	if *code != codeDone && *code != codeDoneV1 {
		return nil, false, nil
	}
	var rows []json.RawMessage
	if err := json.Unmarshal(answer["data"], &rows); err != nil {
		return nil, false, err
	}
	found := make(map[string]json.RawMessage, len(rows))
	for _, raw := range rows {
		var row struct {
			ID core.ID `json:"id"`
		}
		if err := json.Unmarshal(raw, &row); err != nil {
			return nil, false, err
		}
		found[row.ID.String()] = raw
	}
	rows = []json.RawMessage{}
	for _, id := range ids {
		if raw, ok := found[id.String()]; ok {
			rows = append(rows, raw)
		}
	}
	if answer["data"], err = json.Marshal(rows); err != nil {
		return nil, false, err
	}
	ordered, err = json.Marshal(answer)
	return ordered, true, err
}
