package qdranttest

import (
	"slices"
	"strings"
	"time"

	qd "github.com/qdrant/go-client/qdrant"
)

// subject is what a filter is asked about: a point, or one object of a nested field.
type subject struct {
	payload map[string]*qd.Value
	point   *point // nil within a nested field, where has_id and has_vector match nothing
}

func matches(filter *qd.Filter, p *point) bool { return subject{p.payload, p}.meets(filter) }

func (s subject) meets(f *qd.Filter) bool {
	holds := func(c *qd.Condition) bool { return s.holds(c) }
	if len(f.GetShould()) > 0 && !slices.ContainsFunc(f.GetShould(), holds) {
		return false
	}
	if minimum := f.GetMinShould(); minimum != nil {
		count := uint64(0)
		for _, c := range minimum.GetConditions() {
			if holds(c) {
				count++
			}
		}
		if count < minimum.GetMinCount() {
			return false
		}
	}
	return !slices.ContainsFunc(f.GetMust(), func(c *qd.Condition) bool { return !holds(c) }) && !slices.ContainsFunc(f.GetMustNot(), holds)
}

func (s subject) holds(c *qd.Condition) bool {
	switch v := c.GetConditionOneOf().(type) {
	case *qd.Condition_Field:
		return s.field(v.Field)
	case *qd.Condition_IsEmpty:
		return !slices.ContainsFunc(s.at(v.IsEmpty.GetKey()), func(v *qd.Value) bool { return !empty(v) })
	case *qd.Condition_IsNull:
		return slices.ContainsFunc(s.at(v.IsNull.GetKey()), hasNull)
	case *qd.Condition_HasId:
		return s.point != nil && slices.ContainsFunc(v.HasId.GetHasId(), func(id *qd.PointId) bool {
			k, err := keyOf(id)
			return err == nil && k == s.point.key
		})
	case *qd.Condition_HasVector:
		return s.point != nil && s.point.has(v.HasVector.GetHasVector())
	case *qd.Condition_Filter:
		return s.meets(v.Filter)
	case *qd.Condition_Nested:
		return slices.ContainsFunc(s.at(strings.TrimSuffix(v.Nested.GetKey(), "[]")+"[]"), func(item *qd.Value) bool {
			object := item.GetStructValue()
			return object != nil && subject{payload: object.GetFields()}.meets(v.Nested.GetFilter())
		})
	}
	return false
}

func (p *point) has(name string) bool {
	_, dense := p.dense[name]
	_, sparse := p.sparse[name]
	_, multi := p.multi[name]
	return dense || sparse || multi
}

// at lists the values at a path: "a.b" goes into objects, "a[]" into every item of a list.
func (s subject) at(path string) []*qd.Value {
	return descend(s.payload, strings.Split(path, "."))
}

func descend(fields map[string]*qd.Value, path []string) []*qd.Value {
	name, every := strings.CutSuffix(path[0], "[]")
	value, ok := fields[name]
	if !ok {
		return nil
	}
	values := []*qd.Value{value}
	if every {
		values = value.GetListValue().GetValues()
	}
	if len(path) == 1 {
		return values
	}
	var found []*qd.Value
	for _, v := range values {
		found = append(found, descend(v.GetStructValue().GetFields(), path[1:])...)
	}
	return found
}

func isNull(v *qd.Value) bool { _, null := v.GetKind().(*qd.Value_NullValue); return null }

func empty(v *qd.Value) bool {
	list, ok := v.GetKind().(*qd.Value_ListValue)
	return isNull(v) || ok && len(list.ListValue.GetValues()) == 0
}

func hasNull(v *qd.Value) bool {
	return isNull(v) || slices.ContainsFunc(v.GetListValue().GetValues(), isNull)
}

// field reports whether any value at the key meets any test of the condition.
func (s subject) field(c *qd.FieldCondition) bool {
	values := s.at(c.GetKey())
	switch {
	case c.ValuesCount != nil && len(values) == 0:
		return within(c.GetValuesCount(), 0)
	case c.ValuesCount != nil:
		return slices.ContainsFunc(values, func(v *qd.Value) bool { return within(c.GetValuesCount(), count(v)) })
	case c.IsEmpty != nil:
		return slices.ContainsFunc(values, func(v *qd.Value) bool { return empty(v) == c.GetIsEmpty() }) || len(values) == 0 && c.GetIsEmpty()
	case c.IsNull != nil:
		return slices.ContainsFunc(values, func(v *qd.Value) bool { return hasNull(v) == c.GetIsNull() }) || len(values) == 0 && !c.GetIsNull()
	}
	for _, v := range values {
		items := []*qd.Value{v}
		if list, ok := v.GetKind().(*qd.Value_ListValue); ok {
			items = list.ListValue.GetValues()
		}
		if slices.ContainsFunc(items, func(item *qd.Value) bool { return meetsField(c, item) }) {
			return true
		}
	}
	return false
}

func meetsField(c *qd.FieldCondition, v *qd.Value) bool {
	return c.Match != nil && matchesValue(c.GetMatch(), v) || c.Range != nil && inRange(c.GetRange(), v) ||
		c.DatetimeRange != nil && inDates(c.GetDatetimeRange(), v) || meetsPlace(c, v)
}

// count is the number of values: of a list its length, of null none.
func count(v *qd.Value) uint64 {
	if list, ok := v.GetKind().(*qd.Value_ListValue); ok {
		return uint64(len(list.ListValue.GetValues()))
	}
	if isNull(v) {
		return 0
	}
	return 1
}

func within(c *qd.ValuesCount, n uint64) bool {
	return (c.Lt == nil || n < *c.Lt) && (c.Gt == nil || n > *c.Gt) && (c.Lte == nil || n <= *c.Lte) && (c.Gte == nil || n >= *c.Gte)
}

func inRange(r *qd.Range, v *qd.Value) bool {
	var x float64
	switch number := v.GetKind().(type) {
	case *qd.Value_IntegerValue:
		x = float64(number.IntegerValue)
	case *qd.Value_DoubleValue:
		x = number.DoubleValue
	default:
		return false
	}
	return (r.Lt == nil || x < *r.Lt) && (r.Gt == nil || x > *r.Gt) && (r.Lte == nil || x <= *r.Lte) && (r.Gte == nil || x >= *r.Gte)
}

func inDates(r *qd.DatetimeRange, v *qd.Value) bool {
	text, ok := v.GetKind().(*qd.Value_StringValue)
	if !ok {
		return false
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04", "2006-01-02"} {
		at, err := time.Parse(layout, text.StringValue)
		if err == nil {
			return (r.Lt == nil || at.Before(r.Lt.AsTime())) && (r.Gt == nil || at.After(r.Gt.AsTime())) &&
				(r.Lte == nil || !at.After(r.Lte.AsTime())) && (r.Gte == nil || !at.Before(r.Gte.AsTime()))
		}
	}
	return false
}
