package qdrantproxy

import (
	"encoding/json"
	"errors"
	"time"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/georag/georag/internal/selectproxy"
)

// object is a JSON object in the making.
type object map[string]any

// filterJSON writes a filter of gRPC as Qdrant's REST interface takes it, which is the language of the store's scope; ""
// is no filter. What REST has no words for is an *[selectproxy.Unsupported].
func filterJSON(f *qd.Filter) (string, error) {
	if f == nil {
		return "", nil
	}
	made, err := filterOf(f)
	if err != nil {
		return "", &selectproxy.Unsupported{Field: "filter", Reason: err.Error()}
	}
	text, err := json.Marshal(made)
	if err != nil {
		return "", &selectproxy.Unsupported{Field: "filter", Reason: "it holds a number that JSON cannot"}
	}
	return string(text), nil
}

func filterOf(f *qd.Filter) (object, error) {
	if len(f.ProtoReflect().GetUnknown()) > 0 {
		return nil, errUnknown
	}
	made := object{}
	for name, clause := range map[string][]*qd.Condition{"must": f.GetMust(), "should": f.GetShould(), "must_not": f.GetMustNot()} {
		if len(clause) == 0 { // to gRPC an empty list is none
			continue
		}
		conditions, err := conditionsOf(clause)
		if err != nil {
			return nil, err
		}
		made[name] = conditions
	}
	if minimum := f.GetMinShould(); minimum != nil {
		conditions, err := conditionsOf(minimum.GetConditions())
		if err != nil {
			return nil, err
		}
		made["min_should"] = object{"conditions": conditions, "min_count": minimum.GetMinCount()}
	}
	return made, nil
}

var errUnknown = errors.New("it has a condition unknown to this proxy")

func conditionsOf(clause []*qd.Condition) ([]object, error) {
	made := make([]object, len(clause))
	for i, c := range clause {
		var err error
		if made[i], err = conditionOf(c); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func conditionOf(c *qd.Condition) (object, error) {
	switch v := c.GetConditionOneOf().(type) {
	case *qd.Condition_Field:
		return fieldOf(v.Field)
	case *qd.Condition_IsEmpty:
		return object{"is_empty": object{"key": v.IsEmpty.GetKey()}}, nil
	case *qd.Condition_IsNull:
		return object{"is_null": object{"key": v.IsNull.GetKey()}}, nil
	case *qd.Condition_HasId:
		ids := make([]any, len(v.HasId.GetHasId()))
		for i, id := range v.HasId.GetHasId() {
			ids[i] = coreID(id)
		}
		return object{"has_id": ids}, nil
	case *qd.Condition_HasVector:
		return object{"has_vector": v.HasVector.GetHasVector()}, nil
	case *qd.Condition_Filter:
		return filterOf(v.Filter)
	case *qd.Condition_Nested:
		inner, err := filterOf(v.Nested.GetFilter())
		return object{"nested": object{"key": v.Nested.GetKey(), "filter": inner}}, err
	}
	return nil, errUnknown
}

// fieldOf writes a condition on one payload field.
func fieldOf(c *qd.FieldCondition) (object, error) {
	if len(c.ProtoReflect().GetUnknown()) > 0 || c.Range != nil && c.DatetimeRange != nil {
		return nil, errUnknown
	}
	made := object{"key": c.GetKey()}
	if c.Match != nil {
		match, err := matchOf(c.GetMatch())
		if err != nil {
			return nil, err
		}
		made["match"] = match
	}
	if r := c.GetRange(); r != nil {
		made["range"] = boundsOf(r.Lt, r.Gt, r.Gte, r.Lte)
	}
	if r := c.GetDatetimeRange(); r != nil {
		made["range"] = boundsOf(dateOf(r.Lt), dateOf(r.Gt), dateOf(r.Gte), dateOf(r.Lte))
	}
	if n := c.GetValuesCount(); n != nil {
		made["values_count"] = boundsOf(n.Lt, n.Gt, n.Gte, n.Lte)
	}
	if box := c.GetGeoBoundingBox(); box != nil {
		made["geo_bounding_box"] = object{"top_left": placeOf(box.GetTopLeft()), "bottom_right": placeOf(box.GetBottomRight())}
	}
	if circle := c.GetGeoRadius(); circle != nil {
		made["geo_radius"] = object{"center": placeOf(circle.GetCenter()), "radius": circle.GetRadius()}
	}
	if polygon := c.GetGeoPolygon(); polygon != nil {
		made["geo_polygon"] = polygonOf(polygon)
	}
	if c.IsEmpty != nil {
		made["is_empty"] = c.GetIsEmpty()
	}
	if c.IsNull != nil {
		made["is_null"] = c.GetIsNull()
	}
	return made, nil
}

func matchOf(m *qd.Match) (object, error) {
	switch v := m.GetMatchValue().(type) {
	case *qd.Match_Keyword:
		return object{"value": v.Keyword}, nil
	case *qd.Match_Integer:
		return object{"value": v.Integer}, nil
	case *qd.Match_Boolean:
		return object{"value": v.Boolean}, nil
	case *qd.Match_Text:
		return object{"text": v.Text}, nil
	case *qd.Match_TextAny:
		return object{"text_any": v.TextAny}, nil
	case *qd.Match_Phrase:
		return object{"phrase": v.Phrase}, nil
	case *qd.Match_Keywords:
		return object{"any": listOf(v.Keywords.GetStrings())}, nil
	case *qd.Match_Integers:
		return object{"any": listOf(v.Integers.GetIntegers())}, nil
	case *qd.Match_ExceptKeywords:
		return object{"except": listOf(v.ExceptKeywords.GetStrings())}, nil
	case *qd.Match_ExceptIntegers:
		return object{"except": listOf(v.ExceptIntegers.GetIntegers())}, nil
	}
	return nil, errUnknown
}

// listOf is values as a list, also where there are none.
func listOf[T any](values []T) []T { return append([]T{}, values...) }

// boundsOf writes the bounds that are there.
func boundsOf[T any](lt, gt, gte, lte *T) object {
	made := object{}
	for name, bound := range map[string]*T{"lt": lt, "gt": gt, "gte": gte, "lte": lte} {
		if bound != nil {
			made[name] = *bound
		}
	}
	return made
}

func dateOf(t *timestamppb.Timestamp) *string {
	if t == nil {
		return nil
	}
	text := t.AsTime().Format(time.RFC3339Nano)
	return &text
}

func placeOf(p *qd.GeoPoint) object {
	return object{"lon": p.GetLon(), "lat": p.GetLat()}
}

func polygonOf(p *qd.GeoPolygon) object {
	interiors := make([]object, len(p.GetInteriors()))
	for i, ring := range p.GetInteriors() {
		interiors[i] = ringOf(ring)
	}
	return object{"exterior": ringOf(p.GetExterior()), "interiors": interiors}
}

func ringOf(ring *qd.GeoLineString) object {
	places := make([]object, len(ring.GetPoints()))
	for i, p := range ring.GetPoints() {
		places[i] = placeOf(p)
	}
	return object{"points": places}
}
