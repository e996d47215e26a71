package jsonl

import (
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/georag/georag/core"
)

// ID reads a passage's identifier: an integer in [-2^63, 2^64) or a string that is not empty.
func ID(value gjson.Result) (core.ID, error) {
	if value.Type != gjson.Number && value.Type != gjson.String {
		return core.ID{}, fmt.Errorf("id %.40s is neither an integer nor a string", value.Raw)
	}
	var id core.ID
	if err := json.Unmarshal([]byte(value.Raw), &id); err != nil {
		return core.ID{}, fmt.Errorf("id %.40s is not an integer from -2^63 to 2^64-1", value.Raw)
	}
	if id == core.StringID("") {
		return core.ID{}, fmt.Errorf("id is an empty string")
	}
	return id, nil
}
