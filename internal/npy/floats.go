package npy

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// littleEndian says whether this machine stores numbers as the file does.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// floats returns the float32 that data holds, without copying where this machine can read them in place.
func floats(data []byte) []float32 {
	n := len(data) / 4
	if n == 0 {
		return []float32{}
	}
	if littleEndian && uintptr(unsafe.Pointer(&data[0]))%unsafe.Alignof(float32(0)) == 0 {
		return unsafe.Slice((*float32)(unsafe.Pointer(&data[0])), n)
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return values
}
