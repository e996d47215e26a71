package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sbinet/npyio/npy"
	"github.com/x448/float16"
	"pgregory.net/rapid"
)

// file puts a version 1 header of any content before data.
func file(dictionary string, data []byte) []byte {
	head := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(head[8:], uint16(len(dictionary)))
	return slices.Concat(head, []byte(dictionary), data)
}

// numbers is a file of float32 as NumPy writes it.
func numbers(shape string, values ...float32) []byte {
	data, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		panic(err)
	}
	return file(fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': %s, }    \n", shape), data)
}

func TestEveryWayToOpenReadsTheSame(t *testing.T) {
	content := numbers("(2, 2, 3)", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -11)
	path := filepath.Join(t.TempDir(), "m.npy")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	unaligned := append([]byte{0}, content...)[1:]
	for name, open := range map[string]func() (*Matrix, error){
		"mapped":    func() (*Matrix, error) { return Open(path) },
		"fs":        func() (*Matrix, error) { return OpenFS(fstest.MapFS{"a/m.npy": {Data: content}}, "a/m.npy") },
		"memory":    func() (*Matrix, error) { return Parse(content, "m.npy") },
		"unaligned": func() (*Matrix, error) { return Parse(unaligned, "m.npy") },
	} {
		t.Run(name, func(t *testing.T) {
			m, err := open()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(m.Shape(), []int{2, 2, 3}) || m.Rows() != 4 || m.Dim() != 3 || m.Type() != "float32" {
				t.Errorf("shape %v, %d rows of %d, %s", m.Shape(), m.Rows(), m.Dim(), m.Type())
			}
			if got := m.Row(nil, 3); !slices.Equal(got, []float32{9, 10, -11}) {
				t.Errorf("row 3 is %v", got)
			}
			if got := m.View(nil, 1); !slices.Equal(got, []float32{3, 4, 5}) || cap(got) != 3 {
				t.Errorf("view of row 1 is %v of capacity %d", got, cap(got))
			}
			for range 2 {
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestHalfPrecision(t *testing.T) {
	want := []float32{0, 1, -2.5, 65504, float32(math.Inf(-1)), 5.9604645e-08}
	var data []byte
	for _, x := range want {
		data = binary.LittleEndian.AppendUint16(data, float16.Fromfloat32(x).Bits())
	}
	m, err := Parse(file("{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }\n", data), "half.npy")
	if err != nil {
		t.Fatal(err)
	}
	scratch := make([]float32, 3)
	if got := slices.Concat(m.Row(nil, 0), m.View(scratch, 1)); !slices.Equal(got, want) || m.Type() != "float16" {
		t.Errorf("%s %v, want %v", m.Type(), got, want)
	}
}

func TestCorruptFilesAreErrors(t *testing.T) {
	good := numbers("(2, 3)", 1, 2, 3, 4, 5, 6)
	changed := func(old, new string) []byte { return bytes.Replace(good, []byte(old), []byte(new), 1) }
	for _, c := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"empty", nil, "does not begin as an .npy file"},
		{"text", []byte(`{"id":"p1","text":"not a matrix"}`), "does not begin as an .npy file"},
		{"cut in the header", good[:40], "ends within its header"},
		{"cut in the data", good[:len(good)-1], "needs 24 bytes, and it is cut off after 23"},
		{"trailing bytes", append(slices.Clone(good), 0), "needs 24 bytes, and 1 more follow"},
		{"a billion rows", numbers("(1000000000, 3)", 1, 2, 3), "needs 12000000000 bytes, and it is cut off after 12"},
		{"float64", changed("<f4", "<f8"), `its type is "<f8", want float32 (<f4) or float16 (<f2)`},
		{"integers", changed("<f4", "<i4"), `its type is "<i4"`},
		{"big-endian", changed("<f4", ">f4"), "big-endian"},
		{"Fortran order", file("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }\n", make([]byte, 4)), "Fortran order"},
		{"scalar", changed("(2, 3), ", "(), "), "it has 0 axes"},
		{"empty rows", changed("(2, 3)", "(2, 0)"), "the last axis is empty"},
		{"negative", changed("(2, 3)", "(-2,3)"), "impossible"},
		{"version 9", changed("\x01\x00", "\x09\x00"), "format version is 9"},
		{"no dictionary", file("hello, world\n", nil), "invalid dictionary format"},
		{"no newline", file("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }", make([]byte, 4)), "no NumPy dictionary"},
		{"swapped dictionary", file("{'shape': (1, 1), 'fortran_order': False, 'descr': '<f4'}\n", make([]byte, 4)), "its header"},
		{"beyond int64", numbers("(10000000000000000000, 3)"), "its header: "},
		{"overflow", numbers("(4611686018427387904, 4)"), "impossible"},
		{"header of 4 GiB", append([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"), make([]byte, 100)...), "its header claims"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bad.npy")
			if err := os.WriteFile(path, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Parse(c.content, "bad.npy")
			checkComplaint(t, err, "bad.npy", c.want)
			_, err = Open(path)
			want := c.want
			if len(c.content) < preambleBytes {
				want = "bytes is no .npy file's"
			}
			checkComplaint(t, err, path, want)
		})
	}
}

func checkComplaint(t *testing.T, err error, name, want string) {
	t.Helper()
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v, want one that names %s and says %q", err, name, want)
	}
}

func TestOpenOfNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none.npy")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	_, err := Open(dir)
	checkComplaint(t, err, dir, "not a regular file")
}

// TestWriterIsReadByOthersAndByUs writes any rows and reads them by the library and by Open.
func TestWriterIsReadByOthersAndByUs(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 9).Draw(t, "dim")
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.Float32(), dim, dim), 0, 12).Draw(t, "rows")
		path := filepath.Join(dir, "w.npy")
		write(t, path, dim, rows)
		m, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if m.Rows() != len(rows) || m.Dim() != dim {
			t.Fatalf("%d rows of %d, wrote %d of %d", m.Rows(), m.Dim(), len(rows), dim)
		}
		for i, row := range rows {
			if got := m.Row(nil, i); !slices.Equal(got, row) {
				t.Fatalf("row %d is %v, wrote %v", i, got, row)
			}
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var all []float32
		if err := npy.Read(file, &all); err != nil || !slices.Equal(all, slices.Concat(rows...)) {
			t.Fatalf("the library reads %v, error %v", all, err)
		}
	})
}

func write(t *rapid.T, path string, dim int, rows [][]float32) {
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := NewWriter(file, dim)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Write(make([]float32, dim+1)); err == nil {
		t.Fatal("a row of another length is written")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(numbers("(2, 3)", 1, 2, 3, 4, 5, 6))
	f.Add(file("{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }\n", make([]byte, 6)))
	f.Add(file("{'descr': '<f4', 'fortran_order': True, 'shape': (0, 3), }\n", nil))
	f.Add(append([]byte("\x93NUMPY\x02\x00\x20\x00\x00\x00"), make([]byte, 40)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data, "fuzz.npy")
		if err != nil {
			if !errors.Is(err, ErrFormat) || !strings.HasPrefix(err.Error(), "fuzz.npy: ") {
				t.Fatalf("error does not name the file: %v", err)
			}
			return
		}
		if m.Rows()*m.Dim()*2 > len(data) {
			t.Fatalf("%d × %d numbers in %d bytes", m.Rows(), m.Dim(), len(data))
		}
		for i := range min(m.Rows(), 100) {
			m.View(make([]float32, m.Dim()), i)
		}
	})
}
