package npy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/sbinet/npyio/npy"
)

const (
	// preambleBytes is the shortest beginning of a file: magic, version and a two-byte header length.
	preambleBytes = 10
	// maxHeaderBytes is far above any header of numbers; NumPy itself refuses to evaluate longer ones.
	maxHeaderBytes = 10000
	maxRank        = 32
)

// header is what a file says of itself, checked against its size.
type header struct {
	size  int // bytes before the data
	shape []int
	rows  int
	dim   int
	half  bool
}

// readHeader reads the header of a file whose whole content is data.
func readHeader(data []byte, name string) (header, error) {
	var h header
	size, err := headerSize(data)
	if err != nil {
		return h, formatErrorf(name, "%w", err)
	}
	described, err := describe(data[:size])
	if err != nil {
		return h, formatErrorf(name, "%w", err)
	}
	h.size, h.shape = size, described.Shape
	width := 4
	switch described.Type {
	case "<f4":
	case "<f2":
		h.half, width = true, 2
	case ">f4", ">f2":
		return h, formatErrorf(name, "its numbers are big-endian (%s); save it with astype('<f4')", described.Type)
	default:
		return h, formatErrorf(name, "its type is %.40q, want float32 (<f4) or float16 (<f2)", described.Type)
	}
	if described.Fortran && len(h.shape) > 1 {
		return h, formatErrorf(name, "it is in Fortran order; save numpy.ascontiguousarray of it")
	}
	if err := h.measure(width, len(data)-size); err != nil {
		return h, formatErrorf(name, "%w", err)
	}
	return h, nil
}

// headerSize returns where the data begin, by the length that the file states of its header.
func headerSize(data []byte) (int, error) {
	if len(data) < preambleBytes || !bytes.HasPrefix(data, npy.Magic[:]) {
		return 0, fmt.Errorf("it does not begin as an .npy file")
	}
	var size int
	switch major := data[6]; major {
	case 1:
		size = preambleBytes + int(binary.LittleEndian.Uint16(data[8:]))
	case 2:
		if len(data) < 12 {
			return 0, fmt.Errorf("it ends within its header")
		}
		size = 12 + int(min(binary.LittleEndian.Uint32(data[8:]), math.MaxInt32))
	default:
		return 0, fmt.Errorf("its format version is %d, want 1 or 2", major)
	}
	if size > maxHeaderBytes {
		return 0, fmt.Errorf("its header claims %d bytes, more than %d", size, maxHeaderBytes)
	}
	if size > len(data) {
		return 0, fmt.Errorf("it ends within its header")
	}
	return size, nil
}

// description is the dictionary of a header.
type description struct {
	Type    string
	Fortran bool
	Shape   []int
}

// describe has the library read a header. The library slices without looking, so that a dictionary other than
// NumPy's own makes it panic: that is a malformed file like any other.
func describe(head []byte) (d description, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("its header is no NumPy dictionary")
		}
	}()
	r, err := npy.NewReader(bytes.NewReader(head))
	if err != nil {
		return d, fmt.Errorf("its header: %w", err)
	}
	return description{Type: r.Header.Descr.Type, Fortran: r.Header.Descr.Fortran, Shape: r.Header.Descr.Shape}, nil
}

// measure checks the shape against the bytes that follow the header.
func (h *header) measure(width, available int) error {
	if len(h.shape) == 0 || len(h.shape) > maxRank {
		return fmt.Errorf("it has %d axes, want 1 to %d", len(h.shape), maxRank)
	}
	h.dim, h.rows = h.shape[len(h.shape)-1], 1
	if h.dim == 0 {
		return fmt.Errorf("its shape is %v: the last axis is empty", h.shape)
	}
	for _, n := range h.shape[:len(h.shape)-1] {
		if n < 0 || !multiply(&h.rows, n) {
			return fmt.Errorf("its shape is %v: impossible", h.shape)
		}
	}
	want := h.rows
	if h.dim < 0 || !multiply(&want, h.dim) || !multiply(&want, width) {
		return fmt.Errorf("its shape is %v: impossible", h.shape)
	}
	switch {
	case available < want:
		return fmt.Errorf("its shape is %v, which needs %d bytes, and it is cut off after %d", h.shape, want, available)
	case available > want:
		return fmt.Errorf("its shape is %v, which needs %d bytes, and %d more follow", h.shape, want, available-want)
	}
	return nil
}

// multiply sets *product to *product·n, which are not negative, unless that overflows.
func multiply(product *int, n int) bool {
	high, low := bits.Mul64(uint64(*product), uint64(n))
	if high != 0 || low > math.MaxInt {
		return false
	}
	*product = int(low)
	return true
}
