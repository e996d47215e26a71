package config

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"

	"github.com/georag/georag/core"
)

// decode overwrites the fields of target that values has. Text becomes a number, a truth value, a duration or a
// list where the field is one, since the environment knows nothing but text; no other conversion is made, and none
// that would lose anything.
func decode(values map[string]any, target any) error {
	decoder, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result: target, TagName: "koanf", ErrorUnused: true,
		DecodeHook: mapstructure.ComposeDecodeHookFunc(durationHook, listHook, scalarHook),
	})
	if err != nil {
		return fmt.Errorf("internal/config: %w", err)
	}
	if err := decoder.Decode(values); err != nil {
		return fmt.Errorf("internal/config: %w: %s", core.ErrInvalid, complaint(err))
	}
	return nil
}

// complaint is the first of the decoder's complaints, by key and in words that are not Go's.
func complaint(err error) string {
	var at *mapstructure.DecodeError
	if !errors.As(err, &at) {
		return err.Error()
	}
	if wrong := (*mapstructure.UnconvertibleTypeError)(nil); errors.As(at, &wrong) {
		return fmt.Sprintf("%s: %v is %s", at.Name(), wrong.Value, not(wrong.Expected.Type()))
	}
	return fmt.Sprintf("%s: %s", at.Name(), at.Unwrap())
}

// not says what a value is not that cannot become a t.
func not(t reflect.Type) string {
	switch kind := t.Kind(); {
	case integer(kind):
		return "no integer"
	case kind == reflect.Float32 || kind == reflect.Float64:
		return "no number"
	case kind == reflect.Bool:
		return "neither true nor false"
	case kind == reflect.String:
		return "no text"
	}
	return "of another kind than what stands here"
}

func durationHook(from, to reflect.Type, value any) (any, error) {
	if to != reflect.TypeFor[time.Duration]() {
		return value, nil
	}
	if text, ok := value.(string); ok {
		if duration, err := time.ParseDuration(text); err == nil {
			return duration, nil
		}
		value = strconv.Quote(text)
	}
	if number, ok := value.(int); ok && number == 0 {
		return time.Duration(0), nil
	}
	return nil, fmt.Errorf("%v is no duration: write it with a unit, as in 2s or 500ms", value)
}

func listHook(from, to reflect.Type, value any) (any, error) {
	text, ok := value.(string)
	if !ok || to.Kind() != reflect.Slice || to.Elem().Kind() != reflect.String {
		return value, nil
	}
	if text == "" {
		return []string{}, nil
	}
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts, nil
}

// scalarHook reads text as the field's kind, and refuses a fraction where an integer is wanted.
func scalarHook(from, to reflect.Type, value any) (any, error) {
	if reflect.PointerTo(to).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return value, nil
	}
	switch v := value.(type) {
	case string:
		return parseScalar(to, v)
	case float64:
		if integer(to.Kind()) {
			if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
				return nil, fmt.Errorf("%v is no integer", v)
			}
			return int64(v), nil
		}
	}
	return value, nil
}

func parseScalar(to reflect.Type, text string) (any, error) {
	switch kind := to.Kind(); {
	case integer(kind):
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no integer", text)
		}
		return n, nil
	case kind == reflect.Float32 || kind == reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no number", text)
		}
		return x, nil
	case kind == reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", text)
		}
		return b, nil
	}
	return text, nil
}

func integer(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uint64 }
