package qdrantproxy

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/selectproxy"
)

func TestReadSearch(t *testing.T) {
	for body, want := range map[string]struct {
		k          int
		vector     int // length
		filter     string
		using      string
		partitions []string
		refused    string // field of what cannot be honoured
		malformed  bool
	}{
		`{"query":[1,2]}`: {k: 10, vector: 2},
		`{"query":{"nearest":[1,2,3]},"limit":4,"using":"a"}`:     {k: 4, vector: 3, using: "a"},
		`{"query":[1],"filter":{"must":[{"has_id":[1]}]}}`:        {k: 10, vector: 1, filter: `{"must":[{"has_id":[1]}]}`},
		`{"query":[1],"shard_key":"eu","filter":null}`:            {k: 10, vector: 1, partitions: []string{"eu"}},
		`{"query":[1],"shard_key":["eu",7],"with_vector":["a"]}`:  {k: 10, vector: 1, partitions: []string{"eu", "7"}},
		`{"query":[1],"shard_key":{"fallback":"a","target":"b"}}`: {refused: "shard_key"},
		`{"query":[1],"prefetch":[],"params":{},"offset":0}`:      {k: 10, vector: 1},
		`{"query":[1],"prefetch":null,"score_threshold":null}`:    {k: 10, vector: 1},
		`{}`:                                    {k: 10},
		`{"query":[1],"params":{"exact":true}}`: {refused: "params"},
		`{"query":[1],"lookup_from":{"collection":"x"}}`: {refused: "lookup_from"},
		`{"query":[1],"score_threshold":0.0}`:            {refused: "score_threshold"},
		`{"query":[1],"prefetch":{"query":[1]}}`:         {refused: "prefetch"},
		`{"query":{"indices":[1],"values":[1]}}`:         {refused: "query"},
		`{"query":{"text":"x","model":"y"}}`:             {refused: "query"},
		`{"query":{"nearest":{"text":"x"}}}`:             {refused: "query"},
		`{"query":{"nearest":null}}`:                     {refused: "query"},
		`{"query":7}`:                                    {refused: "query"},
		`{"query":[[1],[2]]}`:                            {refused: "query"},
		`{"query":["a"]}`:                                {malformed: true},
		`{"query":[1e39]}`:                               {malformed: true},
		`{"query":[1],"limit":"5"}`:                      {malformed: true},
		`{"query":[1],"limit":5,"limit":6}`:              {malformed: true},
		`{"query":[1],"filter":{"must":[],"must":[]}}`:   {malformed: true},
		`{"query":[1]`:                                   {malformed: true},
		"{\"using\":\"\xff\"}":                           {malformed: true},
		`{"filter":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`: {malformed: true},
	} {
		f, err := readQuery([]byte(body))
		var s selectproxy.Search
		if err == nil {
			s, err = f.search("all")
		}
		var unsupported *selectproxy.Unsupported
		var malformed *selectproxy.Malformed
		if errors.As(err, &unsupported) != (want.refused != "") || errors.As(err, &malformed) != want.malformed || unsupported != nil && unsupported.Field != want.refused {
			t.Errorf("%.100s: %v", body, err)
		}
		scope := s.Query.Scope
		if err == nil && (s.K != want.k || len(s.Query.Vector) != want.vector || scope.Filter != want.filter || scope.VectorName != want.using || !slices.Equal(scope.Partitions, want.partitions) || scope.Consistency != "all") {
			t.Errorf("%s: %+v", body, s)
		}
	}
}

func TestOnly(t *testing.T) {
	f, err := readQuery([]byte(`{"query":[1.50],"limit":9,"filter":{"should":[{"key":"a","match":{"value":9007199254740993}}]},"with_payload":{"include":["x"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := string(encode(f.only([]core.ID{core.UintID(1<<64 - 1), core.StringID("4b6a3e6e-9d5c-4a8e-8c58-0a1b2c3d4e5f")})))
	want := `{"filter":{"must":[{"has_id":[18446744073709551615,"4b6a3e6e-9d5c-4a8e-8c58-0a1b2c3d4e5f"]},{"should":[{"key":"a","match":{"value":9007199254740993}}]}]},"limit":2,"query":[1.50],"with_payload":{"include":["x"]}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAnswers(t *testing.T) {
	two, nine := core.UintID(2), core.UintID(9)
	body := `{"usage":{"cpu":1},"time":0.1,"status":"ok","result":{"points":[{"id":1,"score":0.90},{"id":2,"version":3,"score":1e-7,"payload":{"n":9007199254740993}}]}}`
	got, err := answerQuery([]byte(body), time.Now(), []core.ID{two, nine, core.UintID(1)})
	if err != nil || !strings.Contains(string(got), `"points":[{"id":2,"version":3,"score":1e-7,"payload":{"n":9007199254740993}},{"id":1,"score":0.90}]`) || !strings.Contains(string(got), `"usage":{"cpu":1}`) {
		t.Errorf("%s, %v", got, err)
	}
	got, err = answerBatch([]byte(`{"result":[{"points":[{"id":2},{"id":1}]},{"points":[{"id":9}]}],"status":"ok"}`), time.Now(), [][]core.ID{nil, {core.UintID(1), two}, {}, {nine}})
	if err != nil || !strings.Contains(string(got), `"result":[{"points":[]},{"points":[{"id":1},{"id":2}]},{"points":[]},{"points":[{"id":9}]}]`) {
		t.Errorf("%s, %v", got, err)
	}
	for _, bad := range []string{``, `null`, `[]`, `{"result":7}`, `{"result":{"points":[{"id":1.5}]}}`, `{"result":{"points":[7]}}`} {
		if got, err := answerQuery([]byte(bad), time.Now(), []core.ID{two}); err == nil {
			t.Errorf("%q gives %s", bad, got)
		}
	}
	if _, err := answerBatch([]byte(`{"result":[]}`), time.Now(), [][]core.ID{{two}}); err == nil {
		t.Error("a batch with too few results is accepted")
	}
}

// FuzzReadSearch: whatever a body is, it is read or refused by one of two errors, and what is read can be restricted.
func FuzzReadSearch(f *testing.F) {
	for _, seed := range []string{`{"query":[1,2],"limit":3,"filter":{"must":[]}}`, `{"searches":[{"query":{"nearest":[1]}},{}]}`, `{"shard_key":[1,"a"]}`, `{"query":[`, `{"query":""}`, `{"query":[ ]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		one, err := readQuery(body)
		queries := []query{one}
		if err == nil {
			var more []query
			if more, err = readBatch(body); err == nil {
				queries = append(queries, more...)
			}
			err = nil
		}
		if err == nil {
			_, err = searchesOf(queries, "")
		}
		var unsupported *selectproxy.Unsupported
		var malformed *selectproxy.Malformed
		if err != nil && !errors.As(err, &unsupported) && !errors.As(err, &malformed) {
			t.Errorf("%q: %v", body, err)
		}
		if err == nil && !json.Valid(encode(one.only([]core.ID{core.UintID(1)}))) {
			t.Errorf("%q cannot be restricted", body)
		}
	})
}

// FuzzAnswer: whatever Qdrant answers, the result is JSON or an error.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"result":{"points":[{"id":2}]},"status":"ok"}`))
	f.Add([]byte(`{"result":[{"points":[{"id":"a"}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		ids := []core.ID{core.UintID(2), core.StringID("a")}
		one, err := answerQuery(body, time.Now(), ids)
		if err == nil && !json.Valid(one) {
			t.Errorf("%q gives %q", body, one)
		}
		all, err := answerBatch(body, time.Now(), [][]core.ID{ids, nil})
		if err == nil && !json.Valid(all) {
			t.Errorf("%q gives %q", body, all)
		}
	})
}
