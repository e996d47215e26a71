package flat

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/jsonl"
	"github.com/georag/georag/internal/npy"
)

// matrix is an .npy file of n rows of the given dimension, counting from 1.
func matrix(n, dim int) []byte {
	dictionary := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }\n", n, dim)
	data := append([]byte("\x93NUMPY\x01\x00"), byte(len(dictionary)), 0)
	data = append(data, dictionary...)
	for i := range n * dim {
		data, _ = binary.Append(data, binary.LittleEndian, float32(i+1))
	}
	return data
}

// reshaped is an .npy file whose header says something else.
func reshaped(file []byte, old, other string) []byte {
	const preamble = 10
	end := preamble + int(binary.LittleEndian.Uint16(file[8:]))
	header := bytes.Replace(file[preamble:end], []byte(old), []byte(other), 1)
	changed := append(slices.Clone(file[:8]), byte(len(header)), 0)
	return append(append(changed, header...), file[end:]...)
}

// folderOf writes files into a fresh folder.
func folderOf(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestMalformedFoldersAreErrorsThatNameThePlace(t *testing.T) {
	const lines = "{\"id\":1,\"t\":\"a\"}\n{\"id\":2,\"t\":\"b\"}\n"
	good := matrix(2, 3)
	const manifest = `{"version":1,"dimension":3,"metric":"dot","parts":[{"passages":"passages.jsonl","vectors":"passages.npy","rows":2}],"next":1}`
	for _, c := range []struct {
		name, lines string
		vectors     []byte
		manifest    string
		err         error
		want        string
	}{
		{"empty lines", "", good, "", jsonl.ErrFormat, "passages.jsonl:1: malformed file: the file ends here, and"},
		{"both empty", "", matrix(0, 3), "", core.ErrEmptyIndex, "passages.jsonl:1: malformed file: empty index"},
		{"empty vectors", lines, nil, "", npy.ErrFormat, "passages.npy: malformed npy file"},
		{"byte order mark", "\xef\xbb\xbf" + lines, good, "", jsonl.ErrFormat, "passages.jsonl:1: malformed file: starts with a byte order mark"},
		{"torn line", lines[:len(lines)-4], good, "", jsonl.ErrFormat, "passages.jsonl:2: "},
		{"blank line", strings.Replace(lines, "\n", "\n\n", 1), good, "", jsonl.ErrFormat, "passages.jsonl:2: malformed file: blank line"},
		{"no id", "{\"id\":1}\n{\"t\":\"b\"}\n", good, "", jsonl.ErrFormat, `passages.jsonl:2: malformed file: "id" is missing`},
		{"id is a fraction", "{\"id\":1}\n{\"id\":1.5}\n", good, "", jsonl.ErrFormat, "passages.jsonl:2: malformed file: id 1.5 is not an integer"},
		{"field twice", "{\"id\":1}\n{\"id\":2,\"t\":1,\"t\":2}\n", good, "", jsonl.ErrFormat, `passages.jsonl:2: malformed file: "t" appears twice`},
		{"id twice", "{\"id\":1}\n{\"id\":1}\n", good, "", jsonl.ErrFormat, `passages.jsonl:2: malformed file: id "1" is already on line 1`},
		{"a line too many", lines + "{\"id\":3}\n", good, "", jsonl.ErrFormat, "passages.jsonl:3: malformed file: there is no vector for this line"},
		{"a line too few", "{\"id\":1}\n", good, "", jsonl.ErrFormat, "passages.jsonl:2: malformed file: the file ends here"},
		{"cut vectors", lines, good[:len(good)-1], "", npy.ErrFormat, "passages.npy: malformed npy file: its shape is [2 3], which needs 24 bytes, and it is cut off after 23"},
		{"one axis", lines, reshaped(good, "(2, 3)", "(6, )"), "", npy.ErrFormat, "passages.npy: malformed npy file: it has 1 axes, want 2"},
		{"three axes", lines, reshaped(good, "(2, 3)", "(2, 1, 3)"), "", npy.ErrFormat, "passages.npy: malformed npy file: it has 3 axes, want 2"},
		{"Fortran order", lines, reshaped(good, "False", "True"), "", npy.ErrFormat, "passages.npy: malformed npy file: it is in Fortran order"},
		{"float64", lines, reshaped(good, "<f4", "<f8"), "", npy.ErrFormat, `passages.npy: malformed npy file: its type is "<f8"`},
		{"a billion rows", lines, reshaped(good, "(2, 3)", "(1000000000, 3)"), "", npy.ErrFormat, "which needs 12000000000 bytes, and it is cut off after 24"},
		{"UTF-16", "\xff\xfe{\x00", good, "", jsonl.ErrFormat, "passages.jsonl:1: malformed file: is UTF-16"},
		{"not UTF-8", strings.Replace(lines, "b", "\xe4", 1), good, "", jsonl.ErrFormat, "passages.jsonl:2: malformed file: invalid UTF-8"},
		{"manifest is no JSON", lines, good, `{"version":`, errManifest, "index.json: malformed index.json: unexpected EOF"},
		{"manifest of the future", lines, good, strings.Replace(manifest, `"version":1`, `"version":2`, 1), errManifest, "its version is 2, want 1"},
		{"manifest reaches outside", lines, good, strings.Replace(manifest, `"passages.npy"`, `"../passages.npy"`, 1), errManifest, `"../passages.npy" is no file beside it`},
		{"manifest of more rows", lines, good, strings.Replace(manifest, `"rows":2`, `"rows":3`, 1), jsonl.ErrFormat, "passages.jsonl:3: malformed file: the file ends here, and"},
		{"manifest of another dimension", lines, good, strings.Replace(manifest, `"dimension":3`, `"dimension":4`, 1), core.ErrDimension, "rows have length 3, those of the index 4"},
		{"manifest of another metric", lines, good, strings.Replace(manifest, "dot", "hamming", 1), errManifest, `its metric is "hamming"`},
		{"manifest of missing files", lines, good, strings.Replace(manifest, `"passages.npy"`, `"gone.npy"`, 1), os.ErrNotExist, "gone.npy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string][]byte{linesFile: []byte(c.lines), vectorsFile: c.vectors}
			if c.manifest != "" {
				files[manifestFile] = []byte(c.manifest)
			}
			dir := folderOf(t, files)
			s, err := Open(Config{Dir: dir})
			checkComplaint(t, s, err, c.err, c.want)
			if err != nil && !strings.Contains(err.Error(), dir) {
				t.Errorf("error %q does not name the file's folder", err)
			}
			fsys := fstest.MapFS{}
			for name, data := range files {
				fsys["f/"+name] = &fstest.MapFile{Data: data}
			}
			s, err = OpenFS(fsys, "f", Config{})
			checkComplaint(t, s, err, c.err, c.want)
		})
	}
}

func checkComplaint(t *testing.T, s *Store, err, target error, want string) {
	t.Helper()
	if s != nil {
		t.Errorf("a store beside the error %v", err)
	}
	if !errors.Is(err, target) || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v, want one that wraps %v and says %q", err, target, want)
	}
	if err != nil && strings.Count(err.Error(), "adapters/flat: ") != 1 {
		t.Errorf("error %q does not name the package once", err)
	}
}

// TestUnknownFieldsAreNamedOnce: one that a setting names and one that a filter names.
func TestUnknownFieldsAreNamedOnce(t *testing.T) {
	dir := folderOf(t, map[string][]byte{linesFile: []byte("{\"id\":1,\"t\":\"a\"}\n"), vectorsFile: matrix(1, 3)})
	for _, cfg := range []Config{{Dir: dir, TenantKey: "absent"}, {Dir: dir, TextField: "absent"}} {
		s, err := Open(cfg)
		checkComplaint(t, s, err, core.ErrNotFound, `field "absent"; there are t`)
	}
	s := mustOpen(t, Config{Dir: dir})
	defer s.Close()
	_, err := s.Search(t.Context(), core.SearchRequest{Vector: []float32{1, 0, 0}, K: 1, Scope: core.Scope{Filter: "absent=1"}})
	checkComplaint(t, nil, err, core.ErrNotFound, `filter "absent=1": not found: no passage has the field "absent"; there are t`)
}

func TestFolderThatDoesNotExist(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	for _, open := range []func() (*Store, error){
		func() (*Store, error) { return Open(Config{Dir: dir}) },
		func() (*Store, error) { return OpenFS(fstest.MapFS{}, "none", Config{}) },
	} {
		s, err := open()
		checkComplaint(t, s, err, core.ErrNotFound, "none")
	}
	for _, cfg := range []Config{{}, {Dir: dir, Metric: "hamming"}, {Dir: dir, TenantKey: "id"}, {Dir: dir, TextField: "id"}} {
		s, err := Open(cfg)
		checkComplaint(t, s, err, core.ErrInvalid, "adapters/flat: invalid: ")
	}
}

// TestWindowsLineEnds: a line may end in CR LF, and its payload is the same.
func TestWindowsLineEnds(t *testing.T) {
	s := mustOpen(t, Config{Dir: folderOf(t, map[string][]byte{
		linesFile: []byte("{\"id\":1,\"t\":\"a\"}\r\n{\"id\":\"1\",\"t\":\"b\"}\r\n"), vectorsFile: matrix(2, 3),
	})})
	defer s.Close()
	found, err := s.Fetch(t.Context(), core.FetchRequest{IDs: []core.ID{core.StringID("1"), core.IntID(1)}})
	if err != nil || len(found) != 2 || found[0].Payload["t"] != "b" || found[1].Payload["t"] != "a" {
		t.Errorf("fetched %v, error %v", found, err)
	}
}

// TestOverwrittenLinesAreNoticed: what is written over an open file is not passed off as a passage.
func TestOverwrittenLinesAreNoticed(t *testing.T) {
	const lines = "{\"id\":1,\"t\":\"aaaa\"}\n{\"id\":2,\"t\":\"bbbb\"}\n"
	for name, overwritten := range map[string]string{
		"moved":   "{\"id\":3,\"t\":\"a\"}\n{\"id\":1,\"t\":\"aaaa\"}\n{\"id\":2,\"t\":\"bbbb\"}\n",
		"shorter": "{\"id\":1}\n",
		"other":   "{\"id\":2,\"t\":\"aaaa\"}\n{\"id\":1,\"t\":\"bbbb\"}\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := folderOf(t, map[string][]byte{linesFile: []byte(lines), vectorsFile: matrix(2, 3)})
			s := mustOpen(t, Config{Dir: dir})
			defer s.Close()
			if err := os.WriteFile(filepath.Join(dir, linesFile), []byte(overwritten), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := s.Fetch(t.Context(), core.FetchRequest{IDs: []core.ID{core.IntID(1)}})
			if !errors.Is(err, core.ErrUnavailable) {
				t.Errorf("error is %v", err)
			}
		})
	}
}
