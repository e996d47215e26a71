package milvusproxy

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/selectproxy"
)

func TestReadSearch(t *testing.T) {
	for body, want := range map[string]struct {
		k, vector  int
		scope      core.Scope
		refused    string
		malformed  bool
		collection string
	}{
		`{"collectionName":"c","data":[[1,2]],"limit":3}`:                                    {k: 3, vector: 2, collection: "c"},
		`{"collectionName":"c","vector":[1,2,3],"filter":"","partitionNames":[],"offset":0}`: {k: 100, vector: 3, collection: "c"},
		`{"data":[[1]],"annsField":"v","filter":"a > 1","partitionNames":["p"],"consistencyLevel":"Strong"}`: {k: 100, vector: 1,
			scope: core.Scope{VectorName: "v", Filter: "a > 1", Partitions: []string{"p"}, Consistency: "strong"}},
		`{"data":[[1]],"searchParams":{"metricType":"COSINE","params":{}},"dbName":"default"}`: {k: 100, vector: 1},
		`{"data":[[1]],"searchParams":{"params":{"radius":1}}}`:                                {refused: "searchParams"},
		`{"data":[[1]],"searchParams":7}`:                                                      {refused: "searchParams"},
		`{"data":[[1]],"groupingField":"g"}`:                                                   {refused: "groupingField"},
		`{"data":[[1]],"ids":[1]}`:                                                             {refused: "ids"},
		`{"data":[[1]],"exprParams":{"a":1}}`:                                                  {refused: "exprParams"},
		`{"data":[[1]],"offset":1}`:                                                            {refused: "offset"},
		`{"data":[[1]],"dbName":"other"}`:                                                      {refused: "dbName"},
		`{"data":[[1],[2]]}`:                                                                   {refused: "data"},
		`{"data":[{"1":0.5}]}`:                                                                 {refused: "data"},
		`{"data":["text"]}`:                                                                    {refused: "data"},
		`{"data":[[1]],"vector":[1]}`:                                                          {refused: "data"},
		`{}`:                                                                                   {refused: "data"},
		`{"data":[["a"]]}`:                                                                     {malformed: true},
		`{"data":[[1]],"limit":"3"}`:                                                           {malformed: true},
		`{"data":[[1]],"filter":{"a":1}}`:                                                      {malformed: true},
		`{"data":[[1]],"filter":"a","filter":"b"}`:                                             {malformed: true},
		`[`: {malformed: true},
	} {
		f, err := readSearch([]byte(body))
		collection := f.collection()
		var s selectproxy.Search
		if err == nil {
			s, err = f.query(Config{}, "")
		}
		var unsupported *selectproxy.Unsupported
		var malformed *selectproxy.Malformed
		if errors.As(err, &unsupported) != (want.refused != "") || errors.As(err, &malformed) != want.malformed || unsupported != nil && unsupported.Field != want.refused {
			t.Errorf("%s: %v", body, err)
		}
		scope := s.Query.Scope
		if err == nil && (s.K != want.k || len(s.Query.Vector) != want.vector || collection != want.collection || scope.Filter != want.scope.Filter ||
			scope.VectorName != want.scope.VectorName || scope.Consistency != want.scope.Consistency || !slices.Equal(scope.Partitions, want.scope.Partitions) || (scope.Partitions == nil) != (want.scope.Partitions == nil)) {
			t.Errorf("%s: %+v of %q", body, s, collection)
		}
	}
	f, err := readSearch([]byte(`{"data":[[1]]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.query(Config{}, "other"); err == nil {
		t.Error("another database, by its header, is accepted")
	}
}

func TestOnly(t *testing.T) {
	for body, want := range map[string]string{
		`{"collectionName":"c","data":[[1.50]],"limit":9}`:       `{"collectionName":"c","data":[[1.50]],"filter":"pk in [-5, 1152921504606846977]","limit":2}`,
		`{"data":[[1]],"filter":"a == 1 || b == 2","other":"x"}`: `{"data":[[1]],"filter":"(pk in [-5, 1152921504606846977]) \u0026\u0026 (a == 1 || b == 2)","limit":2,"other":"x"}`,
	} {
		f, err := readSearch([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.only("pk", []core.ID{core.IntID(-5), core.IntID(1<<60 + 1)}); err != nil || string(got) != want {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	}
	if got := literals([]core.ID{core.StringID(`a"b\c` + "\n")}); got[0] != `"a\"b\\c\n"` {
		t.Errorf("%q", got)
	}
}

// TestInOrder: the answers are those of Milvus 2.3.5, as recorded, and one in the form of v2, with an int64 as a number.
func TestInOrder(t *testing.T) {
	first, third := core.IntID(470817634314096688), core.IntID(470817634314096690)
	for body, want := range map[string]string{
		`{"code":200,"data":[{"distance":1,"id":"470817634314096688","n":1,"title":"a","vector":[1,0,0,0]},{"distance":0,"id":"470817634314096690","n":1.5,"title":"c","vector":[0,0,1,0]}]}`: `{"code":200,"data":[{"distance":0,"id":"470817634314096690","n":1.5,"title":"c","vector":[0,0,1,0]},{"distance":1,"id":"470817634314096688","n":1,"title":"a","vector":[1,0,0,0]}]}`,
		`{"code":0,"cost":6,"topks":[2],"data":[{"distance":0.10,"id":470817634314096688,"x":9007199254740993},{"id":470817634314096690}]}`:                                                   `{"code":0,"cost":6,"data":[{"id":470817634314096690},{"distance":0.10,"id":470817634314096688,"x":9007199254740993}],"topks":[2]}`,
		`{"code":200,"data":[]}`: `{"code":200,"data":[]}`,
	} {
		got, ok, err := inOrder([]byte(body), []core.ID{third, core.IntID(7), first})
		if err != nil || !ok || string(got) != want {
			t.Errorf("got  %s, %v, %v\nwant %s", got, ok, err, want)
		}
	}
	for _, refusal := range []string{
		`{"code":100,"message":"collection not found[database=default][collection=nope]"}`,
		`{"code":1801,"message":"can only accept json format request, error: unexpected EOF"}`,
	} {
		if got, ok, err := inOrder([]byte(refusal), nil); err != nil || ok {
			t.Errorf("%s gives %s, %v", refusal, got, err)
		}
	}
	for _, bad := range []string{``, `null`, `[]`, `{}`, `{"code":"0"}`, `{"code":0,"data":{}}`, `{"code":0,"data":[7]}`, `{"code":0,"data":[{"id":1.5}]}`} {
		if got, ok, err := inOrder([]byte(bad), nil); err == nil {
			t.Errorf("%q gives %s, %v", bad, got, ok)
		}
	}
}

func TestConfig(t *testing.T) {
	good := selectproxy.Upstream{URL: "http://localhost:19530"}
	for _, c := range []Config{{}, {Upstream: good, IDField: "a b"}, {Upstream: good, Always: []string{""}}} {
		if err := c.Validate(); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := (Config{Upstream: good}).Validate(); err != nil {
		t.Error(err)
	}
}

// FuzzReadSearch: whatever a body is, it is read or refused by one of two errors, and what is read can be restricted.
func FuzzReadSearch(f *testing.F) {
	for _, seed := range []string{`{"collectionName":"c","data":[[1,2]],"limit":3,"filter":"a"}`, `{"vector":[1],"params":{}}`, `{"data":[`, `{"data":[""]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		asked, err := readSearch(body)
		_ = asked.collection()
		if err == nil {
			_, err = asked.query(Config{}, "")
		}
		var unsupported *selectproxy.Unsupported
		var malformed *selectproxy.Malformed
		if err != nil && !errors.As(err, &unsupported) && !errors.As(err, &malformed) {
			t.Errorf("%q: %v", body, err)
		}
		if err != nil {
			return
		}
		if restricted, err := asked.only("id", []core.ID{core.IntID(1)}); err != nil || !json.Valid(restricted) || !strings.Contains(string(restricted), "id in [1]") {
			t.Errorf("%q is restricted to %q, %v", body, restricted, err)
		}
	})
}

// FuzzInOrder: whatever Milvus answers, the result is JSON, a refusal or an error.
func FuzzInOrder(f *testing.F) {
	f.Add([]byte(`{"code":0,"data":[{"id":"1"},{"id":2}]}`))
	f.Add([]byte(`{"code":1100,"message":"x"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, ok, err := inOrder(body, []core.ID{core.IntID(2), core.StringID("1")})
		if err == nil && ok && !json.Valid(got) {
			t.Errorf("%q gives %q", body, got)
		}
	})
}
