package milvus

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// decodeJSON reads one JSON value with every digit of its integers: int64 where it fits, else float64, and a
// json.Number for an integer beyond both.
func decodeJSON(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("payload %.60q: %w", data, err)
	}
	return numbers(value), nil
}

// numbers replaces the json.Numbers in a decoded value.
func numbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = numbers(v[key])
		}
	}
	return value
}

func number(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return i
	}
	if !bytes.ContainsAny([]byte(n), ".eE") {
		return n
	}
	f, err := n.Float64()
	if err != nil {
		return n
	}
	return f
}
