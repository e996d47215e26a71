package selectproxy

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/georag/georag/internal/strictjson"
)

// Fields are a JSON object's, as they came.
type Fields map[string]json.RawMessage

// ReadFields reads the one JSON object in data, nested no deeper than given, without the fields that are null. The error
// is a *[Malformed].
func ReadFields(data []byte, nesting int) (Fields, error) {
	var f Fields
	if err := strictjson.Check(data, &f, strictjson.Options{Nesting: nesting, Open: true}); err != nil {
		return nil, &Malformed{err.Error()}
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, &Malformed{err.Error()}
	}
	for name, value := range f {
		if string(bytes.TrimSpace(value)) == "null" {
			delete(f, name) // to either database that is as if it were not there
		}
	}
	return f, nil
}

// Read decodes a field, if it is there. The error is a *[Malformed].
func (f Fields) Read(name string, target any) error {
	value, ok := f[name]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(value, target); err != nil {
		return &Malformed{fmt.Sprintf("%s: %v", name, err)}
	}
	return nil
}
