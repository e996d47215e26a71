package milvus

import (
	"fmt"
	"maps"

	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"github.com/georag/georag/core"
)

// rowsOf turns columns into candidates. vector names the field that becomes Candidate.Vector.
func rowsOf(ids entity.Column, columns []entity.Column, vector string) ([]core.Candidate, error) {
	rows := make([]core.Candidate, ids.Len())
	for r := range rows {
		id, err := idAt(ids, r)
		if err != nil {
			return nil, err
		}
		rows[r].ID = id
	}
	for _, column := range columns {
		if column.Name() == ids.Name() {
			continue
		}
		if column.Len() != len(rows) {
			return nil, fmt.Errorf("adapters/milvus: %w: field %q has %d values for %d rows", core.ErrUnavailable, column.Name(), column.Len(), len(rows))
		}
		for r := range rows {
			if err := setField(&rows[r], column, r, vector); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

func idAt(ids entity.Column, r int) (core.ID, error) {
	if ids.Type() == entity.FieldTypeInt64 {
		number, err := ids.GetAsInt64(r)
		return core.IntID(number), err
	}
	text, err := ids.GetAsString(r)
	return core.StringID(text), err
}

// setField puts one value where it belongs: the vector, or the payload. Dynamic fields are payload of their own.
func setField(row *core.Candidate, column entity.Column, r int, vector string) error {
	value, err := column.Get(r)
	if _, single := column.(*entity.ColumnDynamic); single && err != nil {
		return nil // this row has no such dynamic field
	}
	if err != nil {
		return err
	}
	if column.Name() == vector {
		row.Vector = vectorOf(column.Type(), value)
		return nil
	}
	if row.Payload == nil {
		row.Payload = make(map[string]any)
	}
	value, err = payloadOf(column, value)
	if err != nil {
		return fmt.Errorf("adapters/milvus: field %q of %v: %w: %w", column.Name(), row.ID, core.ErrUnavailable, err)
	}
	if fields, ok := value.(map[string]any); ok && column.Name() == dynamicField {
		maps.Copy(row.Payload, fields)
		return nil
	}
	row.Payload[column.Name()] = value
	return nil
}

func vectorOf(kind entity.FieldType, value any) []float32 {
	switch v := value.(type) {
	case []float32:
		return v
	case []byte:
		if kind == entity.FieldTypeFloat16Vector {
			return decodeFloat16(v)
		}
		if kind == entity.FieldTypeBFloat16Vector {
			return decodeBFloat16(v)
		}
	}
	return nil
}

// payloadOf widens numbers and decodes JSON.
func payloadOf(column entity.Column, value any) (any, error) {
	switch v := value.(type) {
	case int8:
		return int64(v), nil
	case int16:
		return int64(v), nil
	case int32:
		return int64(v), nil
	case float32:
		return float64(v), nil
	case []byte:
		return decodeJSON(v)
	case string:
		if _, single := column.(*entity.ColumnDynamic); single {
			return decodeJSON([]byte(v)) // the SDK gives the raw JSON
		}
	}
	return value, nil
}
