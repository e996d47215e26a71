package qdrantproxy

import (
	"errors"
	"math"
	"testing"
	"time"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/georag/georag/internal/selectproxy"
)

func field(c *qd.FieldCondition) *qd.Filter {
	return &qd.Filter{Must: []*qd.Condition{{ConditionOneOf: &qd.Condition_Field{Field: c}}}}
}

func TestFilterJSON(t *testing.T) {
	place := &qd.GeoPoint{Lon: 1.5, Lat: -2}
	for want, filter := range map[string]*qd.Filter{
		"":   nil,
		`{}`: {},
		`{"must":[{"key":"a","match":{"value":"x"}}],"must_not":[{"is_null":{"key":"b"}}],"should":[{"is_empty":{"key":"c"}}]}`: {
			Must: []*qd.Condition{qd.NewMatch("a", "x")}, MustNot: []*qd.Condition{qd.NewIsNull("b")}, Should: []*qd.Condition{qd.NewIsEmpty("c")},
		},
		`{"must":[{"has_id":[18446744073709551615,"4b6a3e6e-9d5c-4a8e-8c58-0a1b2c3d4e5f"]},{"has_vector":"v"}]}`: {
			Must: []*qd.Condition{qd.NewHasID(qd.NewIDNum(1<<64-1), qd.NewIDUUID("4b6a3e6e-9d5c-4a8e-8c58-0a1b2c3d4e5f")), qd.NewHasVector("v")},
		},
		`{"must":[{"nested":{"filter":{"must":[{"key":"x","match":{"value":9007199254740993}}]},"key":"l"}},{}]}`: {
			Must: []*qd.Condition{qd.NewNestedFilter("l", &qd.Filter{Must: []*qd.Condition{qd.NewMatchInt("x", 1<<53+1)}}), qd.NewFilterAsCondition(&qd.Filter{})},
		},
		`{"min_should":{"conditions":[{"key":"a","match":{"any":[1,2]}},{"key":"a","match":{"except":[]}}],"min_count":1}}`: {
			MinShould: &qd.MinShould{MinCount: 1, Conditions: []*qd.Condition{qd.NewMatchInts("a", 1, 2), qd.NewMatchExcept("a")}},
		},
		`{"must":[{"key":"n","range":{"gte":-0.5,"lt":3}}]}`:     field(&qd.FieldCondition{Key: "n", Range: &qd.Range{Lt: qd.PtrOf(3.0), Gte: qd.PtrOf(-0.5)}}),
		`{"must":[{"key":"n","values_count":{"gt":2}}]}`:         field(&qd.FieldCondition{Key: "n", ValuesCount: &qd.ValuesCount{Gt: qd.PtrOf(uint64(2))}}),
		`{"must":[{"is_empty":true,"is_null":false,"key":"n"}]}`: field(&qd.FieldCondition{Key: "n", IsEmpty: qd.PtrOf(true), IsNull: qd.PtrOf(false)}),
		`{"must":[{"key":"n","match":{"phrase":"a b"}}]}`:        field(&qd.FieldCondition{Key: "n", Match: &qd.Match{MatchValue: &qd.Match_Phrase{Phrase: "a b"}}}),
		`{"must":[{"key":"d","range":{"gt":"2020-02-29T12:00:00.5Z"}}]}`: field(&qd.FieldCondition{Key: "d", DatetimeRange: &qd.DatetimeRange{
			Gt: timestamppb.New(time.Date(2020, 2, 29, 12, 0, 0, 5e8, time.UTC))}}),
		`{"must":[{"geo_bounding_box":{"bottom_right":{"lat":0,"lon":0},"top_left":{"lat":-2,"lon":1.5}},"geo_radius":{"center":{"lat":-2,"lon":1.5},"radius":10},"key":"g"}]}`: field(&qd.FieldCondition{
			Key: "g", GeoBoundingBox: &qd.GeoBoundingBox{TopLeft: place, BottomRight: &qd.GeoPoint{}}, GeoRadius: &qd.GeoRadius{Center: place, Radius: 10}}),
		`{"must":[{"geo_polygon":{"exterior":{"points":[{"lat":-2,"lon":1.5}]},"interiors":[{"points":[]}]},"key":"g"}]}`: field(&qd.FieldCondition{
			Key: "g", GeoPolygon: &qd.GeoPolygon{Exterior: &qd.GeoLineString{Points: []*qd.GeoPoint{place}}, Interiors: []*qd.GeoLineString{{}}}}),
	} {
		if got, err := filterJSON(filter); err != nil || got != want {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	}
	unknown := &qd.Filter{}
	if err := proto.Unmarshal([]byte{0x98, 0x06, 1}, unknown); err != nil {
		t.Fatal(err)
	}
	for _, filter := range []*qd.Filter{unknown, {Must: []*qd.Condition{nil}}, {Must: []*qd.Condition{{}}}, field(&qd.FieldCondition{Match: &qd.Match{}}),
		field(&qd.FieldCondition{Range: &qd.Range{Gt: qd.PtrOf(math.NaN())}}), field(&qd.FieldCondition{Range: &qd.Range{}, DatetimeRange: &qd.DatetimeRange{}})} {
		var unsupported *selectproxy.Unsupported
		if text, err := filterJSON(filter); !errors.As(err, &unsupported) {
			t.Errorf("%v gives %q, %v", filter, text, err)
		}
	}
}

// FuzzQueryPoints: whatever message comes, it is read or refused by one of two errors.
func FuzzQueryPoints(f *testing.F) {
	for _, m := range []proto.Message{
		&qd.QueryPoints{CollectionName: "a", Query: qd.NewQueryDense([]float32{1, 2}), Filter: field(&qd.FieldCondition{Key: "n", Range: &qd.Range{}})},
		&qd.QueryBatchPoints{CollectionName: "a", QueryPoints: []*qd.QueryPoints{{Prefetch: []*qd.PrefetchQuery{{}}}, {ShardKeySelector: &qd.ShardKeySelector{}}}},
	} {
		data, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, message := range []queries{&qd.QueryPoints{}, &qd.QueryBatchPoints{}} {
			err := decode(data, message)
			if err == nil {
				_, err = searches(message)
			}
			var unsupported *selectproxy.Unsupported
			var malformed *selectproxy.Malformed
			if err != nil && !errors.As(err, &unsupported) && !errors.As(err, &malformed) {
				t.Errorf("%x: %v", data, err)
			}
		}
	})
}
