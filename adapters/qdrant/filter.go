package qdrant

import (
	"encoding/json"
	"fmt"
	"strings"

	qd "github.com/qdrant/go-client/qdrant"

	"github.com/georag/georag/core"
)

// filterDepth bounds the filters within filters: the server's protobuf reader gives up at about a hundred
// messages within messages, and each level here is two of them.
const filterDepth = 40

// ParseFilter reads a filter as Qdrant's REST interface takes it, {"must": […], "should": […], "must_not": […],
// "min_should": {…}} with every kind of condition, and returns what gRPC takes. An empty text is no filter (nil).
// Whatever Qdrant would not know, or would read in another way, is an error that says where it is and wraps
// [core.ErrInvalid]; a kind of condition that gRPC cannot carry wraps [core.ErrUnsupported].
func ParseFilter(text string) (*qd.Filter, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	filter, err := parseFilter(node{data: json.RawMessage(text), path: "filter"}, 0)
	if err != nil {
		return nil, fmt.Errorf("adapters/qdrant: %w", err)
	}
	return filter, nil
}

func parseFilter(n node, depth int) (*qd.Filter, error) {
	if depth > filterDepth {
		return nil, n.errorf("more than %d filters within each other", filterDepth)
	}
	fields, err := n.object("must", "should", "must_not", "min_should")
	if err != nil {
		return nil, err
	}
	filter := &qd.Filter{}
	for name, clause := range map[string]*[]*qd.Condition{"must": &filter.Must, "should": &filter.Should, "must_not": &filter.MustNot} {
		if value, ok := fields[name]; ok {
			if *clause, err = parseConditions(value, depth); err != nil {
				return nil, err
			}
			if name == "should" && len(*clause) == 0 {
				return nil, value.emptyChoice()
			}
		}
	}
	if value, ok := fields["min_should"]; ok {
		if filter.MinShould, err = parseMinShould(value, depth); err != nil {
			return nil, err
		}
	}
	return filter, nil
}

// emptyChoice refuses an empty list of alternatives: over REST it matches nothing, and gRPC, where an empty list is
// none, would match everything.
func (n node) emptyChoice() error { return n.errorf("the list is empty: no passage would match") }

// parseConditions reads a list of conditions; one alone needs no list.
func parseConditions(n node, depth int) ([]*qd.Condition, error) {
	items := []node{n}
	if n.kind() == '[' {
		var err error
		if items, err = n.list(); err != nil {
			return nil, err
		}
	}
	conditions := make([]*qd.Condition, len(items))
	for i, item := range items {
		var err error
		if conditions[i], err = parseCondition(item, depth); err != nil {
			return nil, err
		}
	}
	return conditions, nil
}

func parseMinShould(n node, depth int) (*qd.MinShould, error) {
	fields, err := n.object("conditions", "min_count")
	if err != nil {
		return nil, err
	}
	minimum := &qd.MinShould{}
	list, err := fields.need(n, "conditions")
	if err != nil {
		return nil, err
	}
	if minimum.Conditions, err = parseConditions(list, depth); err != nil {
		return nil, err
	}
	if len(minimum.Conditions) == 0 {
		return nil, list.emptyChoice()
	}
	count, err := fields.need(n, "min_count")
	if err != nil {
		return nil, err
	}
	if minimum.MinCount, err = count.natural(); err == nil && minimum.MinCount == 0 {
		err = count.errorf("must be at least 1")
	}
	return minimum, err
}

// parseCondition tells the kinds of condition apart by the key that only one of them has.
func parseCondition(n node, depth int) (*qd.Condition, error) {
	keys, err := n.keys()
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		switch key {
		case "key":
			return parseField(n)
		case "is_empty", "is_null":
			return parseAbsence(n, key)
		case "has_id":
			return parseHasID(n)
		case "has_vector":
			return parseHasVector(n)
		case "nested":
			return parseNested(n, depth)
		case "slice":
			return nil, fmt.Errorf("%s.slice: %w over gRPC by this client", n.path, core.ErrUnsupported)
		}
	}
	filter, err := parseFilter(n, depth+1)
	if err != nil {
		return nil, err
	}
	return qd.NewFilterAsCondition(filter), nil
}

func parseAbsence(n node, kind string) (*qd.Condition, error) {
	fields, err := n.object(kind)
	if err != nil {
		return nil, err
	}
	value, err := fields.need(n, kind)
	if err != nil {
		return nil, err
	}
	inner, err := value.object("key")
	if err != nil {
		return nil, err
	}
	key, err := inner.key(value)
	if kind == "is_null" {
		return qd.NewIsNull(key), err
	}
	return qd.NewIsEmpty(key), err
}

func parseHasID(n node) (*qd.Condition, error) {
	fields, err := n.object("has_id")
	if err != nil {
		return nil, err
	}
	value, err := fields.need(n, "has_id")
	if err != nil {
		return nil, err
	}
	items, err := value.list()
	if err != nil {
		return nil, err
	}
	ids := make([]*qd.PointId, len(items))
	for i, item := range items {
		if ids[i], err = item.pointID(); err != nil {
			return nil, err
		}
	}
	return qd.NewHasID(ids...), nil
}

func parseHasVector(n node) (*qd.Condition, error) {
	fields, err := n.object("has_vector")
	if err != nil {
		return nil, err
	}
	value, err := fields.need(n, "has_vector")
	if err != nil {
		return nil, err
	}
	name, err := value.text()
	return qd.NewHasVector(name), err
}

func parseNested(n node, depth int) (*qd.Condition, error) {
	fields, err := n.object("nested")
	if err != nil {
		return nil, err
	}
	value, err := fields.need(n, "nested")
	if err != nil {
		return nil, err
	}
	inner, err := value.object("key", "filter")
	if err != nil {
		return nil, err
	}
	key, err := inner.key(value)
	if err != nil {
		return nil, err
	}
	within, err := inner.need(value, "filter")
	if err != nil {
		return nil, err
	}
	filter, err := parseFilter(within, depth+1)
	if err != nil {
		return nil, err
	}
	return qd.NewNestedFilter(key, filter), nil
}
