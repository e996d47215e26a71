package qdrant_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/georag/georag/adapters/qdrant"
	"github.com/georag/georag/core"
)

func mustParse(t testing.TB, text string) *qd.Filter {
	t.Helper()
	f, err := qdrant.ParseFilter(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return f
}

// What each condition becomes, as protobuf prints it. TestEngine shows what it matches.
func TestParseFilter(t *testing.T) {
	for text, want := range map[string]string{
		`{"must": {"key": "a", "match": {"value": true}}}`:                            `{"must":[{"field":{"key":"a","match":{"boolean":true}}}]}`,
		`{"must": [{"key": "a", "match": {"value": 9007199254740993}}]}`:              `{"must":[{"field":{"key":"a","match":{"integer":"9007199254740993"}}}]}`,
		`{"must": [{"key": "a", "match": {"value": "9"}}]}`:                           `{"must":[{"field":{"key":"a","match":{"keyword":"9"}}}]}`,
		`{"must_not": [{"key": "a", "match": {"any": [1, -2]}}]}`:                     `{"mustNot":[{"field":{"key":"a","match":{"integers":{"integers":["1","-2"]}}}}]}`,
		`{"should": [{"key": "a", "match": {"except": ["x"]}}]}`:                      `{"should":[{"field":{"key":"a","match":{"exceptKeywords":{"strings":["x"]}}}}]}`,
		`{"must": [{"key": "a", "match": {"except": [3]}}]}`:                          `{"must":[{"field":{"key":"a","match":{"exceptIntegers":{"integers":["3"]}}}}]}`,
		`{"must": [{"key": "a", "match": {"text": "x"}, "range": null}]}`:             `{"must":[{"field":{"key":"a","match":{"text":"x"}}}]}`,
		`{"must": [{"key": "a", "match": {"text_any": "x y"}}]}`:                      `{"must":[{"field":{"key":"a","match":{"textAny":"x y"}}}]}`,
		`{"must": [{"key": "a", "match": {"phrase": "x y"}}]}`:                        `{"must":[{"field":{"key":"a","match":{"phrase":"x y"}}}]}`,
		`{"must": [{"key": "a", "range": {"gt": 0, "lte": 1.5}}]}`:                    `{"must":[{"field":{"key":"a","range":{"gt":0,"lte":1.5}}}]}`,
		`{"must": [{"key": "a", "range": {"gte": "2014-01-01", "lt": null}}]}`:        `{"must":[{"field":{"key":"a","datetimeRange":{"gte":"2014-01-01T00:00:00Z"}}}]}`,
		`{"must": [{"key": "a", "range": {"lt": "2014-01-01T01:00:00.5+01:00"}}]}`:    `{"must":[{"field":{"key":"a","datetimeRange":{"lt":"2014-01-01T00:00:00.500Z"}}}]}`,
		`{"must": [{"key": "a", "values_count": {"gte": 2}}]}`:                        `{"must":[{"field":{"key":"a","valuesCount":{"gte":"2"}}}]}`,
		`{"must": [{"key": "a", "is_empty": false}]}`:                                 `{"must":[{"field":{"key":"a","isEmpty":false}}]}`,
		`{"must": [{"is_empty": {"key": "a"}}, {"is_null": {"key": "b"}}]}`:           `{"must":[{"isEmpty":{"key":"a"}},{"isNull":{"key":"b"}}]}`,
		`{"must": [{"has_id": [18446744073709551615]}, {"has_vector": ""}]}`:          `{"must":[{"hasId":{"hasId":[{"num":"18446744073709551615"}]}},{"hasVector":{}}]}`,
		`{"must": [{"has_id": ["F47AC10B58CC4372A5670E02B2C3D479"]}]}`:                `{"must":[{"hasId":{"hasId":[{"uuid":"f47ac10b-58cc-4372-a567-0e02b2c3d479"}]}}]}`,
		`{"must": [{"nested": {"key": "p", "filter": {"must": []}}}]}`:                `{"must":[{"nested":{"key":"p","filter":{}}}]}`,
		`{"must": [{"should": {"has_id": []}}]}`:                                      `{"must":[{"filter":{"should":[{"hasId":{}}]}}]}`,
		`{"min_should": {"conditions": [{"has_vector": "v"}], "min_count": 1}}`:       `{"minShould":{"conditions":[{"hasVector":{"hasVector":"v"}}],"minCount":"1"}}`,
		`{"must":[{"key":"a","geo_radius":{"center":{"lon":1,"lat":2},"radius":3}}]}`: `{"must":[{"field":{"key":"a","geoRadius":{"center":{"lon":1,"lat":2},"radius":3}}}]}`,
	} {
		expected := &qd.Filter{}
		if err := protojson.Unmarshal([]byte(want), expected); err != nil {
			t.Fatal(err)
		}
		if got := mustParse(t, text); !proto.Equal(got, expected) {
			t.Errorf("%s:\n got %v\nwant %v", text, got, expected)
		}
	}
	for _, none := range []string{"", " \n"} {
		if f := mustParse(t, none); f != nil {
			t.Errorf("%q is %v, want no filter", none, f)
		}
	}
}

// What Qdrant would not know or would read otherwise is refused, and the message says where.
func TestParseFilterRefuses(t *testing.T) {
	for text, says := range map[string]string{
		`{`:                        "filter: invalid",
		`[]`:                       "expected an object",
		`null`:                     "expected an object",
		`{"most": []}`:             `unknown key "most"`,
		`{"must": [], "must": []}`: `"must" is there twice`,
		`{"must": [{"key": "a"}]}`: `filter.must[0]`,
		`{"must": [{"key": "a", "march": {"value": 1}}]}`:                                         `unknown key "march"`,
		`{"must": [{"key": "", "is_null": true}]}`:                                                "filter.must[0].key",
		`{"must": [{"key": "a", "match": {}}]}`:                                                   "exactly one",
		`{"must": [{"key": "a", "match": {"value": 1, "text": "x"}}]}`:                            "exactly one",
		`{"must": [{"key": "a", "match": {"value": 1.5}}]}`:                                       "expected an integer, not 1.5",
		`{"must": [{"key": "a", "match": {"value": 9223372036854775808}}]}`:                       "expected an integer",
		`{"must": [{"key": "a", "match": {"any": [1, "x"]}}]}`:                                    "any[1]",
		`{"must": [{"key": "a", "match": {"any": "x"}}]}`:                                         "expected a list",
		`{"must": [{"key": "a", "range": {"gt": 1, "lt": "2014-01-01"}}]}`:                        "expected a text, not 1",
		`{"must": [{"key": "a", "range": {"gt": "yesterday"}}]}`:                                  `"yesterday" is no date`,
		`{"must": [{"key": "a", "range": {"above": 1}}]}`:                                         `unknown key "above"`,
		`{"must": [{"key": "a", "range": {"lt": 1e999}}]}`:                                        "expected a number",
		`{"must": [{"key": "a", "values_count": {"gt": -1}}]}`:                                    "from 0 on",
		`{"must": [{"key": "a", "geo_radius": {"center": {"lon": 181, "lat": 0}, "radius": 1}}]}`: "center.lon: invalid: 181",
		`{"must": [{"key": "a", "geo_radius": {"center": {"lon": 1}, "radius": 1}}]}`:             `"lat" is missing`,
		`{"must": [{"has_id": ["x"]}]}`:                                                           `"x" is no point ID`,
		`{"must": [{"has_id": [-1]}]}`:                                                            "has_id[0]",
		`{"must": [{"has_id": [1], "key": "a"}]}`:                                                 `unknown key "key": expected has_id`,
		`{"must": [{"nested": {"key": "a"}}]}`:                                                    `"filter" is missing`,
		`{"should": []}`:                                                                          "the list is empty",
		`{"min_should": {"conditions": [], "min_count": 1}}`:                                      "the list is empty",
		`{"min_should": {"conditions": [{"has_id": [1]}], "min_count": 0}}`:                       "at least 1",
		`{"min_should": {"conditions": [{"has_id": [1]}]}}`:                                       `"min_count" is missing`,
		strings.Repeat(`{"must":`, 60) + `{"has_id":[1]}` + strings.Repeat(`}`, 60):               "within each other",
		"{\"must\": [{\"key\": \"\xff\", \"is_null\": true}]}":                                    "not JSON",
	} {
		f, err := qdrant.ParseFilter(text)
		if !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, error %v; want one that says %q", text, f, err, says)
		}
	}
	for _, text := range []string{`{"must": [{"key": "a", "match": {"prefix": "x"}}]}`, `{"must": [{"slice": {"index": 0, "total": 2}}]}`} {
		if _, err := qdrant.ParseFilter(text); !errors.Is(err, core.ErrUnsupported) {
			t.Errorf("%s: error %v, want ErrUnsupported", text, err)
		}
	}
}

// FuzzParseFilter: no text is a panic, an accepted filter can be sent, and none of its conditions is lost.
func FuzzParseFilter(f *testing.F) {
	for _, seed := range readEngineFilters(f) {
		f.Add(seed)
	}
	f.Add(`{"min_should": {"conditions": [{"key":"a","geo_polygon":{"exterior":{"points":[]}}}], "min_count": 1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := qdrant.ParseFilter(text)
		if err != nil {
			if !errors.Is(err, core.ErrInvalid) && !errors.Is(err, core.ErrUnsupported) {
				t.Fatalf("error %v wraps no sentinel", err)
			}
			return
		}
		if _, err := proto.Marshal(filter); err != nil {
			t.Fatalf("cannot be sent: %v", err)
		}
		var plain any
		if filter != nil && json.Unmarshal([]byte(text), &plain) != nil {
			t.Fatal("accepted what is not JSON")
		}
		if got, want := countConditions(filter), countWritten(plain); got != want {
			t.Fatalf("%d conditions of %d in %s", got, want, text)
		}
	})
}

func countConditions(f *qd.Filter) int {
	count := 0
	for _, clause := range [][]*qd.Condition{f.GetMust(), f.GetShould(), f.GetMustNot(), f.GetMinShould().GetConditions()} {
		for _, c := range clause {
			count += 1 + countConditions(c.GetFilter()) + countConditions(c.GetNested().GetFilter())
		}
	}
	return count
}

// countWritten counts the conditions of a filter in plain JSON.
func countWritten(value any) int {
	object, _ := value.(map[string]any)
	count := 0
	for name, inner := range object {
		switch name {
		case "must", "should", "must_not", "conditions":
			items, ok := inner.([]any)
			if !ok && inner != nil {
				items = []any{inner}
			}
			for _, item := range items {
				count += 1 + countWritten(item)
			}
		case "min_should", "nested", "filter":
			count += countWritten(inner)
		}
	}
	return count
}

func readEngineFilters(t testing.TB) (filters []string) {
	for _, f := range readEngine(t).Filters {
		filters = append(filters, string(f.Filter))
	}
	return filters
}
