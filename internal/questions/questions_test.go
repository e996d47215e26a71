package questions

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
	"github.com/georag/georag/internal/jsonl"
	"github.com/georag/georag/internal/npy"
)

const twoQuestions = `{"id":"q1","dataset":"d","type":"t","question":"One?","answers":["a","b"],"gold":["p1",9007199254740993],"subqueries":["s1","s2"],"extra":{}}` + "\r\n" +
	`{"id":7,"question":"Two?","subqueries":["s3","s4"]}` + "\n"

// floats is a file of the given shape that counts from 1.
func floats(shape ...int) []byte {
	n, axes := 1, ""
	for _, s := range shape {
		n, axes = n*s, axes+fmt.Sprintf("%d, ", s)
	}
	dictionary := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }\n", strings.TrimSuffix(axes, " "))
	data := append([]byte("\x93NUMPY\x01\x00"), byte(len(dictionary)), 0)
	data = append(data, dictionary...)
	for i := range n {
		data, _ = binary.Append(data, binary.LittleEndian, float32(i+1))
	}
	return data
}

// with is the folder f of two questions, with the given files besides or instead.
func with(files map[string][]byte) fstest.MapFS {
	fsys := fstest.MapFS{"f/questions.jsonl": {Data: []byte(twoQuestions)}}
	for name, data := range files {
		fsys["f/"+name] = &fstest.MapFile{Data: data}
	}
	return fsys
}

func TestOpen(t *testing.T) {
	fsys := with(map[string][]byte{"questions.npy": floats(2, 2), "subqueries.npy": floats(2, 2, 2)})
	want := []Question{
		{ID: "q1", Dataset: "d", Type: "t", Text: "One?", Answers: []string{"a", "b"},
			Gold: []core.ID{core.StringID("p1"), core.IntID(1<<53 + 1)}, SubQueries: []string{"s1", "s2"},
			Vector: []float32{1, 2}, SubQueryVectors: [][]float32{{1, 2}, {3, 4}}},
		{ID: "7", Text: "Two?", SubQueries: []string{"s3", "s4"}, Vector: []float32{3, 4}, SubQueryVectors: [][]float32{{5, 6}, {7, 8}}},
	}
	got, err := OpenFS(fsys, "f")
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, error %v", got, err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, fsys); err != nil {
		t.Fatal(err)
	}
	got, err = Open(filepath.Join(dir, "f"))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read from the disk %+v, error %v", got, err)
	}
	query := got[0].Query()
	wantQuery := core.Query{Text: "One?", Vector: []float32{1, 2}, SubQueries: []core.SubQuery{
		{Text: "s1", Vector: []float32{1, 2}}, {Text: "s2", Vector: []float32{3, 4}}}}
	if !reflect.DeepEqual(query, wantQuery) {
		t.Errorf("query %+v", query)
	}
}

func TestOpenWithoutVectors(t *testing.T) {
	got, err := OpenFS(with(nil), "f")
	if err != nil {
		t.Fatal(err)
	}
	query := got[1].Query()
	if want := []core.SubQuery{{Text: "s3"}, {Text: "s4"}}; query.Vector != nil || !reflect.DeepEqual(query.SubQueries, want) {
		t.Errorf("query %+v", query)
	}
}

func TestWhatDoesNotFitIsAnError(t *testing.T) {
	zero := floats(2, 2)
	copy(zero[len(zero)-8:], make([]byte, 8))
	lines := func(text string) map[string][]byte { return map[string][]byte{"questions.jsonl": []byte(text)} }
	for _, c := range []struct {
		name  string
		files map[string][]byte
		err   error
		want  string
	}{
		{"empty", lines(""), jsonl.ErrFormat, "f/questions.jsonl:1: malformed file: the file is empty"},
		{"byte order mark", lines("\xef\xbb\xbf" + twoQuestions), jsonl.ErrFormat, "f/questions.jsonl:1:"},
		{"torn", lines(twoQuestions[:len(twoQuestions)-9]), jsonl.ErrFormat, "f/questions.jsonl:2:"},
		{"no id", lines(`{"question":"x"}`), jsonl.ErrFormat, `f/questions.jsonl:1: malformed file: "id" is missing`},
		{"id of the wrong kind", lines(`{"id":1.5,"question":"x"}`), jsonl.ErrFormat, "id 1.5 is not an integer"},
		{"no question", lines(`{"id":1,"question":""}`), jsonl.ErrFormat, `"question" is missing or empty`},
		{"same id", lines(twoQuestions + `{"id":"q1","question":"x"}`), jsonl.ErrFormat, `f/questions.jsonl:3: malformed file: id "q1" is already on line 1`},
		{"answers", lines(`{"id":1,"question":"x","answers":"yes"}`), jsonl.ErrFormat, `"answers" is "yes", want an array`},
		{"sub-query", lines(`{"id":1,"question":"x","subqueries":["a",2]}`), jsonl.ErrFormat, `"subqueries" is 2, want a string`},
		{"gold", lines(`{"id":1,"question":"x","gold":[null]}`), jsonl.ErrFormat, `"gold": id null is neither`},
		{"ragged", map[string][]byte{"subqueries.npy": floats(2, 3, 2)}, jsonl.ErrFormat, "f/questions.jsonl:1: malformed file: it has 2 sub-queries and f/subqueries.npy has vectors for 3"},
		{"row too many", map[string][]byte{"questions.npy": floats(3, 2)}, npy.ErrFormat, "f/questions.npy: malformed npy file: its shape is [3 2] and f/questions.jsonl has 2 lines"},
		{"row too few", map[string][]byte{"subqueries.npy": floats(1, 2, 2)}, npy.ErrFormat, "f/subqueries.npy: "},
		{"axes", map[string][]byte{"subqueries.npy": floats(4, 2)}, npy.ErrFormat, "want 3 axes"},
		{"dimensions", map[string][]byte{"questions.npy": floats(2, 3), "subqueries.npy": floats(2, 2, 2)}, npy.ErrFormat, "dimension 2, those of f/questions.npy 3"},
		{"zero vector", map[string][]byte{"questions.npy": zero}, vec.ErrZero, "f/questions.npy: row 1, of f/questions.jsonl:2"},
		{"cut vectors", map[string][]byte{"questions.npy": floats(2, 2)[:80]}, npy.ErrFormat, "f/questions.npy: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := OpenFS(with(c.files), "f")
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
			if got != nil {
				t.Errorf("%d questions beside an error", len(got))
			}
		})
	}
}

func TestOpenOfNoFolder(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "none"))
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), filepath.Join("none", "questions.jsonl")) {
		t.Errorf("error is %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte(twoQuestions), floats(2, 2), floats(2, 2, 2))
	f.Add([]byte(`{"id":1,"question":"x","gold":[1],"subqueries":[]}`), []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, lines, vectors, subQueries []byte) {
		files := map[string][]byte{"questions.jsonl": lines, "questions.npy": vectors, "subqueries.npy": subQueries}
		got, err := OpenFS(with(files), "f")
		if err != nil {
			return
		}
		if n := bytes.Count(lines, []byte("\n")); len(got) < n || len(got) > n+1 {
			t.Fatalf("%d questions from %d lines", len(got), n)
		}
		for _, q := range got {
			fmt.Fprint(io.Discard, q.Query())
		}
	})
}
