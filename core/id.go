package core

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// ID identifies a passage in its store. It holds either an integer in [-2^63, 2^64) or a string, and returns
// exactly what was put in: integers above 2^53 keep every digit and UUIDs stay the strings they are. IDs are
// comparable, so they are usable as map keys; the zero ID identifies nothing.
type ID struct {
	kind   idKind
	number uint64 // an integer's value, or for a negative one its two's complement
	text   string
}

type idKind uint8

const (
	idNone idKind = iota
	idNegative
	idNatural
	idText
)

// UintID is the ID of an unsigned key (Qdrant).
func UintID(u uint64) ID { return ID{kind: idNatural, number: u} }

// IntID is the ID of a signed key (Milvus). IntID(5) equals UintID(5).
func IntID(i int64) ID {
	if i < 0 {
		return ID{kind: idNegative, number: uint64(i)}
	}
	return UintID(uint64(i))
}

// StringID is the ID of a textual key: a varchar, or a UUID in the form its store prints.
func StringID(s string) ID { return ID{kind: idText, text: s} }

// ParseID reads an ID as a person types it: a decimal integer in canonical form is an integer, all else text.
func ParseID(s string) ID {
	if u, err := strconv.ParseUint(s, 10, 64); err == nil && strconv.FormatUint(u, 10) == s {
		return UintID(u)
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil && strconv.FormatInt(i, 10) == s {
		return IntID(i)
	}
	return StringID(s)
}

// IsZero reports whether id identifies nothing.
func (id ID) IsZero() bool { return id.kind == idNone }

// Uint returns an integer ID's value; ok is false for text and for negative integers.
func (id ID) Uint() (u uint64, ok bool) { return id.number, id.kind == idNatural }

// Int returns an integer ID's value; ok is false for text and for integers of 2^63 and above.
func (id ID) Int() (i int64, ok bool) {
	fits := id.kind == idNegative || id.kind == idNatural && id.number < 1<<63
	return int64(id.number), fits
}

// Text returns a textual ID's string; ok is false for integers.
func (id ID) Text() (s string, ok bool) { return id.text, id.kind == idText }

// String prints an integer in decimal and text as it is.
func (id ID) String() string {
	switch id.kind {
	case idNegative:
		return strconv.FormatInt(int64(id.number), 10)
	case idNatural:
		return strconv.FormatUint(id.number, 10)
	default:
		return id.text
	}
}

// CompareID orders IDs: the zero ID, then integers by value, then text by bytes. Ties between candidates are
// broken by this order.
func CompareID(a, b ID) int {
	if a.kind != b.kind {
		return cmp.Compare(a.kind, b.kind)
	}
	if a.kind == idText {
		return strings.Compare(a.text, b.text)
	}
	return cmp.Compare(a.number, b.number)
}

// MarshalJSON writes an integer as a JSON number with every digit, text as a string, and the zero ID as null.
func (id ID) MarshalJSON() ([]byte, error) {
	switch id.kind {
	case idNone:
		return []byte("null"), nil
	case idText:
		return json.Marshal(id.text)
	default:
		return []byte(id.String()), nil
	}
}

// UnmarshalJSON reads what [ID.MarshalJSON] writes. Numbers that are not integers are an error.
func (id *ID) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	if len(data) > 0 && data[0] == '"' {
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		*id = StringID(s)
		return nil
	}
	if string(data) == "null" {
		*id = ID{}
		return nil
	}
	parsed := ParseID(string(data))
	if parsed.kind == idText {
		return fmt.Errorf("core: id %s is neither an integer nor a string", data)
	}
	*id = parsed
	return nil
}
