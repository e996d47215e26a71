package qdranttest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/google/uuid"
	qd "github.com/qdrant/go-client/qdrant"
	"github.com/x448/float16"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

type points struct {
	qd.UnimplementedPointsServer
	data *Data
}

var done = &qd.PointsOperationResponse{Result: &qd.UpdateResult{Status: qd.UpdateStatus_Completed}}

func (s *points) Upsert(_ context.Context, r *qd.UpsertPoints) (*qd.PointsOperationResponse, error) {
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	c, err := s.data.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	shard := ""
	if c.config.GetShardingMethod() == qd.ShardingMethod_Custom {
		if len(r.GetShardKeySelector().GetShardKeys()) != 1 {
			return nil, status.Error(codes.InvalidArgument, "Bad request: Shard key not specified")
		}
		shard = printShard(r.GetShardKeySelector().GetShardKeys()[0])
	}
	if err := c.checkShards(r.GetShardKeySelector()); err != nil {
		return nil, err
	}
	made := make([]*point, len(r.GetPoints()))
	for i, p := range r.GetPoints() {
		if made[i], err = c.newPoint(p); err != nil {
			return nil, err
		}
		made[i].shard = shard
	}
	for _, p := range made {
		c.points[p.key] = p
	}
	c.sorted = nil
	c.ordered()
	return done, nil
}

func (c *collection) newPoint(p *qd.PointStruct) (*point, error) {
	k, err := keyOf(p.GetId())
	if err != nil {
		return nil, err
	}
	made := &point{key: k, id: k.id(), payload: p.GetPayload(), dense: map[string][]float32{}, sparse: map[string]*qd.SparseVector{}, multi: map[string]*qd.MultiDenseVector{}}
	given := p.GetVectors().GetVectors().GetVectors()
	if v := p.GetVectors().GetVector(); v != nil {
		given = map[string]*qd.Vector{"": v}
	}
	for name, v := range given {
		if err := c.store(made, name, v); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func (c *collection) store(p *point, name string, v *qd.Vector) error {
	if sparse := v.GetSparse(); sparse != nil {
		if _, ok := c.sparse[name]; !ok {
			return invalid("Not existing vector name error: %s", name)
		}
		p.sparse[name] = sparse
		return nil
	}
	params, err := c.vector(name)
	if err != nil {
		return err
	}
	if multi := v.GetMultiDense(); multi != nil {
		p.multi[name] = multi
		return nil
	}
	data := v.GetDense().GetData()
	if v.GetDense() == nil {
		data = v.GetData() //nolint:staticcheck // what old clients send
	}
	if err := checkDimension(params, data); err != nil {
		return err
	}
	p.dense[name] = stored(params, data)
	return nil
}

func checkDimension(params *qd.VectorParams, v []float32) error {
	if len(v) != int(params.GetSize()) {
		return invalid("Vector dimension error: expected dim: %d, got %d", params.GetSize(), len(v))
	}
	return nil
}

// stored is the vector as Qdrant keeps it: normalised for Cosine, except as uint8, and rounded to its type.
func stored(params *qd.VectorParams, v []float32) []float32 {
	kept := make([]float32, len(v))
	copy(kept, v)
	if params.GetDistance() == qd.Distance_Cosine && params.GetDatatype() != qd.Datatype_Uint8 {
		normalise(kept)
	}
	for i, x := range kept {
		switch params.GetDatatype() {
		case qd.Datatype_Float16:
			kept[i] = float16.Fromfloat32(x).Float32()
		case qd.Datatype_Uint8:
			kept[i] = float32(uint8(min(255, max(0, x))))
		}
	}
	return kept
}

func normalise(v []float32) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	for i, x := range v {
		v[i] = float32(float64(x) / math.Sqrt(sum))
	}
}

func (s *points) Delete(_ context.Context, r *qd.DeletePoints) (*qd.PointsOperationResponse, error) {
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	c, err := s.data.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	if filter := r.GetPoints().GetFilter(); filter != nil {
		for _, p := range c.ordered() {
			if matches(filter, p) {
				delete(c.points, p.key)
			}
		}
	}
	for _, id := range r.GetPoints().GetPoints().GetIds() {
		k, err := keyOf(id)
		if err != nil {
			return nil, err
		}
		delete(c.points, k)
	}
	c.sorted = nil
	c.ordered()
	return done, nil
}

func (s *points) CreateFieldIndex(_ context.Context, r *qd.CreateFieldIndexCollection) (*qd.PointsOperationResponse, error) {
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	c, err := s.data.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	c.indexes[r.GetFieldName()] = &qd.PayloadSchemaInfo{DataType: qd.PayloadSchemaType(r.GetFieldType() + 1), Params: r.GetFieldIndexParams()}
	return done, nil
}

// keyOf reads a point's ID; a UUID in any of its forms.
func keyOf(id *qd.PointId) (key, error) {
	switch v := id.GetPointIdOptions().(type) {
	case *qd.PointId_Num:
		return key{num: v.Num}, nil
	case *qd.PointId_Uuid:
		u, err := uuid.Parse(v.Uuid)
		if err != nil {
			return key{}, status.Errorf(codes.InvalidArgument, "Unable to parse UUID: %s", v.Uuid)
		}
		return key{uuid: u.String()}, nil
	}
	return key{}, status.Error(codes.InvalidArgument, "Empty ID is not allowed")
}

func (k key) id() *qd.PointId {
	if k.uuid != "" {
		return qd.NewIDUUID(k.uuid)
	}
	return qd.NewIDNum(k.num)
}

func comparePoints(a, b *point) int {
	return cmp.Or(strings.Compare(a.key.uuid, b.key.uuid), cmp.Compare(a.key.num, b.key.num))
}

// selectPayload is the payload the selector asks for.
func selectPayload(p *point, selector *qd.WithPayloadSelector) map[string]*qd.Value {
	selected := make(map[string]*qd.Value)
	for name, value := range p.payload {
		include, exclude := selector.GetInclude(), selector.GetExclude()
		switch {
		case selector.GetEnable(),
			include != nil && slices.Contains(include.GetFields(), name),
			exclude != nil && !slices.Contains(exclude.GetFields(), name):
			selected[name] = value
		}
	}
	return selected
}
