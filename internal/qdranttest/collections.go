package qdranttest

import (
	"context"
	"maps"
	"slices"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

type collections struct {
	qd.UnimplementedCollectionsServer
	data *Data
}

func (s *collections) Create(_ context.Context, r *qd.CreateCollection) (*qd.CollectionOperationResponse, error) {
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	if _, exists := s.data.collections[r.GetCollectionName()]; exists {
		return nil, status.Errorf(codes.AlreadyExists, "Wrong input: Collection `%s` already exists!", r.GetCollectionName())
	}
	c := &collection{
		config: r, points: make(map[key]*point), sorted: []*point{}, indexes: make(map[string]*qd.PayloadSchemaInfo),
		dense: maps.Clone(r.GetVectorsConfig().GetParamsMap().GetMap()), sparse: r.GetSparseVectorsConfig().GetMap(),
	}
	if p := r.GetVectorsConfig().GetParams(); p != nil {
		c.dense = map[string]*qd.VectorParams{"": p}
	}
	for _, p := range c.dense {
		if p.GetSize() == 0 || p.GetSize() > 65536 {
			return nil, status.Errorf(codes.InvalidArgument, "Validation error in body: [vectors_config.config.size: value %d invalid, must be from 1 to 65536]", p.GetSize())
		}
	}
	s.data.collections[r.GetCollectionName()] = c
	return &qd.CollectionOperationResponse{Result: true}, nil
}

func (s *collections) Delete(_ context.Context, r *qd.DeleteCollection) (*qd.CollectionOperationResponse, error) {
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	_, existed := s.data.collections[r.GetCollectionName()]
	delete(s.data.collections, r.GetCollectionName())
	return &qd.CollectionOperationResponse{Result: existed}, nil
}

func (s *collections) List(context.Context, *qd.ListCollectionsRequest) (*qd.ListCollectionsResponse, error) {
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	found := &qd.ListCollectionsResponse{}
	for _, name := range slices.Sorted(maps.Keys(s.data.collections)) {
		found.Collections = append(found.Collections, &qd.CollectionDescription{Name: name})
	}
	return found, nil
}

func (s *collections) CollectionExists(_ context.Context, r *qd.CollectionExistsRequest) (*qd.CollectionExistsResponse, error) {
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	_, exists := s.data.collections[r.GetCollectionName()]
	return &qd.CollectionExistsResponse{Result: &qd.CollectionExists{Exists: exists}}, nil
}

func (s *collections) Get(_ context.Context, r *qd.GetCollectionInfoRequest) (*qd.GetCollectionInfoResponse, error) {
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	c, err := s.data.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	m, ef, count, shards := uint64(16), uint64(100), uint64(len(c.points)), uint32(1)
	return &qd.GetCollectionInfoResponse{Result: &qd.CollectionInfo{
		Status: qd.CollectionStatus_Green, OptimizerStatus: &qd.OptimizerStatus{Ok: true}, SegmentsCount: 1,
		PointsCount: &count, PayloadSchema: maps.Clone(c.indexes),
		Config: &qd.CollectionConfig{
			HnswConfig:         &qd.HnswConfigDiff{M: &m, EfConstruct: &ef},
			QuantizationConfig: c.config.GetQuantizationConfig(),
			Metadata:           c.config.GetMetadata(),
			Params: &qd.CollectionParams{
				ShardNumber: shards, VectorsConfig: c.config.GetVectorsConfig(),
				SparseVectorsConfig: c.config.GetSparseVectorsConfig(), ShardingMethod: c.config.ShardingMethod,
			},
		},
	}}, nil
}

func (s *collections) CreateShardKey(_ context.Context, r *qd.CreateShardKeyRequest) (*qd.CreateShardKeyResponse, error) {
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	c, err := s.data.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	k := r.GetRequest().GetShardKey()
	if c.config.GetShardingMethod() != qd.ShardingMethod_Custom {
		return nil, status.Errorf(codes.InvalidArgument, "Bad request: Shard Key %s cannot be created with Auto sharding method", printShard(k))
	}
	c.shardKeys = append(c.shardKeys, k)
	return &qd.CreateShardKeyResponse{Result: true}, nil
}

func (s *collections) ListShardKeys(_ context.Context, r *qd.ListShardKeysRequest) (*qd.ListShardKeysResponse, error) {
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	c, err := s.data.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	found := &qd.ListShardKeysResponse{}
	for _, k := range c.shardKeys {
		found.ShardKeys = append(found.ShardKeys, &qd.ShardKeyDescription{Key: k})
	}
	return found, nil
}
