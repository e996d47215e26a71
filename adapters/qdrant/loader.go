package qdrant

import (
	"context"
	"fmt"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

// batchBytes bounds one request of an upsert, so that a failure costs little work.
const batchBytes = 4 << 20

// Create makes the collection where it is missing, with the configured vector name, shard keys, and keyword
// indexes on the tenant key and on id_field. The collection's metadata note the model.
func (s *Store) Create(ctx context.Context, spec core.CollectionSpec) error {
	distance, err := distanceOf(spec.Metric)
	if err != nil {
		return err
	}
	if spec.Dimension < 1 {
		return fmt.Errorf("adapters/qdrant: dimension %d: %w: must be at least 1", spec.Dimension, core.ErrInvalid)
	}
	if !spec.SampleID.IsZero() {
		if _, err := s.loadedPointID(spec.SampleID); err != nil {
			return err
		}
	}
	_, err = write(ctx, s, "create", func(ctx context.Context, l *line) (struct{}, error) {
		existing, err := s.discover(ctx, l)
		if status.Code(err) == codes.NotFound {
			return struct{}{}, s.create(ctx, l, spec, distance)
		}
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, s.compare(existing, spec, distance)
	})
	s.forget()
	return err
}

// compare reports what distinguishes an existing collection from the one asked for.
func (s *Store) compare(c *schema, spec core.CollectionSpec, distance qd.Distance) error {
	f, err := c.vector(s.cfg.VectorName)
	switch {
	case err != nil:
		return err
	case f.dimension != spec.Dimension:
		return fmt.Errorf("adapters/qdrant: collection %q: %w: it has dimension %d, not %d", c.collection, core.ErrInvalid, f.dimension, spec.Dimension)
	case f.distance != distance:
		return fmt.Errorf("adapters/qdrant: collection %q: %w: its metric is %s, not %s", c.collection, core.ErrInvalid, f.distance, distance)
	case c.model != "" && spec.Model != "" && c.model != spec.Model:
		return fmt.Errorf("adapters/qdrant: collection %q: %w: its vectors are by %s, not %s", c.collection, core.ErrInvalid, c.model, spec.Model)
	}
	return nil
}

func (s *Store) create(ctx context.Context, l *line, spec core.CollectionSpec, distance qd.Distance) error {
	params := &qd.VectorParams{Size: uint64(spec.Dimension), Distance: distance}
	if spec.Exact {
		params.HnswConfig = &qd.HnswConfigDiff{M: new(uint64)} // no edges: every search is exhaustive
	}
	request := &qd.CreateCollection{CollectionName: s.cfg.Collection, VectorsConfig: qd.NewVectorsConfig(params)}
	if s.cfg.VectorName != "" {
		request.VectorsConfig = qd.NewVectorsConfigMap(map[string]*qd.VectorParams{s.cfg.VectorName: params})
	}
	if spec.Model != "" {
		request.Metadata = qd.NewValueMap(map[string]any{modelNote: spec.Model})
	}
	if len(s.cfg.ShardKeys) > 0 {
		request.ShardingMethod = qd.ShardingMethod_Custom.Enum()
	}
	if _, err := l.collections.Create(ctx, request); err != nil {
		return err
	}
	for _, name := range s.cfg.ShardKeys {
		key, err := (&schema{}).shardKey(name)
		if err != nil {
			return err
		}
		if _, err := l.collections.CreateShardKey(ctx, &qd.CreateShardKeyRequest{CollectionName: s.cfg.Collection, Request: &qd.CreateShardKey{ShardKey: key}}); err != nil {
			return err
		}
	}
	return s.createFieldIndexes(ctx, l)
}

// createFieldIndexes indexes the fields that every request filters by.
func (s *Store) createFieldIndexes(ctx context.Context, l *line) error {
	yes := true
	for name, params := range map[string]*qd.KeywordIndexParams{s.cfg.TenantKey: {IsTenant: &yes}, s.cfg.IDField: {}} {
		if name == "" {
			continue
		}
		_, err := l.points.CreateFieldIndex(ctx, &qd.CreateFieldIndexCollection{
			CollectionName: s.cfg.Collection, Wait: &yes, FieldName: name,
			FieldType: qd.FieldType_FieldTypeKeyword.Enum(), FieldIndexParams: qd.NewPayloadIndexParamsKeyword(params),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func distanceOf(m core.Metric) (qd.Distance, error) {
	switch m {
	case core.MetricCosine, "":
		return qd.Distance_Cosine, nil
	case core.MetricDot:
		return qd.Distance_Dot, nil
	case core.MetricEuclidean:
		return qd.Distance_Euclid, nil
	case core.MetricManhattan:
		return qd.Distance_Manhattan, nil
	}
	return 0, fmt.Errorf("adapters/qdrant: metric %q: %w by Qdrant, which has cosine, dot, euclidean and manhattan", m, core.ErrUnsupported)
}

// Upsert writes passages in requests of about [batchBytes], under the configured shard key where there is one.
// It returns when they can be searched. Where an ID occurs twice, the last one wins.
func (s *Store) Upsert(ctx context.Context, passages []core.Candidate) error {
	if len(passages) == 0 {
		return nil
	}
	c, err := s.known(ctx)
	if err != nil {
		return err
	}
	f, err := c.vector(s.cfg.VectorName)
	if err != nil {
		return err
	}
	if c.sharded && len(s.cfg.ShardKeys) != 1 {
		return fmt.Errorf("adapters/qdrant: upsert: %w: configure the one shard key to write to, not %s", core.ErrInvalid, list(s.cfg.ShardKeys))
	}
	shards, err := s.shards(c, nil)
	if err != nil {
		return err
	}
	points, err := s.points(f, passages)
	if err != nil {
		return err
	}
	wait := true
	for len(points) > 0 {
		n := batchEnd(points)
		request := &qd.UpsertPoints{CollectionName: s.cfg.Collection, Wait: &wait, Points: points[:n], ShardKeySelector: shards}
		if _, err := write(ctx, s, "upsert", func(ctx context.Context, l *line) (*qd.PointsOperationResponse, error) {
			return l.points.Upsert(ctx, request)
		}); err != nil {
			return err
		}
		points = points[n:]
	}
	return nil
}

// points checks all passages before the first is written.
func (s *Store) points(f vectorField, passages []core.Candidate) ([]*qd.PointStruct, error) {
	points := make([]*qd.PointStruct, len(passages))
	for i, p := range passages {
		id, err := s.loadedPointID(p.ID)
		if err != nil {
			return nil, err
		}
		if err := vec.Check(p.Vector, f.dimension); err != nil {
			return nil, fmt.Errorf("adapters/qdrant: upsert of id %q: %w", p.ID, err)
		}
		payload, err := encodePayload(p.Payload)
		if err != nil {
			return nil, fmt.Errorf("adapters/qdrant: upsert of id %q: %w", p.ID, err)
		}
		if s.cfg.IDField != "" {
			if payload[s.cfg.IDField], err = idValue(p.ID); err != nil {
				return nil, err
			}
		}
		vectors := qd.NewVectorsDense(p.Vector)
		if f.name != "" {
			vectors = qd.NewVectorsMap(map[string]*qd.Vector{f.name: qd.NewVectorDense(p.Vector)})
		}
		points[i] = &qd.PointStruct{Id: id, Vectors: vectors, Payload: payload}
	}
	return points, nil
}

// idValue is what id_field holds.
func idValue(id core.ID) (*qd.Value, error) {
	if text, ok := id.Text(); ok {
		return qd.NewValueString(text), nil
	}
	if n, ok := id.Int(); ok {
		return qd.NewValueInt(n), nil
	}
	return nil, fmt.Errorf("adapters/qdrant: upsert of id %q: %w: a payload holds integers below 2^63: leave id_field empty", id, core.ErrInvalid)
}

// batchEnd is how many of the points make one request.
func batchEnd(points []*qd.PointStruct) int {
	size := 0
	for i, p := range points {
		if size += proto.Size(p); size > batchBytes && i > 0 {
			return i
		}
	}
	return len(points)
}

// Count returns the exact number of passages.
func (s *Store) Count(ctx context.Context) (int64, error) {
	c, err := s.known(ctx)
	if err != nil {
		return 0, err
	}
	shards, err := s.shards(c, nil)
	if err != nil {
		return 0, err
	}
	exact := true
	answer, err := write(ctx, s, "count", func(ctx context.Context, l *line) (*qd.CountResponse, error) {
		return l.points.Count(ctx, &qd.CountPoints{CollectionName: s.cfg.Collection, Exact: &exact, ShardKeySelector: shards})
	})
	return int64(answer.GetResult().GetCount()), err
}
