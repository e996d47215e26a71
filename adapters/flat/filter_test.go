package flat

import (
	"errors"
	"strings"
	"testing"

	"github.com/georag/georag/core"
)

func TestFilter(t *testing.T) {
	const passage = `{"id":7,"lang":"en","year":2004,"big":9007199254740993,"price":1.5,"draft":false,"gone":null,` +
		`"tags":["a","b",3],"date":"2004-05-06","meta":{"x":1},"code":"42","é=":"ü, \"q\""}`
	for _, c := range []struct {
		filter string
		want   bool
	}{
		{`{}`, true},
		{`{"lang":"en"}`, true},
		{`{"lang":"En"}`, false},
		{`{"lang":"en","year":{"gte":2004,"lt":2005}}`, true},
		{`{"lang":"en","year":{"gt":2004}}`, false},
		{`{"year":2004.0}`, true},
		{`{"year":"2004"}`, false},
		{`{"year":[1999,2004]}`, true},
		{`{"year":[]}`, false},
		{`{"year":{"ne":[1999,2004]}}`, false},
		{`{"year":{"eq":2004,"ne":2005}}`, true},
		{`{"big":9007199254740993}`, true},
		{`{"big":9007199254740992}`, false},
		{`{"big":{"gt":9007199254740992}}`, true},
		{`{"big":{"lt":18446744073709551615}}`, true},
		{`{"price":{"lte":1.5}}`, true},
		{`{"price":{"gt":1}}`, true},
		{`{"draft":false}`, true},
		{`{"draft":{"ne":true}}`, true},
		{`{"gone":null}`, true},
		{`{"tags":"b"}`, true},
		{`{"tags":["c","a"]}`, true},
		{`{"tags":{"ne":"a"}}`, false},
		{`{"tags":{"ne":"c"}}`, true},
		{`{"tags":{"gte":3}}`, true},
		{`{"date":{"gte":"2004-05-01","lt":"2004-06"}}`, true},
		{`{"date":{"gte":2004}}`, false},
		{`{"absent":1}`, false},
		{`{"absent":{"ne":1}}`, true},
		{`{"absent":{"lt":1}}`, false},
		{`{"meta":{"eq":1}}`, false},
		{`{"id":7}`, true},
		{`lang=en`, true},
		{`lang=en,year>=2004,code!=X`, true},
		{` lang == en , year < 2004 `, false},
		{`code=42`, true},
		{`year=2004`, true},
		{`code>9`, false},
		{`draft=false`, true},
		{`gone=null`, true},
		{`date>=2004-05-01`, true},
		{`lang="en"`, true},
		{`year="2004"`, false},
		{`lang="en" ,year<=2004`, true},
		{`tags=a,tags=b`, true},
		{`tags!=a`, false},
	} {
		conditions, err := parseFilter(c.filter)
		if err != nil {
			t.Errorf("%s: %v", c.filter, err)
			continue
		}
		if got := conditions.match([]byte(passage)); got != c.want {
			t.Errorf("%s: %v, want %v", c.filter, got, c.want)
		}
	}
}

func TestMalformedFilters(t *testing.T) {
	s := mustOpen(t, Config{Dir: folderOf(t, map[string][]byte{
		linesFile: []byte("{\"id\":1,\"lang\":\"en\",\"year\":2000}\n"), vectorsFile: matrix(1, 3),
	})})
	defer s.Close()
	for _, c := range []struct {
		filter, want string
		err          error
	}{
		{`{`, "unexpected end of JSON input", core.ErrInvalid},
		{`{"lang":"en"} x`, "invalid character 'x'", core.ErrInvalid},
		{`{"lang":{}}`, `"lang" has no operator`, core.ErrInvalid},
		{`{"lang":{"like":"e%"}}`, `the operator "like", want eq, ne, gt, gte, lt or lte`, core.ErrInvalid},
		{`{"lang":{"gt":["a"]}}`, `"lang" gt: ["a"] is no number or string`, core.ErrInvalid},
		{`{"lang":[["a"]]}`, `"lang" eq: ["a"] is no string, number, true, false or null`, core.ErrInvalid},
		{`{"lang":"a","lang":"b"}`, `"lang" appears twice`, core.ErrInvalid},
		{`lang`, `"lang" is not of the form field=value`, core.ErrInvalid},
		{`lang=en,`, "is not of the form field=value", core.ErrInvalid},
		{`=en`, "is not of the form field=value", core.ErrInvalid},
		{`lang=`, `the value "" of "lang" needs quotes`, core.ErrInvalid},
		{`lang!en`, "has no operator", core.ErrInvalid},
		{`year>=>2`, "needs quotes", core.ErrInvalid},
		{`lang="en`, "the quoted value of", core.ErrInvalid},
		{`lang="en"x`, "a comma is missing", core.ErrInvalid},
		{strings.Repeat("a=b,", 20_000) + "a=b", "longer than 64 KiB", core.ErrInvalid},
		{`lagn=en`, `no passage has the field "lagn"; there are lang, year`, core.ErrNotFound},
		{`{"lang":"fr"}`, "no passage is in the scope", core.ErrEmptyIndex},
	} {
		_, err := s.Search(t.Context(), core.SearchRequest{Vector: []float32{1, 0, 0}, K: 1, Scope: core.Scope{Filter: c.filter}})
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: error is %v, want %q", c.filter, err, c.want)
		}
		if errors.Is(c.err, core.ErrInvalid) && err != nil && !strings.Contains(err.Error(), "filter") {
			t.Errorf("%.60s: error %v does not say that the filter is at fault", c.filter, err)
		}
	}
}

func FuzzFilter(f *testing.F) {
	for _, seed := range []string{`{"a":"x","b":{"gte":1,"ne":[1,"x"]}}`, `a=x,b>=1,c!="\u00e9"`, `{"a":[]}`, `a="`, `{`} {
		f.Add(seed, `{"id":1,"a":"x","b":[1,2],"c":null}`)
	}
	f.Fuzz(func(t *testing.T, text, line string) {
		conditions, err := parseFilter(text)
		if err != nil {
			return
		}
		if _, _, err := parseLine([]byte(line)); err == nil {
			conditions.match([]byte(line))
		}
	})
}
