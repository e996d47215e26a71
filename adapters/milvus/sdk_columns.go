package milvus

import (
	"encoding/json"
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

// columnsOf turns passages into columns: each field of the schema from the payload, and what is left of the
// payload as the dynamic field.
func columnsOf(call upsertCall) ([]entity.Column, error) {
	var columns []entity.Column
	rest := make([]map[string]any, len(call.passages))
	for r, p := range call.passages {
		rest[r] = maps.Clone(p.Payload)
	}
	for _, f := range call.collection.fields {
		var column entity.Column
		var err error
		switch {
		case f.dynamic:
			continue
		case f.primary:
			column = idColumn(f, call.passages)
		case f.kind.vector():
			column, err = vectorColumn(f, call)
		default:
			column, err = scalarColumn(f, call.passages, rest)
		}
		if err != nil {
			return nil, err
		}
		columns = append(columns, column)
	}
	return appendDynamic(columns, call, rest)
}

func idColumn(f field, passages []core.Candidate) entity.Column {
	numbers, texts := make([]int64, len(passages)), make([]string, len(passages))
	for r, p := range passages {
		numbers[r], _ = p.ID.Int() // checked by the caller
		texts[r] = p.ID.String()
	}
	if f.kind == kindInt64 {
		return entity.NewColumnInt64(f.name, numbers)
	}
	return entity.NewColumnVarChar(f.name, texts)
}

func vectorColumn(f field, call upsertCall) (entity.Column, error) {
	if f.name != call.vector {
		return nil, fmt.Errorf("adapters/milvus: upsert: %w: collection %q has the further vector field %q, and a passage has one vector", core.ErrUnsupported, call.collection.name, f.name)
	}
	floats, halves := make([][]float32, len(call.passages)), make([][]byte, len(call.passages))
	for r, p := range call.passages {
		switch f.kind {
		case kindFloat16:
			halves[r] = encodeFloat16(p.Vector)
		case kindBFloat16:
			halves[r] = encodeBFloat16(p.Vector)
		default:
			floats[r] = p.Vector
		}
	}
	switch f.kind {
	case kindFloat16:
		return entity.NewColumnFloat16Vector(f.name, f.dimension, halves), nil
	case kindBFloat16:
		return entity.NewColumnBFloat16Vector(f.name, f.dimension, halves), nil
	default:
		return entity.NewColumnFloatVector(f.name, f.dimension, floats), nil
	}
}

// scalarColumn takes the field's values out of rest.
func scalarColumn(f field, passages []core.Candidate, rest []map[string]any) (entity.Column, error) {
	switch f.kind {
	case kindVarchar:
		values, err := take[string](f, passages, rest)
		return entity.NewColumnVarChar(f.name, values), err
	case kindInt64:
		values, err := take[int64](f, passages, rest)
		return entity.NewColumnInt64(f.name, values), err
	case kindDouble:
		values, err := take[float64](f, passages, rest)
		return entity.NewColumnDouble(f.name, values), err
	case kindBool:
		values, err := take[bool](f, passages, rest)
		return entity.NewColumnBool(f.name, values), err
	default:
		return nil, fmt.Errorf("adapters/milvus: upsert: %w: field %q is of a type that passages cannot fill (%s)", core.ErrUnsupported, f.name, f.kind)
	}
}

func take[T any](f field, passages []core.Candidate, rest []map[string]any) ([]T, error) {
	values := make([]T, len(passages))
	for r, p := range passages {
		value, ok := p.Payload[f.name].(T)
		if !ok {
			return nil, fmt.Errorf("adapters/milvus: upsert of %v: %w: field %q must be a %T, got %T", p.ID, core.ErrInvalid, f.name, value, p.Payload[f.name])
		}
		values[r] = value
		delete(rest[r], f.name)
	}
	return values, nil
}

func appendDynamic(columns []entity.Column, call upsertCall, rest []map[string]any) ([]entity.Column, error) {
	documents := make([][]byte, len(rest))
	for r, fields := range rest {
		for name := range fields {
			if f, clash := call.collection.find(name); clash || !call.collection.dynamic {
				return nil, fmt.Errorf("adapters/milvus: upsert of %v: %w: payload field %q: %s", call.passages[r].ID, core.ErrInvalid, name, clashReason(f, clash))
			}
		}
		if fields == nil {
			fields = map[string]any{}
		}
		document, err := json.Marshal(fields)
		if err != nil {
			return nil, fmt.Errorf("adapters/milvus: upsert of %v: %w: %w", call.passages[r].ID, core.ErrInvalid, err)
		}
		documents[r] = document
	}
	if !call.collection.dynamic {
		return columns, nil
	}
	return append(columns, entity.NewColumnJSONBytes("", documents).WithIsDynamic(true)), nil
}

func clashReason(f field, clash bool) string {
	if clash {
		return fmt.Sprintf("the collection has a field of that name (%s); rename one of them", f.kind)
	}
	return "the collection has no such field and allows no dynamic ones"
}
