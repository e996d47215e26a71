package trec

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
)

func open(t *testing.T, name string) *os.File {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// TestMeasuresAgree holds every measure against pytrec_eval per query, and against the means of ir_measures.
func TestMeasuresAgree(t *testing.T) {
	run, err := ReadRun(open(t, "run.txt"), "run.txt")
	if err != nil {
		t.Fatal(err)
	}
	qrels, err := ReadQrels(open(t, "qrels.txt"), "qrels.txt")
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		PerQuery  map[string]map[string]float64 `json:"pytrec_eval"`
		Aggregate map[string]float64            `json:"ir_measures_aggregate"`
	}
	if err := json.NewDecoder(open(t, "expected.json")).Decode(&expected); err != nil {
		t.Fatal(err)
	}
	if len(expected.PerQuery) != 8 || len(expected.Aggregate) != 8 {
		t.Fatalf("%d and %d measures, want 8", len(expected.PerQuery), len(expected.Aggregate))
	}
	for name, want := range expected.PerQuery {
		m, err := ParseMeasure(name)
		if err != nil {
			t.Fatal(err)
		}
		got := m.Evaluate(qrels, run)
		if len(got) != len(want) {
			t.Errorf("%s: %d queries, want %d", name, len(got), len(want))
		}
		for query := range want {
			if math.Abs(got[query]-want[query]) > 1e-12 {
				t.Errorf("%s of %s: %v, want %v", name, query, got[query], want[query])
			}
		}
		if mean := Mean(m.EvaluateAll(qrels, run)); math.Abs(mean-expected.Aggregate[name]) > 1e-12 {
			t.Errorf("mean %s: %v, want %v", name, mean, expected.Aggregate[name])
		}
	}
}

func TestRoundTrip(t *testing.T) {
	run := Run{"q2": FromRanking([]string{"b", "a", "c"}), "q1": {{"x", 0.1}, {"y", 1e-300}}}
	var out bytes.Buffer
	if err := run.Write(&out, "georag"); err != nil {
		t.Fatal(err)
	}
	const want = "q1 Q0 x 1 0.1 georag\nq1 Q0 y 2 1e-300 georag\nq2 Q0 b 1 3 georag\nq2 Q0 a 2 2 georag\nq2 Q0 c 3 1 georag\n"
	if out.String() != want {
		t.Errorf("run %q, want %q", out.String(), want)
	}
	back, err := ReadRun(&out, "run")
	if err != nil || !reflect.DeepEqual(back, run) {
		t.Errorf("read back %v, error %v", back, err)
	}
	qrels := Qrels{}
	qrels.Judge("q", "b", 2)
	qrels.Judge("q", "a", 0)
	if err := qrels.Write(&out); err != nil || out.String() != "q 0 a 0\nq 0 b 2\n" {
		t.Errorf("qrels %q, error %v", out.String(), err)
	}
	if back, err := ReadQrels(&out, "qrels"); err != nil || !reflect.DeepEqual(back, qrels) {
		t.Errorf("read back %v, error %v", back, err)
	}
}

func TestTies(t *testing.T) {
	run, err := ReadRun(strings.NewReader("q Q0 a 1 0.5 t\nq Q0 c 2 0.5 t\nq Q0 b 3 0.50000001 t\n"), "run")
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, d := range run["q"] {
		order = append(order, d.Doc)
	}
	if !reflect.DeepEqual(order, []string{"c", "b", "a"}) {
		t.Errorf("order %v, want c b a: equal as 32-bit floats, so by descending ID", order)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{"q Q0 d 1 0.5", "run:1: malformed TREC file: 5 columns, want 6"},
		{"q Q0 d 1 0.5 t\n\nq Q0 d 2 0.4 t", "run:3: malformed TREC file: document d occurs twice"},
		{"q Q0 d 1 high t", `score "high" is not a number`},
		{"q Q0 d 1 NaN t", `score "NaN" is not a number`},
	} {
		if _, err := ReadRun(strings.NewReader(c.content), "run"); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %s", c.content, err, c.want)
		}
	}
	for _, content := range []string{"q 0 d", "q 0 d one", "q 0 d 1\nq 0 d 0"} {
		if _, err := ReadQrels(strings.NewReader(content), "qrels"); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: error %v", content, err)
		}
	}
	var out bytes.Buffer
	if err := (Run{"q 1": nil}).Write(&out, "t"); !errors.Is(err, ErrFormat) || out.Len() > 0 {
		t.Errorf("error %v after %q", err, out.String())
	}
	for _, name := range []string{"P", "P@0", "P@x", "AP@3", "F1"} {
		if _, err := ParseMeasure(name); !errors.Is(err, ErrMeasure) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func FuzzReadRun(f *testing.F) {
	f.Add("q Q0 d 1 0.5 t\nq Q0 e 2 0.5 t\n")
	f.Fuzz(func(t *testing.T, content string) {
		run, err := ReadRun(strings.NewReader(content), "fuzz")
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := run.Write(&out, "t"); err != nil {
			t.Fatal(err)
		}
		back, err := ReadRun(&out, "fuzz")
		if err != nil || !reflect.DeepEqual(back, run) {
			t.Fatalf("read back %v, error %v, want %v", back, err, run)
		}
	})
}
