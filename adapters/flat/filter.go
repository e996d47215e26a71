package flat

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/georag/georag/internal/jsonl"
)

// maxFilterBytes bounds the work that a filter can ask for.
const maxFilterBytes = 64 << 10

// filter is a list of conditions that must all hold.
type filter []condition

// condition compares a field with one or more values.
type condition struct {
	field  string
	op     operator
	values []gjson.Result
}

type operator string

const (
	opEqual          operator = "eq"
	opNotEqual       operator = "ne"
	opGreater        operator = "gt"
	opGreaterOrEqual operator = "gte"
	opLess           operator = "lt"
	opLessOrEqual    operator = "lte"
)

// parseFilter reads a filter in JSON or in short form.
func parseFilter(text string) (filter, error) {
	if len(text) > maxFilterBytes {
		return nil, fmt.Errorf("it is longer than %d KiB", maxFilterBytes>>10)
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return parseJSONFilter(text)
	}
	return parseShortFilter(text)
}

func parseJSONFilter(text string) (filter, error) {
	var raw json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, err
	}
	var parsed filter
	var faults []error
	err := jsonl.Members(raw, func(name string, v gjson.Result) {
		conditions, err := parseConditions(name, v)
		parsed, faults = append(parsed, conditions...), append(faults, err)
	})
	return parsed, errors.Join(append(faults, err)...)
}

// parseConditions reads what is asked of one field: a scalar, an array of them, or an object of operators.
func parseConditions(name string, v gjson.Result) (filter, error) {
	if !v.IsObject() {
		c, err := newCondition(name, opEqual, v)
		return filter{c}, err
	}
	var parsed filter
	var faults []error
	err := jsonl.Members([]byte(v.Raw), func(op string, operand gjson.Result) {
		c, err := newCondition(name, operator(op), operand)
		parsed, faults = append(parsed, c), append(faults, err)
	})
	if len(parsed) == 0 {
		faults = append(faults, fmt.Errorf("%q has no operator", name))
	}
	return parsed, errors.Join(append(faults, err)...)
}

func newCondition(name string, op operator, operand gjson.Result) (condition, error) {
	c := condition{field: name, op: op, values: []gjson.Result{operand}}
	switch op {
	case opEqual, opNotEqual:
		if operand.IsArray() {
			c.values = operand.Array()
		}
		for _, v := range c.values {
			if v.Type == gjson.JSON {
				return c, fmt.Errorf("%q %s: %.40s is no string, number, true, false or null", name, op, v.Raw)
			}
		}
	case opGreater, opGreaterOrEqual, opLess, opLessOrEqual:
		if operand.Type != gjson.Number && operand.Type != gjson.String {
			return c, fmt.Errorf("%q %s: %.40s is no number or string", name, op, operand.Raw)
		}
	default:
		return c, fmt.Errorf("%q has the operator %.40q, want eq, ne, gt, gte, lt or lte", name, string(op))
	}
	return c, nil
}

// match reports whether a line, a valid JSON object, satisfies every condition.
func (f filter) match(line []byte) bool {
	found := make(map[string]gjson.Result, len(f))
	gjson.ParseBytes(line).ForEach(func(name, v gjson.Result) bool {
		for _, c := range f {
			if c.field == name.String() {
				found[c.field] = v
			}
		}
		return true
	})
	for _, c := range f {
		if v, present := found[c.field]; !c.holds(v, present) {
			return false
		}
	}
	return true
}

// holds reports whether a field's value satisfies the condition: one element of it, where it is an array.
func (c condition) holds(v gjson.Result, present bool) bool {
	if !present {
		return c.op == opNotEqual
	}
	if !v.IsArray() {
		return c.compare(v)
	}
	for _, element := range v.Array() {
		if c.compare(element) != (c.op == opNotEqual) {
			return c.op != opNotEqual
		}
	}
	return c.op == opNotEqual
}

func (c condition) compare(v gjson.Result) bool {
	for _, want := range c.values {
		order, comparable := compareValues(v, want)
		switch c.op {
		case opEqual, opNotEqual:
			if comparable && order == 0 {
				return c.op == opEqual
			}
		default:
			return comparable && c.op.admits(order)
		}
	}
	return c.op == opNotEqual
}

func (op operator) admits(order int) bool {
	switch op {
	case opGreater:
		return order > 0
	case opGreaterOrEqual:
		return order >= 0
	case opLess:
		return order < 0
	default:
		return order <= 0
	}
}

// compareValues orders two scalars of one kind; values of different kinds cannot be compared.
func compareValues(a, b gjson.Result) (order int, comparable bool) {
	if a.Type != b.Type {
		return 0, false
	}
	switch a.Type {
	case gjson.String:
		return strings.Compare(a.Str, b.Str), true
	case gjson.Number:
		return compareNumbers(a, b), true
	case gjson.JSON:
		return 0, false
	default: // true, false and null have no content beside their kind
		return 0, true
	}
}

// compareNumbers compares 64-bit integers by every digit and all else as float64.
func compareNumbers(a, b gjson.Result) int {
	if x, err := strconv.ParseInt(a.Raw, 10, 64); err == nil {
		if y, err := strconv.ParseInt(b.Raw, 10, 64); err == nil {
			return cmp.Compare(x, y)
		}
	}
	if x, err := strconv.ParseUint(a.Raw, 10, 64); err == nil {
		if y, err := strconv.ParseUint(b.Raw, 10, 64); err == nil {
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(a.Num, b.Num)
}
