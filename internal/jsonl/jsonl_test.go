package jsonl

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/georag/georag/core"
)

func TestEach(t *testing.T) {
	const content = "{\"a\":1}\r\n{\"a\":\"é\"} \n{\"a\":3}"
	var got []string
	var offsets []int64
	err := Each(strings.NewReader(content), "f.jsonl", func(l Line) error {
		got, offsets = append(got, string(l.Data)), append(offsets, l.Offset)
		return nil
	})
	if err != nil || !slices.Equal(got, []string{`{"a":1}`, `{"a":"é"} `, `{"a":3}`}) {
		t.Errorf("lines %q, error %v", got, err)
	}
	if !slices.Equal(offsets, []int64{0, 9, 21}) {
		t.Errorf("offsets %v", offsets)
	}
}

func TestEachRefuses(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"byte order mark", "\xef\xbb\xbf{}\n", "f.jsonl:1: malformed file: starts with a byte order mark"},
		{"UTF-16", "\xff\xfe{\x00}\x00\n", "f.jsonl:1: malformed file: is UTF-16"},
		{"byte order mark within", "{}\n\xef\xbb\xbf{}\n", "f.jsonl:2: malformed file: invalid character"},
		{"blank line", "{}\n\n{}\n", "f.jsonl:2: malformed file: blank line"},
		{"blank last line", "{}\n \t\r\n", "f.jsonl:2: malformed file: blank line"},
		{"invalid UTF-8", "{}\n{\"a\":\"\xff\"}\n", "f.jsonl:2: malformed file: invalid UTF-8"},
		{"cut", "{}\n{\"a\":", "f.jsonl:2: malformed file: unexpected end of JSON input"},
		{"two objects", "{}{}\n", "f.jsonl:1: malformed file: invalid character '{' after top-level value"},
		{"array", "[1]\n", "f.jsonl:1: malformed file: not a JSON object"},
		{"number", "{}\n{}\n7\n", "f.jsonl:3: malformed file: not a JSON object"},
		{"NaN", "{\"a\":NaN}\n", "f.jsonl:1: malformed file: invalid character 'N'"},
		{"deep", strings.Repeat("[", 20000), "f.jsonl:1: malformed file"},
		{"long", "{}\n{\"a\":\"" + strings.Repeat("x", MaxLine) + "\"}", "f.jsonl:2: malformed file: longer than 16 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Each(strings.NewReader(c.content), "f.jsonl", func(Line) error { return nil })
			if !errors.Is(err, ErrFormat) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error is %v, want %s…", err, c.want)
			}
		})
	}
}

func TestEachPassesErrorsOn(t *testing.T) {
	stop := errors.New("stop")
	calls := 0
	err := Each(strings.NewReader("{}\n{}\n"), "f", func(Line) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("error %v after %d calls", err, calls)
	}
	broken := errors.New("disk on fire")
	err = Each(io.MultiReader(strings.NewReader("{}\n{"), errorReader{broken}), "f", func(Line) error { return nil })
	if !errors.Is(err, broken) {
		t.Errorf("error is %v, want %v", err, broken)
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

func TestMembers(t *testing.T) {
	var names []string
	err := Members([]byte(`{"id":1,"ID":{"id":2},"\u0069d2":"}"}`), func(name string, _ gjson.Result) { names = append(names, name) })
	if err != nil || !slices.Equal(names, []string{"id", "ID", "id2"}) {
		t.Errorf("names %q, error %v", names, err)
	}
	if err := Members([]byte(`{"id":1,"x":2,"\u0069d":3}`), func(string, gjson.Result) {}); err == nil {
		t.Error("a name that appears twice is accepted")
	}
}

func TestID(t *testing.T) {
	for raw, want := range map[string]core.ID{
		`18446744073709551615`: core.UintID(1<<64 - 1),
		`-9223372036854775808`: core.IntID(-1 << 63),
		`"42"`:                 core.StringID("42"),
		`"\u00fc"`:             core.StringID("ü"),
	} {
		if id, err := ID(gjson.Parse(raw)); err != nil || id != want {
			t.Errorf("%s: id %v, error %v", raw, id, err)
		}
	}
	for _, raw := range []string{`1.0`, `1e3`, `-0`, `18446744073709551616`, `true`, `null`, `""`, `[1]`, `{}`} {
		if id, err := ID(gjson.Parse(raw)); err == nil {
			t.Errorf("%s: accepted as %v", raw, id)
		}
	}
}

func FuzzEach(f *testing.F) {
	f.Add([]byte("{\"id\":1}\r\n{\"id\":\"x\",\"v\":[1,{\"a\":null}]}\n"))
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Add([]byte("{}\n\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := Each(bytes.NewReader(data), "fuzz", func(l Line) error {
			if !bytes.HasPrefix(data[l.Offset:], l.Data) {
				t.Fatalf("line %d is not at offset %d", l.Number, l.Offset)
			}
			return Members(l.Data, func(_ string, value gjson.Result) { _, _ = ID(value) })
		})
		if errors.Is(err, ErrFormat) && !strings.HasPrefix(err.Error(), "fuzz:") {
			t.Fatalf("error does not name the file: %v", err)
		}
	})
}
