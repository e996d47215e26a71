// Package strictjson decodes JSON that comes from outside: one value and nothing after it, valid UTF-8, bounded
// nesting, no key twice, no key that the target does not have. encoding/json accepts all of these, and matches keys
// without regard to case besides.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Code names a kind of fault. Codes are stable.
type Code string

const (
	Malformed    Code = "malformed_json"
	TooDeep      Code = "too_deep"
	DuplicateKey Code = "duplicate_key"
	UnknownField Code = "unknown_field"
	WrongType    Code = "invalid_type"
	WrongValue   Code = "invalid_value"
)

// Error is a fault of the input. Message does not repeat values of the input, which may be confidential; keys it
// may name.
type Error struct {
	Code    Code
	Field   string // dotted path, "" where the fault has none
	Message string
}

func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("internal/strictjson: %s", e.Message)
	}
	return fmt.Sprintf("internal/strictjson: %s: %s", e.Field, e.Message)
}

// Options of a decoding.
type Options struct {
	// Nesting is the depth of arrays and objects allowed; 0 is 8.
	Nesting int
	// Open allows keys that the target does not have, for protocols whose clients send more than they must.
	Open bool
}

// Decode reads the one JSON object in data into target, a pointer to a struct. The error is an *Error.
func Decode(data []byte, target any, o Options) error {
	if err := Check(data, target, o); err != nil {
		return err
	}
	return located(json.Unmarshal(data, target))
}

// Check is Decode without the decoding: it tells what is wrong with data other than the types of its values.
func Check(data []byte, target any, o Options) error {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
		return &Error{Code: Malformed, Message: "the body is empty, want a JSON object"}
	case !utf8.Valid(data):
		return &Error{Code: Malformed, Message: "the body is not valid UTF-8"}
	case data[0] != '{':
		return &Error{Code: Malformed, Message: "the body is not a JSON object"}
	}
	if o.Nesting == 0 {
		o.Nesting = 8
	}
	w := walker{data: data, nesting: o.Nesting, open: o.Open}
	if err := w.depth(); err != nil {
		return err
	}
	if !json.Valid(data) {
		return located(json.Unmarshal(data, new(json.RawMessage)))
	}
	return w.value(reflect.TypeOf(target), "")
}

// located turns the errors of encoding/json into an *Error. Errors of a type's own UnmarshalJSON become invalid
// values, unless they are an *Error already.
func located(err error) error {
	var (
		own    *Error
		syntax *json.SyntaxError
		types  *json.UnmarshalTypeError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	case errors.As(err, &syntax):
		return &Error{Code: Malformed, Message: fmt.Sprintf("%v, at byte %d", syntax, syntax.Offset)}
	case errors.As(err, &types):
		what, _, isNumber := bytes.Cut([]byte(types.Value), []byte(" "))
		if string(what) == "number" && isNumber {
			return &Error{Code: WrongValue, Field: types.Field, Message: "the number does not fit " + kind(types.Type)}
		}
		return &Error{Code: WrongType, Field: types.Field, Message: fmt.Sprintf("is a %s, want %s", what, kind(types.Type))}
	}
	return &Error{Code: WrongValue, Message: err.Error()}
}

// kind is a type in the words of JSON.
func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Int32, reflect.Uint32:
		return "an integer"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	default:
		return "an object"
	}
}

// maxKey bounds how much of a key an error repeats, and is longer than any that is known.
const maxKey = 64

// walker goes once through valid JSON. It trusts the syntax.
type walker struct {
	data    []byte
	at      int
	nesting int
	open    bool
}

// depth bounds the nesting before anything recurses. It needs no valid syntax.
func (w *walker) depth() error {
	depth, quoted := 0, false
	for i := 0; i < len(w.data); i++ {
		switch c := w.data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > w.nesting {
				return &Error{Code: TooDeep, Message: fmt.Sprintf("arrays and objects are nested deeper than %d", w.nesting)}
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// value goes through one value that is to be decoded into t, nil where anything is allowed.
func (w *walker) value(t reflect.Type, path string) error {
	w.space()
	switch w.data[w.at] {
	case '{':
		return w.object(t, path)
	case '[':
		return w.array(t, path)
	case '"':
		w.text()
	default: // a number or a literal ends where its syntax ends
		for w.at < len(w.data) && bytes.IndexByte([]byte(",]} \t\r\n"), w.data[w.at]) < 0 {
			w.at++
		}
	}
	return nil
}

func (w *walker) object(t reflect.Type, path string) error {
	known := fieldsOf(t)
	seen := map[string]bool{}
	for w.at++; ; w.at++ { // past { or ,
		if w.space(); w.data[w.at] == '}' {
			break
		}
		key := unquote(w.text())
		field := join(path, key)
		if seen[key] {
			return &Error{Code: DuplicateKey, Field: field, Message: "the key is given twice"}
		}
		seen[key] = true
		inner, ok := known[key]
		if known != nil && !ok && !w.open {
			return &Error{Code: UnknownField, Field: field, Message: "unknown field" + Nearest(key, known)}
		}
		w.space()
		w.at++ // past :
		if err := w.value(inner, field); err != nil {
			return err
		}
		if w.space(); w.data[w.at] == '}' {
			break
		}
	}
	w.at++
	return nil
}

func (w *walker) array(t reflect.Type, path string) error {
	var inner reflect.Type
	if t = indirect(t); t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		inner = t.Elem()
	}
	for i := 0; ; i++ {
		w.at++ // past [ or ,
		if w.space(); w.data[w.at] == ']' {
			break
		}
		at := path
		if c := w.data[w.at]; c == '{' || c == '[' {
			at = path + "[" + strconv.Itoa(i) + "]"
		}
		if err := w.value(inner, at); err != nil {
			return err
		}
		if w.space(); w.data[w.at] == ']' {
			break
		}
	}
	w.at++
	return nil
}

// text goes through a string and returns it with its quotes.
func (w *walker) text() []byte {
	start := w.at
	for w.at++; w.data[w.at] != '"'; w.at++ {
		if w.data[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
	return w.data[start:w.at]
}

// unquote returns the text of a valid JSON string.
func unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var text string
	_ = json.Unmarshal(quoted, &text) // valid, as all of the walker's input
	return text
}

func (w *walker) space() {
	for w.at < len(w.data) && (w.data[w.at] == ' ' || w.data[w.at] == '\n' || w.data[w.at] == '\t' || w.data[w.at] == '\r') {
		w.at++
	}
}

// join names a field. Keys that come from outside may be of any length.
func join(path, key string) string {
	if len(key) > maxKey {
		key = strings.ToValidUTF8(key[:maxKey], "") + "…"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
