package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/georag/georag/adapters/httpapi"
)

// malformed is a request that must be refused with a 4xx.
type malformed struct {
	name, path, body string
	header           []string
	code             string // wanted; "" is any
}

const tinyVector = `[1,0,0,1]`

// brokenJSON is wrong whatever the endpoint.
func brokenJSON() []malformed {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	cases := []malformed{
		{"empty", "", "", nil, "malformed_json"},
		{"space", "", " \n\t", nil, "malformed_json"},
		{"BOM", "", "\ufeff{\"query\":\"a\"}", nil, "malformed_json"},
		{"UTF-16", "", "\xff\xfe{\x00}\x00", nil, "malformed_json"},
		{"invalid UTF-8", "", "{\"query\":\"\xc3\x28\"}", nil, "malformed_json"},
		{"NUL", "", "\x00", nil, "malformed_json"},
		{"two objects", "", `{"query":"a"}{"query":"b"}`, nil, "malformed_json"},
		{"trailing text", "", `{"query":"a"} x`, nil, "malformed_json"},
		{"single quotes", "", `{'query':'a'}`, nil, "malformed_json"},
		{"no quotes", "", `{query:"a"}`, nil, "malformed_json"},
		{"trailing comma", "", `{"query":"a",}`, nil, "malformed_json"},
		{"comment", "", `{"query":"a" /* c */}`, nil, "malformed_json"},
		{"no colon", "", `{"query" "a"}`, nil, "malformed_json"},
		{"control character", "", "{\"query\":\"a\nb\"}", nil, "malformed_json"},
		{"bad escape", "", `{"query":"\x41"}`, nil, "malformed_json"},
		{"half an escape", "", `{"query":"\u00"}`, nil, "malformed_json"},
		{"form", "", "query=a", nil, "malformed_json"},
		{"XML", "", "<query>a</query>", nil, "malformed_json"},
		{"duplicate", "", `{"query":"a","query":"b"}`, nil, "duplicate_key"},
		{"duplicate by escape", "", `{"query":"a","\u0071uery":"b"}`, nil, "duplicate_key"},
		{"nine deep", "", `{"query":"a","filter":{"a":` + deep(8) + `}}`, nil, "too_deep"},
		{"100,000 deep", "", `{"query":` + deep(100000) + `}`, nil, "too_deep"},
		{"100,000 deep, unclosed", "", `{"query":` + strings.Repeat(`{"a":[`, 50000), nil, "too_deep"},
		{"too large", "", `{"query":"` + strings.Repeat("a", 4<<20) + `"}`, nil, "body_too_large"},
	}
	for _, top := range []string{"null", "true", "0", `"text"`, "[]", `[{"query":"a"}]`, "NaN", "Infinity", "undefined"} {
		cases = append(cases, malformed{"top level " + top, "", top, nil, "malformed_json"})
	}
	whole := `{"query":"a","documents":["b","c"],"k":2}`
	for i := 1; i < len(whole); i++ {
		cases = append(cases, malformed{fmt.Sprintf("cut after %d bytes", i), "", whole[:i], nil, "malformed_json"})
	}
	for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", "application/json; charset=utf-16", "application/jsonp", "application", ";", "application/octet-stream", "json"} {
		cases = append(cases, malformed{"content type " + media, "", whole, []string{"Content-Type", media}, "unsupported_media_type"})
	}
	for _, encoding := range []string{"br", "deflate", "zstd", "gzip, gzip", "compress", "x"} {
		cases = append(cases, malformed{"encoding " + encoding, "", whole, []string{"Content-Encoding", encoding}, "unsupported_encoding"})
	}
	return append(cases,
		malformed{"said to be gzip", "", whole, []string{"Content-Encoding", "gzip"}, "unreadable_body"},
		malformed{"gzip, cut off", "", zipped(whole)[:20], []string{"Content-Encoding", "gzip"}, "unreadable_body"},
		malformed{"gzip, damaged", "", zipped(whole)[:len(zipped(whole))-4] + "\x00\x00\x00\x00", []string{"Content-Encoding", "gzip"}, "unreadable_body"},
		malformed{"gzip bomb", "", zipped(strings.Repeat(" ", 64<<20)), []string{"Content-Encoding", "gzip"}, "body_too_large"},
	)
}

func zipped(text string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return out.String()
}

// wrongSelects are wrong on /v1/select and /v1/diagnose.
func wrongSelects() []malformed {
	var cases []malformed
	add := func(code, fields string) {
		cases = append(cases, malformed{fields[:min(60, len(fields))], "", `{` + fields + `}`, nil, code})
	}
	// Every field with values of a wrong type.
	wrong := map[string][]string{
		"string":  {`1`, `true`, `[]`, `{"a":1}`, `1.5`},
		"integer": {`"1"`, `true`, `[1]`, `{}`},
		"number":  {`"1"`, `true`, `[1]`, `{}`},
		"boolean": {`"true"`, `1`, `[]`, `{}`},
		"list":    {`"a,b"`, `1`, `true`, `{}`},
	}
	for field, kind := range map[string]string{
		"collection": "string", "preset": "string", "selector": "string", "pool": "string", "candidate_filter": "string",
		"tenant": "string", "vector_name": "string", "consistency": "string", "k": "integer", "candidates": "integer",
		"lambda": "number", "strict": "boolean", "explain": "boolean", "with_payload": "boolean",
		"subqueries": "list", "given": "list", "partitions": "list",
	} {
		for _, value := range wrong[kind] {
			add("", fmt.Sprintf(`"vector":%s,%q:%s`, tinyVector, field, value))
		}
	}
	for _, value := range wrong["string"] {
		add("invalid_type", `"query":`+value)
	}
	// Names that are nearly right.
	for _, name := range []string{"K", "Query", "top_k", "querry", "vectors", "sub_queries", "subqueries ", "filters", "presets", "limit", "", "vector\\u0000"} {
		add("unknown_field", fmt.Sprintf(`"vector":%s,"%s":1`, tinyVector, name))
	}
	add("unknown_field", `"query":"a","subqueries":[{"text":"a","txt":"b"}]`)
	add("unknown_field", `"query":"a","given":[{"id":1,"Score":0}]`)
	add("duplicate_key", `"query":"a","given":[{"id":1,"id":2}]`)
	add("duplicate_key", `"query":"a","filter":{"must":[{"key":"a","key":"b"}]}`)
	// Numbers out of range.
	for _, value := range []string{"0", "-1", "101", "9223372036854775807"} {
		add("invalid_value", `"vector":`+tinyVector+`,"k":`+value)
	}
	for _, value := range []string{"0", "-1", "1001"} {
		add("invalid_value", `"vector":`+tinyVector+`,"candidates":`+value)
	}
	for _, value := range []string{"9223372036854775808", "1.5", "1e3", "1e309", "-1e309"} {
		add("invalid_value", `"vector":`+tinyVector+`,"k":`+value)
	}
	for _, value := range []string{"-0.1", "1.1", "1e309", "1e308"} {
		add("invalid_value", `"vector":`+tinyVector+`,"lambda":`+value)
	}
	add("invalid_value", `"vector":`+tinyVector+`,"k":5,"candidates":4`)
	// Names that do not exist.
	for _, field := range []string{"collection", "preset", "selector", "pool", "candidate_filter"} {
		for _, value := range []string{"best", "GeoRAG", " georag", "../etc/passwd", "'; drop table"} {
			add("invalid_value", fmt.Sprintf(`"vector":%s,%q:%q`, tinyVector, field, value))
		}
	}
	// Vectors.
	for _, value := range []string{"[]", "[0]", "[0,0,0]", "[1e39]", "[1e309]", "[-1e39,1]", `["1"]`, "[true]", "[[1]]", "[{}]", "1", "true", "{}", `{"a":1}`,
		`""`, `"a"`, `"AAAA"`, `"AACAPw"`, `"====AACAPw=="`, `"not base64 at all!"`, coded(4097), `"` + base64.StdEncoding.EncodeToString([]byte{0, 0, 0xc0, 0x7f}) + `"`,
		`"` + base64.StdEncoding.EncodeToString([]byte{0, 0, 0x80, 0x7f}) + `"`, `"` + base64.StdEncoding.EncodeToString(make([]byte, 16)) + `"`} {
		add("", `"vector":`+value)
		add("", `"vector":`+tinyVector+`,"subqueries":[{"vector":`+value+`}]`)
	}
	add("wrong_dimension", `"vector":`+tinyVector) // the collection's is 384
	add("wrong_dimension", `"query":"a","subqueries":[{"vector":`+tinyVector+`},"b",{"vector":[1,0,0]}]`)
	add("wrong_dimension", `"vector":`+tinyVector+`,"subqueries":[{"vector":[1,0]}]`)
	add("", `"query":"a","subqueries":[{"vector":`+tinyVector+`}],"strict":true`)
	// Lists.
	for _, value := range []string{`[""]`, `[{}]`, `[null]`, `[{"text":""}]`, `[1]`, `[["a"]]`, `[{"text":1}]`, `[` + strings.Repeat(`"a",`, 64) + `"a"]`, `["` + strings.Repeat("a", 8<<10+1) + `"]`} {
		add("", `"query":"a","subqueries":`+value)
	}
	for _, value := range []string{`[{}]`, `[1]`, `["a"]`, `[{"id":null}]`, `[{"id":1.5}]`, `[{"id":true}]`, `[{"id":[]}]`, `[{"id":{}}]`, `[{"id":1e3}]`, `[{"id":99999999999999999999999}]`, `[{"score":1}]`,
		`[{"id":1,"score":"1"}]`, `[{"id":1,"score":1e309}]`, `[{"id":1},{"id":1}]`, `[` + strings.Repeat(`{"id":1},`, 1000) + `{"id":2}]`} {
		add("", `"query":"a","given":`+value)
	}
	add("", `"query":"a","pool":"given"`)
	add("invalid_value", `"query":"`+strings.Repeat("a", 8<<10+1)+`"`)
	add("invalid_value", `"k":5`)
	add("invalid_value", `"query":""`)
	add("invalid_value", `"query":null`)
	// Scopes this store does not have.
	add("", `"query":"a","tenant":"other"`)
	for _, filter := range []string{`"("`, `"topic =="`, `{"must":1}`, `{"topic":{"$regex":"a"}}`, `[]`, `1`, `"` + strings.Repeat("a", 8<<10+1) + `"`} {
		add("", `"query":"a","filter":`+filter)
	}
	return cases
}

// coded is a vector of n ones in base64.
func coded(n int) string {
	vector := make([]float32, n)
	for i := range vector {
		vector[i] = 1
	}
	data, _ := json.Marshal(httpapi.NewVector(vector))
	return string(data)
}

// wrongReranks are wrong on the rerank endpoints.
func wrongReranks() []malformed {
	var cases []malformed
	for _, body := range []string{
		`{}`, `{"query":"a"}`, `{"documents":["a"]}`, `{"query":"","documents":["a"]}`, `{"query":" ","documents":["a"]}`, `{"query":"a","documents":[]}`,
		`{"query":"a","documents":null}`, `{"query":1,"documents":["a"]}`, `{"query":"a","documents":"a"}`, `{"query":"a","documents":[1]}`,
		`{"query":"a","documents":[""]}`, `{"query":"a","documents":[{}]}`, `{"query":"a","documents":[{"text":1}]}`, `{"query":"a","documents":[{"image":"x"}]}`,
		`{"query":"a","documents":[["a"]]}`, `{"query":"a","documents":["a"],"top_n":-1}`, `{"query":"a","documents":["a"],"top_n":"1"}`,
		`{"query":"a","documents":["a"],"top_n":1.5}`, `{"query":"a","documents":["a"],"top_k":-1}`, `{"query":"a","documents":["a"],"return_documents":1}`,
		`{"query":"a","documents":[` + strings.Repeat(`"a",`, 1000) + `"a"]}`, `{"query":"` + strings.Repeat("a", 8<<10+1) + `","documents":["a"]}`,
		`{"query":"a","texts":[]}`, `{"query":"a","texts":"a"}`, `{"query":"a","texts":[1]}`, `{"query":"a","texts":[""]}`, `{"texts":["a"]}`, `{"query":"","texts":["a"]}`,
		`{"query":"a","texts":["a"],"return_text":"yes"}`, `{"query":"a","model":1,"documents":["a"]}`,
	} {
		cases = append(cases, malformed{body[:min(60, len(body))], "", body, nil, ""})
	}
	return cases
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	s := start(t, httpapi.Config{}, nil)
	handler := s.Handler()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	count := 0
	for _, group := range []struct {
		paths []string
		cases []malformed
	}{
		{[]string{"/v1/select", "/v1/diagnose", "/rerank", "/v1/rerank", "/v2/rerank"}, brokenJSON()},
		{[]string{"/v1/select", "/v1/diagnose"}, wrongSelects()},
		{[]string{"/rerank", "/v1/rerank", "/v2/rerank"}, wrongReranks()},
	} {
		for _, path := range group.paths {
			for _, c := range group.cases {
				count++
				status, code := refused(handler, path, c)
				if status < 400 || status > 499 || code == "" || c.code != "" && code != c.code {
					t.Errorf("%s, %s: status %d, code %q, want 4xx %q", path, c.name, status, code, c.code)
				}
			}
		}
	}
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 256<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	if count < 300 {
		t.Errorf("only %d requests", count)
	}
	_, metrics := s.get(t, "/metrics")
	if !bytes.Contains(metrics, []byte("georag_panics_total 0")) {
		t.Error("a handler panicked")
	}
	t.Logf("%d malformed requests", count)
}

func refused(handler http.Handler, path string, c malformed) (status int, code string) {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(c.body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(c.header); i += 2 {
		r.Header.Set(c.header[i], c.header[i+1])
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if !json.Valid(w.Body.Bytes()) || w.Header().Get("Content-Type") != "application/json" {
		return w.Code, ""
	}
	return w.Code, w.Header().Get("Georag-Error")
}

func TestUnknownPathsAndMethods(t *testing.T) {
	s := start(t, httpapi.Config{}, nil)
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/v1/select", 405, "POST"}, {"DELETE", "/v1/select", 405, "POST"}, {"PUT", "/rerank", 405, "POST"}, {"POST", "/healthz", 405, "GET, HEAD"},
		{"GET", "/", 404, ""}, {"POST", "/v1/selects", 404, ""}, {"POST", "/v1/select/", 404, ""}, {"GET", "/../../etc/passwd", 404, ""},
		{"BREW", "/v1/select", 405, "POST"}, {"OPTIONS", "/v1/select", 405, "POST"},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		var body httpapi.ErrorBody
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != c.status || w.Header().Get("Allow") != c.allow || body.Error.Code == "" {
			t.Errorf("%s %s: %d, Allow %q, %s (%v)", c.method, c.path, w.Code, w.Header().Get("Allow"), w.Body, err)
		}
	}
}

func TestErrorsNameTheField(t *testing.T) {
	s := start(t, httpapi.Config{}, nil)
	for _, c := range []struct{ body, field, message string }{
		{`{"querry":"a"}`, "querry", "did you mean query?"},
		{`{"query":"a","subqueries":[{"text":"b","vektor":[1]}]}`, "subqueries[0].vektor", "did you mean vector?"},
		{`{"query":"a","subqueries":["b",{"vector":"AAA"}]}`, "subqueries[1].vector", "base64"},
		{`{"query":"a","k":101}`, "k", "is 101, want 1 to 100"},
		{`{"query":"a","selector":"best"}`, "selector", "georag"},
		{`{"query":"a","collection":"x"}`, "collection", "demo"},
		{`{"query":"a","lambda":2}`, "lambda", "[0,1]"},
	} {
		answer, body := s.post(t, "/v1/select", c.body)
		got := decoded[httpapi.ErrorBody](t, http.StatusBadRequest, answer, body)
		if got.Error.Field != c.field || !strings.Contains(got.Error.Message, c.message) {
			t.Errorf("%s: %+v", c.body, got.Error)
		}
	}
}
