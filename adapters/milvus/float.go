package milvus

import (
	"encoding/binary"
	"math"

	"github.com/x448/float16"
)

// Half-precision vectors travel as little-endian bytes, two for each component.

func decodeFloat16(data []byte) []float32 {
	v := make([]float32, len(data)/2)
	for i := range v {
		v[i] = float16.Frombits(binary.LittleEndian.Uint16(data[2*i:])).Float32()
	}
	return v
}

func encodeFloat16(v []float32) []byte {
	data := make([]byte, 0, 2*len(v))
	for _, x := range v {
		data = binary.LittleEndian.AppendUint16(data, float16.Fromfloat32(x).Bits())
	}
	return data
}

// A bfloat16 is the upper half of a float32.
func decodeBFloat16(data []byte) []float32 {
	v := make([]float32, len(data)/2)
	for i := range v {
		v[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(data[2*i:])) << 16)
	}
	return v
}

// encodeBFloat16 rounds to nearest, ties to even. Components are finite.
func encodeBFloat16(v []float32) []byte {
	data := make([]byte, 0, 2*len(v))
	for _, x := range v {
		bits := math.Float32bits(x)
		bits += 0x7fff + bits>>16&1
		data = binary.LittleEndian.AppendUint16(data, uint16(bits>>16))
	}
	return data
}
