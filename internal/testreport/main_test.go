package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	events := `{"Action":"output","Package":"a","Test":"TestGood","Output":"noise\n"}
{"Action":"pass","Package":"a","Test":"TestGood"}
{"Action":"output","Package":"a","Test":"TestServer","Output":"    x_test.go:3: SERVER: qdrant 1.17 (container)\n"}
{"Action":"pass","Package":"a","Test":"TestServer"}
{"Action":"output","Package":"a","Test":"TestAway","Output":"    x_test.go:9: SKIPPED: no docker\n"}
{"Action":"skip","Package":"a","Test":"TestAway"}
{"Action":"pass","Package":"a","Elapsed":1.5}
{"Action":"skip","Package":"empty"}
`
	var out strings.Builder
	if !run(strings.NewReader(events), &out) {
		t.Error("a good run is reported as failed")
	}
	if want := "ok  \ta\t1.5s\nservers: qdrant 1.17 (container)\nskipped: 1 tests: no docker (1)\n"; out.String() != want {
		t.Errorf("got  %q\nwant %q", out.String(), want)
	}
	out.Reset()
	broken := `{"Action":"output","Package":"a","Test":"TestBad","Output":"    x_test.go:3: is 1, want 2\n"}
{"Action":"fail","Package":"a","Test":"TestBad"}
{"Action":"fail","Package":"a"}
{"ImportPath":"b","Action":"build-output","Output":"b.go:1: syntax error\n"}
{"ImportPath":"b","Action":"build-fail"}
not json
`
	if run(strings.NewReader(broken), &out) {
		t.Error("a failed run is reported as good")
	}
	for _, want := range []string{"is 1, want 2", "b.go:1: syntax error", "not json", "skipped: nothing"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing from %q", want, out.String())
		}
	}
}
