package httpapi

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"

	"github.com/georag/georag/core/vec"
)

// Vector is a vector in JSON: an array of numbers, or a string of base64 (RFC 4648 §4, padded) over little-endian
// float32 values, which is smaller and faster to read.
type Vector struct {
	values []float32
	fault  string // why a string is no vector; told by check, which knows the field
}

// NewVector returns values as a Vector.
func NewVector(values []float32) Vector { return Vector{values: values} }

// Values returns the components; nil where no vector was given.
func (v Vector) Values() []float32 { return v.values }

// MarshalJSON writes base64.
func (v Vector) MarshalJSON() ([]byte, error) {
	if v.values == nil {
		return []byte("null"), nil
	}
	raw := make([]byte, 0, 4*len(v.values))
	for _, x := range v.values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(raw))
}

// UnmarshalJSON reads either form, or null.
func (v *Vector) UnmarshalJSON(data []byte) error {
	*v = Vector{}
	if len(data) == 0 || data[0] != '"' {
		return json.Unmarshal(data, &v.values)
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw)%4 != 0 || len(raw) == 0 {
		v.fault = "the string is not base64 of one or more float32 values"
		return nil
	}
	v.values = make([]float32, len(raw)/4)
	for i := range v.values {
		v.values[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return nil
}

// check reports a vector that cannot be searched for; an absent one passes.
func (v Vector) check(field string, l Limits) *Fault {
	switch {
	case v.fault != "":
		return invalid(field, "%s", v.fault)
	case v.values == nil:
		return nil
	case len(v.values) > l.Dimension:
		return invalid(field, "has %d components, want at most %d", len(v.values), l.Dimension)
	}
	if err := vec.Check(v.values, 0); err != nil {
		f := FaultOf(err)
		f.Field = field
		return f
	}
	return nil
}
