package qdrant

import (
	"math"
	"time"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// parseField reads a condition on one payload field.
func parseField(n node) (*qd.Condition, error) {
	fields, err := n.object("key", "match", "range", "geo_bounding_box", "geo_radius", "geo_polygon", "values_count", "is_empty", "is_null")
	if err != nil {
		return nil, err
	}
	condition := &qd.FieldCondition{}
	if condition.Key, err = fields.key(n); err != nil {
		return nil, err
	}
	if len(fields) == 1 {
		return nil, n.errorf("says nothing of the field %q: expected match, range, values_count, is_empty, is_null or a geo condition", condition.Key)
	}
	for name, parse := range map[string]func(node, *qd.FieldCondition) error{
		"match": parseMatch, "range": parseRange, "values_count": parseValuesCount,
		"geo_bounding_box": parseGeoBox, "geo_radius": parseGeoRadius, "geo_polygon": parseGeoPolygon,
		"is_empty": func(v node, c *qd.FieldCondition) error { b, err := v.boolean(); c.IsEmpty = &b; return err },
		"is_null":  func(v node, c *qd.FieldCondition) error { b, err := v.boolean(); c.IsNull = &b; return err },
	} {
		if value, ok := fields[name]; ok {
			if err := parse(value, condition); err != nil {
				return nil, err
			}
		}
	}
	return &qd.Condition{ConditionOneOf: &qd.Condition_Field{Field: condition}}, nil
}

func parseMatch(n node, c *qd.FieldCondition) error {
	fields, err := n.object("value", "text", "text_any", "phrase", "any", "except", "prefix")
	if err != nil {
		return err
	}
	if len(fields) != 1 {
		return n.errorf("expected exactly one of value, text, text_any, phrase, any and except")
	}
	c.Match = &qd.Match{}
	for kind, value := range fields {
		switch kind {
		case "value":
			return matchValue(value, c.Match)
		case "any", "except":
			return matchList(value, c.Match, kind == "except")
		case "prefix":
			return value.unsupported()
		}
		text, err := value.text()
		switch kind {
		case "text":
			c.Match.MatchValue = &qd.Match_Text{Text: text}
		case "text_any":
			c.Match.MatchValue = &qd.Match_TextAny{TextAny: text}
		default:
			c.Match.MatchValue = &qd.Match_Phrase{Phrase: text}
		}
		return err
	}
	return nil
}

func matchValue(n node, m *qd.Match) (err error) {
	switch n.kind() {
	case '"':
		var text string
		text, err = n.text()
		m.MatchValue = &qd.Match_Keyword{Keyword: text}
	case 't', 'f':
		var flag bool
		flag, err = n.boolean()
		m.MatchValue = &qd.Match_Boolean{Boolean: flag}
	default:
		var number int64
		number, err = n.integer()
		m.MatchValue = &qd.Match_Integer{Integer: number}
	}
	return err
}

// matchList reads a list of texts or one of integers; an empty one is a list of texts, as for Qdrant.
func matchList(n node, m *qd.Match, except bool) error {
	items, err := n.list()
	if err != nil {
		return err
	}
	texts, numbers := &qd.RepeatedStrings{}, &qd.RepeatedIntegers{}
	if len(items) > 0 && items[0].kind() != '"' {
		for _, item := range items {
			number, err := item.integer()
			if err != nil {
				return err
			}
			numbers.Integers = append(numbers.Integers, number)
		}
		m.MatchValue = &qd.Match_Integers{Integers: numbers}
		if except {
			m.MatchValue = &qd.Match_ExceptIntegers{ExceptIntegers: numbers}
		}
		return nil
	}
	for _, item := range items {
		text, err := item.text()
		if err != nil {
			return err
		}
		texts.Strings = append(texts.Strings, text)
	}
	m.MatchValue = &qd.Match_Keywords{Keywords: texts}
	if except {
		m.MatchValue = &qd.Match_ExceptKeywords{ExceptKeywords: texts}
	}
	return nil
}

// parseRange reads bounds that are numbers, or dates.
func parseRange(n node, c *qd.FieldCondition) error {
	fields, err := n.object("lt", "gt", "gte", "lte")
	if err != nil {
		return err
	}
	for _, bound := range fields {
		if bound.kind() == '"' {
			return parseDates(n, fields, c)
		}
	}
	c.Range = &qd.Range{}
	for name, target := range map[string]**float64{"lt": &c.Range.Lt, "gt": &c.Range.Gt, "gte": &c.Range.Gte, "lte": &c.Range.Lte} {
		if bound, ok := fields[name]; ok {
			number, err := bound.float()
			if err != nil {
				return err
			}
			*target = &number
		}
	}
	return nil
}

func parseDates(n node, fields object, c *qd.FieldCondition) error {
	dates := &qd.DatetimeRange{}
	c.DatetimeRange = dates
	for name, target := range map[string]**timestamppb.Timestamp{"lt": &dates.Lt, "gt": &dates.Gt, "gte": &dates.Gte, "lte": &dates.Lte} {
		bound, ok := fields[name]
		if !ok {
			continue
		}
		text, err := bound.text()
		if err != nil {
			return err
		}
		at, ok := parseDate(text)
		if !ok {
			return bound.errorf("%q is no date such as 2014-01-01T00:00:00Z", text)
		}
		*target = timestamppb.New(at)
		if (*target).CheckValid() != nil {
			return bound.errorf("%q is outside the years 1 to 9999", text)
		}
	}
	return nil
}

// parseDate reads the forms of a date that Qdrant reads; one without a zone is in UTC.
func parseDate(text string) (time.Time, bool) {
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05.999999999Z0700",
		"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
	} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

func parseValuesCount(n node, c *qd.FieldCondition) error {
	fields, err := n.object("lt", "gt", "gte", "lte")
	if err != nil {
		return err
	}
	count := &qd.ValuesCount{}
	c.ValuesCount = count
	for name, target := range map[string]**uint64{"lt": &count.Lt, "gt": &count.Gt, "gte": &count.Gte, "lte": &count.Lte} {
		if bound, ok := fields[name]; ok {
			number, err := bound.natural()
			if err != nil {
				return err
			}
			*target = &number
		}
	}
	return nil
}

func parseGeoBox(n node, c *qd.FieldCondition) error {
	fields, err := n.object("top_left", "bottom_right")
	if err != nil {
		return err
	}
	c.GeoBoundingBox = &qd.GeoBoundingBox{}
	if c.GeoBoundingBox.TopLeft, err = fields.place(n, "top_left"); err != nil {
		return err
	}
	c.GeoBoundingBox.BottomRight, err = fields.place(n, "bottom_right")
	return err
}

func parseGeoRadius(n node, c *qd.FieldCondition) error {
	fields, err := n.object("center", "radius")
	if err != nil {
		return err
	}
	c.GeoRadius = &qd.GeoRadius{}
	if c.GeoRadius.Center, err = fields.place(n, "center"); err != nil {
		return err
	}
	value, err := fields.need(n, "radius")
	if err != nil {
		return err
	}
	metres, err := value.float()
	if c.GeoRadius.Radius = float32(metres); err == nil && math.IsInf(float64(c.GeoRadius.Radius), 0) {
		err = value.errorf("a radius of %v m is too large", metres)
	}
	return err
}

func parseGeoPolygon(n node, c *qd.FieldCondition) error {
	fields, err := n.object("exterior", "interiors")
	if err != nil {
		return err
	}
	outside, err := fields.need(n, "exterior")
	if err != nil {
		return err
	}
	c.GeoPolygon = &qd.GeoPolygon{}
	if c.GeoPolygon.Exterior, err = parseRing(outside); err != nil {
		return err
	}
	holes, ok := fields["interiors"]
	if !ok {
		return nil
	}
	items, err := holes.list()
	if err != nil {
		return err
	}
	for _, item := range items {
		ring, err := parseRing(item)
		if err != nil {
			return err
		}
		c.GeoPolygon.Interiors = append(c.GeoPolygon.Interiors, ring)
	}
	return nil
}

func parseRing(n node) (*qd.GeoLineString, error) {
	fields, err := n.object("points")
	if err != nil {
		return nil, err
	}
	points, err := fields.need(n, "points")
	if err != nil {
		return nil, err
	}
	items, err := points.list()
	if err != nil {
		return nil, err
	}
	ring := &qd.GeoLineString{Points: make([]*qd.GeoPoint, len(items))}
	for i, item := range items {
		if ring.Points[i], err = parsePlace(item); err != nil {
			return nil, err
		}
	}
	return ring, nil
}

func (o object) place(of node, name string) (*qd.GeoPoint, error) {
	value, err := o.need(of, name)
	if err != nil {
		return nil, err
	}
	return parsePlace(value)
}

func parsePlace(n node) (*qd.GeoPoint, error) {
	fields, err := n.object("lon", "lat")
	if err != nil {
		return nil, err
	}
	place := &qd.GeoPoint{}
	for name, degrees := range map[string]*float64{"lon": &place.Lon, "lat": &place.Lat} {
		value, err := fields.need(n, name)
		if err != nil {
			return nil, err
		}
		if *degrees, err = value.float(); err != nil {
			return nil, err
		}
		if most := map[string]float64{"lon": 180, "lat": 90}[name]; math.Abs(*degrees) > most {
			return nil, value.errorf("%v is outside [−%v, %v]", *degrees, most, most)
		}
	}
	return place, nil
}
