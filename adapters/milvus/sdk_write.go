package milvus

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"github.com/georag/georag/core"
)

func (s *sdk) flush(ctx context.Context, name string) error {
	return s.client.Flush(ctx, name, false)
}

func (s *sdk) upsert(ctx context.Context, call upsertCall) error {
	columns, err := columnsOf(call)
	if err != nil {
		return err
	}
	write := s.client.Upsert
	if slices.ContainsFunc(call.collection.fields, func(f field) bool { return f.partitionKey }) {
		// Milvus 2.3 upserts rows into partitions that their key does not lead to, where no search by tenant
		// finds them. Its upsert is a deletion and an insertion, so these two do the same.
		if err := s.remove(ctx, call); err != nil {
			return err
		}
		write = s.client.Insert
	}
	_, err = guarded(func() (entity.Column, error) {
		return write(ctx, call.collection.name, call.partition, columns...)
	})
	return err
}

func (s *sdk) remove(ctx context.Context, call upsertCall) error {
	ids := make([]core.ID, len(call.passages))
	for r, p := range call.passages {
		ids[r] = p.ID
	}
	condition, err := idExpr(call.collection.primary(), ids)
	if err != nil {
		return err
	}
	return s.client.Delete(ctx, call.collection.name, call.partition, condition)
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
