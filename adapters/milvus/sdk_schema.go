package milvus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"github.com/georag/georag/core"
)

func (s *sdk) collections(ctx context.Context) ([]string, error) {
	found, err := guarded(func() ([]*entity.Collection, error) { return s.client.ListCollections(ctx) })
	return namesOf(found, func(c *entity.Collection) string { return c.Name }), err
}

func (s *sdk) partitions(ctx context.Context, name string) ([]string, error) {
	found, err := guarded(func() ([]*entity.Partition, error) { return s.client.ShowPartitions(ctx, name) })
	return namesOf(found, func(p *entity.Partition) string { return p.Name }), err
}

func namesOf[T any](items []T, name func(T) string) []string {
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = name(item)
	}
	return names
}

func (s *sdk) describe(ctx context.Context, name string) (*collection, error) {
	found, err := s.client.DescribeCollection(ctx, name)
	if err != nil {
		return nil, err
	}
	// Calls go on using the name asked for: an alias may point elsewhere tomorrow, and the SDK caches by that name.
	c := &collection{name: name, real: found.Name, dynamic: found.Schema.EnableDynamicField}
	if model, noted := strings.CutPrefix(found.Schema.Description, modelNote); noted {
		c.model = model
	}
	hasKey := false
	for _, f := range found.Schema.Fields {
		c.fields = append(c.fields, fieldOf(f))
		hasKey = hasKey || f.PrimaryKey
	}
	if c.dynamic && len(c.names(func(f field) bool { return f.dynamic })) == 0 {
		c.fields = append(c.fields, field{name: dynamicField, kind: kindJSON, dynamic: true}) // Milvus does not list it
	}
	if !hasKey {
		return nil, fmt.Errorf("adapters/milvus: collection %q: %w: it has no primary key", name, core.ErrUnsupported)
	}
	return c, nil
}

// modelNote begins the description of a collection whose model is known.
const modelNote = "vectors by "

// dynamicField is Milvus's name of the JSON field that holds what the schema does not list.
const dynamicField = "$meta"

var kinds = map[entity.FieldType]fieldKind{
	entity.FieldTypeInt64: kindInt64, entity.FieldTypeVarChar: kindVarchar, entity.FieldTypeBool: kindBool, entity.FieldTypeInt32: kindInt32,
	entity.FieldTypeFloat: kindFloat, entity.FieldTypeDouble: kindDouble, entity.FieldTypeJSON: kindJSON,
	entity.FieldTypeFloatVector: kindFloat32, entity.FieldTypeFloat16Vector: kindFloat16, entity.FieldTypeBFloat16Vector: kindBFloat16,
	entity.FieldTypeBinaryVector: kindBinary, entity.FieldTypeSparseVector: kindSparse,
}

func fieldOf(f *entity.Field) field {
	kind, known := kinds[f.DataType]
	if !known {
		kind = kindOther
	}
	dimension, _ := strconv.Atoi(f.TypeParams[entity.TypeParamDim]) // absent in sparse and scalar fields
	maxLength, _ := strconv.Atoi(f.TypeParams[entity.TypeParamMaxLength])
	return field{name: f.Name, kind: kind, dimension: dimension, maxLength: maxLength, primary: f.PrimaryKey,
		autoID: f.AutoID, partitionKey: f.IsPartitionKey, dynamic: f.IsDynamic}
}

func (s *sdk) index(ctx context.Context, name, fieldName string) (index, bool, error) {
	found, err := s.client.DescribeIndex(ctx, name, fieldName)
	var failure *serverError
	if errors.As(err, &failure) && (failure.code == codeIndexMissing || failure.legacy == "IndexNotExist") {
		return index{}, false, nil
	}
	if err != nil || len(found) == 0 {
		return index{}, false, err
	}
	params := found[0].Params()
	return index{kind: params["index_type"], metric: params["metric_type"], params: params}, true, nil
}

func (s *sdk) loaded(ctx context.Context, name string) (bool, error) {
	state, err := s.client.GetLoadState(ctx, name, nil)
	return state == entity.LoadStateLoaded, err
}

func (s *sdk) create(ctx context.Context, spec tableSpec) error {
	schema := entity.NewSchema().WithName(spec.name).WithDynamicFieldEnabled(spec.dynamic)
	if spec.model != "" {
		schema.WithDescription(modelNote + spec.model)
	}
	for _, f := range spec.fields {
		schema.WithField(columnSchema(f))
	}
	return s.client.CreateCollection(ctx, schema, entity.DefaultShardNumber)
}

func columnSchema(f field) *entity.Field {
	column := entity.NewField().WithName(f.name).WithIsPrimaryKey(f.primary).WithIsPartitionKey(f.partitionKey)
	for kind, name := range kinds {
		if name == f.kind {
			column.WithDataType(kind)
		}
	}
	if f.dimension > 0 {
		column.WithDim(int64(f.dimension))
	}
	if f.maxLength > 0 {
		column.WithMaxLength(int64(f.maxLength))
	}
	return column
}

func (s *sdk) createIndex(ctx context.Context, name, fieldName string, idx index) error {
	params := maps.Clone(idx.params)
	if params == nil {
		params = make(map[string]string)
	}
	params["metric_type"] = idx.metric
	return s.client.CreateIndex(ctx, name, fieldName, entity.NewGenericIndex("", entity.IndexType(idx.kind), params), false)
}

func (s *sdk) createPartition(ctx context.Context, name, partition string) error {
	return s.client.CreatePartition(ctx, name, partition)
}

func (s *sdk) load(ctx context.Context, name string) error {
	return s.client.LoadCollection(ctx, name, false)
}
