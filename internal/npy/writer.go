package npy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// writtenHeaderBytes is the header of every written file: a multiple of 64 as NumPy wants, with room for any
// number of rows.
const writtenHeaderBytes = 128

// Writer writes rows of float32 as a two-dimensional file whose number of rows need not be known beforehand.
type Writer struct {
	file io.WriteSeeker
	rows *bufio.Writer
	dim  int
	n    int
	word [4]byte
}

// NewWriter begins a file of rows of length dim at the beginning of file, which must be empty.
func NewWriter(file io.WriteSeeker, dim int) (*Writer, error) {
	if dim < 1 {
		return nil, fmt.Errorf("internal/npy: rows of length %d cannot be written", dim)
	}
	w := &Writer{file: file, rows: bufio.NewWriterSize(file, 1<<16), dim: dim}
	if _, err := w.rows.Write(writtenHeader(0, dim)); err != nil {
		return nil, fmt.Errorf("internal/npy: %w", err)
	}
	return w, nil
}

// Write appends one row.
func (w *Writer) Write(row []float32) error {
	if len(row) != w.dim {
		return fmt.Errorf("internal/npy: row %d has length %d, want %d", w.n, len(row), w.dim)
	}
	for _, x := range row {
		binary.LittleEndian.PutUint32(w.word[:], math.Float32bits(x))
		if _, err := w.rows.Write(w.word[:]); err != nil {
			return fmt.Errorf("internal/npy: %w", err)
		}
	}
	w.n++
	return nil
}

// Close completes the file by putting the number of rows into its header. It does not close the underlying file.
func (w *Writer) Close() error {
	if err := w.rows.Flush(); err != nil {
		return fmt.Errorf("internal/npy: %w", err)
	}
	_, err := w.file.Seek(0, io.SeekStart)
	if err == nil {
		_, err = w.file.Write(writtenHeader(w.n, w.dim))
	}
	_, seekErr := w.file.Seek(0, io.SeekEnd)
	if err := errors.Join(err, seekErr); err != nil {
		return fmt.Errorf("internal/npy: %w", err)
	}
	return nil
}

// writtenHeader is a version 1 header, padded with spaces.
func writtenHeader(rows, dim int) []byte {
	dictionary := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, dim)
	padding := strings.Repeat(" ", writtenHeaderBytes-preambleBytes-len(dictionary)-1)
	head := append([]byte("\x93NUMPY\x01\x00"), writtenHeaderBytes-preambleBytes, 0)
	return append(head, dictionary+padding+"\n"...)
}
