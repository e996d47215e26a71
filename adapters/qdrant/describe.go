package qdrant

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	qd "github.com/qdrant/go-client/qdrant"

	"github.com/georag/georag/core"
)

// Describe tells what the collection holds. A tenant key does not restrict it.
func (s *Store) Describe(ctx context.Context) (core.Description, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	s.forget() // what is printed is what is there now
	c, err := s.known(ctx)
	if err != nil {
		return core.Description{}, err
	}
	f, err := c.vector(s.cfg.VectorName)
	if err != nil {
		return core.Description{}, err
	}
	shards, err := s.shards(c, nil)
	if err != nil {
		return core.Description{}, err
	}
	return read(ctx, s, "describe", func(ctx context.Context, l *line) (core.Description, error) {
		return s.describe(ctx, l, plan{schema: c, field: f, scope: scope{shards: shards}})
	})
}

func (s *Store) describe(ctx context.Context, l *line, p plan) (core.Description, error) {
	version, err := l.health.HealthCheck(ctx, &qd.HealthCheckRequest{})
	if err != nil {
		return core.Description{}, err
	}
	info, err := l.collections.Get(ctx, &qd.GetCollectionInfoRequest{CollectionName: s.cfg.Collection})
	if err != nil {
		return core.Description{}, err
	}
	exact, one := true, uint32(1)
	count, err := l.points.Count(ctx, &qd.CountPoints{CollectionName: s.cfg.Collection, Exact: &exact, ShardKeySelector: p.scope.shards})
	if err != nil {
		return core.Description{}, err
	}
	first, err := l.points.Scroll(ctx, &qd.ScrollPoints{
		CollectionName: s.cfg.Collection, Limit: &one, WithPayload: qd.NewWithPayload(true), ShardKeySelector: p.scope.shards,
	})
	if err != nil {
		return core.Description{}, err
	}
	d := core.Description{
		Store: "qdrant " + version.GetVersion(), Collection: s.cfg.Collection, Vectors: vectorsFirst(p), Metric: p.field.distance.String(),
		Dimension: p.field.dimension, Count: int64(count.GetResult().GetCount()), IDKind: s.idKind(first.GetResult()),
		Model:   p.schema.model,
		Payload: slices.Sorted(maps.Keys(info.GetResult().GetPayloadSchema())), Index: indexOf(info.GetResult().GetConfig(), p.field),
	}
	for _, point := range first.GetResult() {
		if d.SampleID, err = s.idOf(point.GetId(), point.GetPayload()); err != nil {
			return d, err
		}
		for _, name := range slices.Sorted(maps.Keys(point.GetPayload())) {
			if !slices.Contains(d.Payload, name) {
				d.Payload = append(d.Payload, name)
			}
		}
	}
	return d, nil
}

// vectorsFirst lists the collection's vectors, the one in use first.
func vectorsFirst(p plan) []string {
	others := slices.DeleteFunc(p.schema.names(), func(name string) bool { return name == p.field.name })
	slices.Sort(others)
	return append([]string{p.field.name}, others...)
}

func (s *Store) idKind(sample []*qd.RetrievedPoint) string {
	switch {
	case s.cfg.IDField != "":
		return fmt.Sprintf("payload field %q", s.cfg.IDField)
	case len(sample) == 0:
		return "uint64 or uuid"
	}
	if _, textual := ownID(sample[0].GetId()).Text(); textual {
		return "uuid"
	}
	return "uint64"
}

// indexOf tells the index, the storage and the quantisation of a vector: "HNSW m=16 ef_construct=100, float16,
// scalar quantisation".
func indexOf(config *qd.CollectionConfig, f vectorField) string {
	m, ef := config.GetHnswConfig().GetM(), config.GetHnswConfig().GetEfConstruct()
	if own := f.params.GetHnswConfig(); own != nil {
		if own.M != nil {
			m = own.GetM()
		}
		if own.EfConstruct != nil {
			ef = own.GetEfConstruct()
		}
	}
	parts := []string{fmt.Sprintf("HNSW m=%d ef_construct=%d", m, ef)}
	if m == 0 {
		parts = []string{"none (exhaustive search)"}
	}
	if t := f.params.GetDatatype(); t != qd.Datatype_Default {
		parts = append(parts, strings.ToLower(t.String()))
	}
	quantised := f.params.GetQuantizationConfig()
	if quantised == nil {
		quantised = config.GetQuantizationConfig()
	}
	switch quantised.GetQuantization().(type) {
	case *qd.QuantizationConfig_Scalar:
		parts = append(parts, "scalar quantisation")
	case *qd.QuantizationConfig_Product:
		parts = append(parts, "product quantisation")
	case *qd.QuantizationConfig_Binary:
		parts = append(parts, "binary quantisation")
	}
	return strings.Join(parts, ", ")
}
