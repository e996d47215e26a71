package qdrant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	qd "github.com/qdrant/go-client/qdrant"

	"github.com/georag/georag/core"
)

// decodePayload turns a payload into plain Go values: nil, bool, int64, float64, string, []any, map[string]any.
func decodePayload(fields map[string]*qd.Value) map[string]any {
	payload := make(map[string]any, len(fields))
	for name, value := range fields {
		payload[name] = decodeValue(value)
	}
	return payload
}

func decodeValue(value *qd.Value) any {
	switch v := value.GetKind().(type) {
	case *qd.Value_BoolValue:
		return v.BoolValue
	case *qd.Value_IntegerValue:
		return v.IntegerValue
	case *qd.Value_DoubleValue:
		return v.DoubleValue
	case *qd.Value_StringValue:
		return v.StringValue
	case *qd.Value_StructValue:
		return decodePayload(v.StructValue.GetFields())
	case *qd.Value_ListValue:
		values := make([]any, len(v.ListValue.GetValues()))
		for i, item := range v.ListValue.GetValues() {
			values[i] = decodeValue(item)
		}
		return values
	default:
		return nil
	}
}

// encodePayload turns a passage's payload into Qdrant's values. Integers keep every digit; what has no exact form
// there is an error.
func encodePayload(payload map[string]any) (map[string]*qd.Value, error) {
	fields := make(map[string]*qd.Value, len(payload)+1)
	for name, value := range payload {
		encoded, err := encodeValue(value)
		if err != nil {
			return nil, fmt.Errorf("payload %q: %w", name, err)
		}
		fields[name] = encoded
	}
	return fields, nil
}

func encodeValue(value any) (*qd.Value, error) {
	switch v := value.(type) {
	case nil:
		return qd.NewValueNull(), nil
	case bool:
		return qd.NewValueBool(v), nil
	case int64:
		return qd.NewValueInt(v), nil
	case string:
		return qd.NewValueString(strings.ToValidUTF8(v, "\uFFFD")), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%w: %v is no JSON number", core.ErrInvalid, v)
		}
		return qd.NewValueDouble(v), nil
	case json.Number:
		return encodeNumber(v)
	case []any:
		values := make([]*qd.Value, len(v))
		for i, item := range v {
			encoded, err := encodeValue(item)
			if err != nil {
				return nil, err
			}
			values[i] = encoded
		}
		return qd.NewValueFromList(values...), nil
	case map[string]any:
		fields, err := encodePayload(v)
		if err != nil {
			return nil, err
		}
		return qd.NewValueFromFields(fields), nil
	default:
		return encodeAsJSON(v)
	}
}

func encodeNumber(n json.Number) (*qd.Value, error) {
	if i, err := n.Int64(); err == nil {
		return qd.NewValueInt(i), nil
	}
	f, err := n.Float64()
	if err != nil || !strings.ContainsAny(n.String(), ".eE") {
		return nil, fmt.Errorf("%w: Qdrant keeps no integer %s exactly", core.ErrInvalid, n)
	}
	return qd.NewValueDouble(f), nil
}

// encodeAsJSON takes every other Go type as encoding/json writes it.
func encodeAsJSON(value any) (*qd.Value, error) {
	document, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", core.ErrInvalid, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		return nil, fmt.Errorf("%w: %w", core.ErrInvalid, err)
	}
	return encodeValue(plain)
}
