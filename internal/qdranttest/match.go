package qdranttest

import (
	"math"
	"slices"
	"strings"
	"unicode"

	qd "github.com/qdrant/go-client/qdrant"
)

// matchesValue compares one value, never a list. A text is searched as the engine does in a field without a
// full-text index: by its words, in lower case.
func matchesValue(m *qd.Match, v *qd.Value) bool {
	text, textual := v.GetKind().(*qd.Value_StringValue)
	number, integer := v.GetKind().(*qd.Value_IntegerValue)
	switch want := m.GetMatchValue().(type) {
	case *qd.Match_Keyword:
		return textual && text.StringValue == want.Keyword
	case *qd.Match_Integer:
		return integer && number.IntegerValue == want.Integer
	case *qd.Match_Boolean:
		flag, ok := v.GetKind().(*qd.Value_BoolValue)
		return ok && flag.BoolValue == want.Boolean
	case *qd.Match_Text:
		have := words(v.GetStringValue())
		return textual && !slices.ContainsFunc(words(want.Text), func(w string) bool { return !slices.Contains(have, w) })
	case *qd.Match_Phrase:
		return textual && follow(words(want.Phrase), words(v.GetStringValue()))
	case *qd.Match_TextAny:
		have := words(v.GetStringValue())
		return textual && slices.ContainsFunc(words(want.TextAny), func(w string) bool { return slices.Contains(have, w) })
	case *qd.Match_Keywords:
		return textual && slices.Contains(want.Keywords.GetStrings(), text.StringValue)
	case *qd.Match_Integers:
		return integer && slices.Contains(want.Integers.GetIntegers(), number.IntegerValue)
	case *qd.Match_ExceptKeywords:
		return !isNull(v) && !(textual && slices.Contains(want.ExceptKeywords.GetStrings(), text.StringValue))
	case *qd.Match_ExceptIntegers:
		return !isNull(v) && !(integer && slices.Contains(want.ExceptIntegers.GetIntegers(), number.IntegerValue))
	}
	return false
}

func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// follow reports whether phrase stands in text, word after word.
func follow(phrase, text []string) bool {
	for i := range len(text) - len(phrase) + 1 {
		if slices.Equal(text[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}

func meetsPlace(c *qd.FieldCondition, v *qd.Value) bool {
	lon, ok1 := coordinate(v, "lon")
	lat, ok2 := coordinate(v, "lat")
	if !ok1 || !ok2 {
		return false
	}
	return c.GeoBoundingBox != nil && inBox(c.GetGeoBoundingBox(), lon, lat) ||
		c.GeoRadius != nil && metres(c.GetGeoRadius().GetCenter(), lon, lat) < float64(c.GetGeoRadius().GetRadius()) ||
		c.GeoPolygon != nil && inPolygon(c.GetGeoPolygon(), lon, lat)
}

func coordinate(v *qd.Value, name string) (float64, bool) {
	switch x := v.GetStructValue().GetFields()[name].GetKind().(type) {
	case *qd.Value_DoubleValue:
		return x.DoubleValue, true
	case *qd.Value_IntegerValue:
		return float64(x.IntegerValue), true
	}
	return 0, false
}

func inBox(b *qd.GeoBoundingBox, lon, lat float64) bool {
	west, east := b.GetTopLeft().GetLon(), b.GetBottomRight().GetLon()
	inside := west < lon && lon < east
	if west > east { // across the date line
		inside = lon > west || lon < east
	}
	return inside && b.GetBottomRight().GetLat() < lat && lat < b.GetTopLeft().GetLat()
}

// metres is the haversine distance on a sphere of the Earth's mean radius.
func metres(from *qd.GeoPoint, lon, lat float64) float64 {
	const earth, degree = 6371008.8, math.Pi / 180
	h := func(x float64) float64 { s := math.Sin(x * degree / 2); return s * s }
	a := h(lat-from.GetLat()) + math.Cos(lat*degree)*math.Cos(from.GetLat()*degree)*h(lon-from.GetLon())
	return 2 * earth * math.Asin(math.Sqrt(a))
}

func inPolygon(p *qd.GeoPolygon, lon, lat float64) bool {
	return inRing(p.GetExterior(), lon, lat) &&
		!slices.ContainsFunc(p.GetInteriors(), func(hole *qd.GeoLineString) bool { return inRing(hole, lon, lat) })
}

// inRing counts how often a ray to the east crosses the ring.
func inRing(ring *qd.GeoLineString, lon, lat float64) bool {
	inside := false
	points := ring.GetPoints()
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		if (a.GetLat() > lat) != (b.GetLat() > lat) && lon < a.GetLon()+(lat-a.GetLat())/(b.GetLat()-a.GetLat())*(b.GetLon()-a.GetLon()) {
			inside = !inside
		}
	}
	return inside
}
