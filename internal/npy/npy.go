// Package npy reads and writes NumPy .npy files of float32 and reads those of float16, C order, any rank.
//
// A file is checked before it is trusted: its size must be exactly what its header promises, so that nothing is
// ever allocated from a header alone and no access can leave the data. Whatever is wrong is an error that wraps
// [ErrFormat] and names the file.
package npy

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/edsrzf/mmap-go"
	"github.com/x448/float16"
)

// ErrFormat is wrapped by every complaint about a file's content.
var ErrFormat = errors.New("malformed npy file")

// Matrix is the content of a file, seen as rows of its last axis. It is read-only and safe for concurrent use
// until Close.
type Matrix struct {
	shape   []int
	rows    int
	dim     int
	single  []float32 // the content of a float32 file
	half    []byte    // the content of a float16 file, two bytes a number, little-endian
	mapping mmap.MMap // nil where the content is in ordinary memory
}

// Open maps the file at path into memory. A file that is shortened while it is mapped ends the process, as with
// every mapping: replace files by renaming, not in place.
func Open(path string) (*Matrix, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("internal/npy: %w", err)
	}
	defer file.Close() // the mapping outlives the descriptor
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("internal/npy: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, formatErrorf(path, "is not a regular file")
	}
	if info.Size() < preambleBytes || info.Size() > math.MaxInt {
		return nil, formatErrorf(path, "its size of %d bytes is no .npy file's", info.Size())
	}
	mapping, err := mmap.Map(file, mmap.RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("internal/npy: map %s: %w", path, err)
	}
	m, err := Parse(mapping, path)
	if err != nil {
		return nil, errors.Join(err, mapping.Unmap())
	}
	m.mapping = mapping
	return m, nil
}

// OpenFS reads the named file of fsys into memory.
func OpenFS(fsys fs.FS, name string) (*Matrix, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("internal/npy: %w", err)
	}
	return Parse(data, name)
}

// Parse reads a file's content, which it keeps and which must not change. name is for messages.
func Parse(data []byte, name string) (*Matrix, error) {
	h, err := readHeader(data, name)
	if err != nil {
		return nil, err
	}
	body := data[h.size:]
	m := &Matrix{shape: h.shape, dim: h.dim, rows: h.rows}
	if h.half {
		m.half = body
	} else {
		m.single = floats(body)
	}
	return m, nil
}

// Shape returns the length of each axis.
func (m *Matrix) Shape() []int { return slices.Clone(m.shape) }

// Rows is the product of all axes but the last.
func (m *Matrix) Rows() int { return m.rows }

// Dim is the length of the last axis.
func (m *Matrix) Dim() int { return m.dim }

// Type names the stored type: "float32" or "float16".
func (m *Matrix) Type() string {
	if m.half != nil {
		return "float16"
	}
	return "float32"
}

// Row copies row i to dst, which is allocated where it is nil and has length Dim otherwise, and returns dst.
func (m *Matrix) Row(dst []float32, i int) []float32 {
	if dst == nil {
		dst = make([]float32, m.dim)
	}
	if m.half == nil {
		copy(dst, m.single[i*m.dim:(i+1)*m.dim])
		return dst
	}
	row := m.half[2*i*m.dim : 2*(i+1)*m.dim]
	for j := range dst {
		dst[j] = float16.Frombits(uint16(row[2*j]) | uint16(row[2*j+1])<<8).Float32()
	}
	return dst
}

// View returns row i without copying where the file stores float32, and otherwise as [Matrix.Row] does in
// scratch. The result must not be written to and is valid until Close.
func (m *Matrix) View(scratch []float32, i int) []float32 {
	if m.half == nil {
		return m.single[i*m.dim : (i+1)*m.dim : (i+1)*m.dim]
	}
	return m.Row(scratch, i)
}

// Close unmaps the file. No view may be used afterwards. Closing twice is no error.
func (m *Matrix) Close() error {
	m.single, m.half = nil, nil
	if m.mapping == nil {
		return nil
	}
	if err := m.mapping.Unmap(); err != nil { // sets mapping to nil
		return fmt.Errorf("internal/npy: unmap: %w", err)
	}
	return nil
}

func formatErrorf(name, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %w", name, ErrFormat, fmt.Errorf(format, args...))
}
