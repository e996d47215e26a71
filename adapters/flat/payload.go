package flat

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/jsonl"
)

// payloadOf reads the ID and the payload of a line that was checked when the index was opened.
func payloadOf(line []byte) (id core.ID, payload map[string]any) {
	payload = make(map[string]any, 8)
	gjson.ParseBytes(line).ForEach(func(name, v gjson.Result) bool {
		if name.String() == idField {
			id, _ = jsonl.ID(v) // the zero ID is not the one expected
		} else {
			payload[name.String()] = value(v)
		}
		return true
	})
	return id, payload
}

// value is a JSON value as Go has it, integers with every digit: int64, else uint64, else [json.Number].
func value(v gjson.Result) any {
	switch {
	case v.Type == gjson.Number:
		return number(v)
	case v.IsArray():
		elements := []any{}
		v.ForEach(func(_, element gjson.Result) bool {
			elements = append(elements, value(element))
			return true
		})
		return elements
	case v.IsObject():
		members := map[string]any{}
		v.ForEach(func(name, member gjson.Result) bool {
			members[name.String()] = value(member)
			return true
		})
		return members
	default:
		return v.Value()
	}
}

func number(v gjson.Result) any {
	if strings.ContainsAny(v.Raw, ".eE") {
		return v.Num
	}
	if i, err := strconv.ParseInt(v.Raw, 10, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(v.Raw, 10, 64); err == nil {
		return u
	}
	return json.Number(v.Raw)
}
