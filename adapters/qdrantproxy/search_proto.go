package qdrantproxy

import (
	"fmt"
	"strconv"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/proto"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/selectproxy"
)

// searchOf is a query of gRPC as the core reads it.
func searchOf(q *qd.QueryPoints) (selectproxy.Search, error) {
	s := selectproxy.Search{K: defaultLimit}
	if err := checkQuery(q); err != nil {
		return s, err
	}
	if q.Limit != nil {
		s.K = int(min(q.GetLimit(), core.MaxCandidates))
	}
	scope := &s.Query.Scope
	scope.VectorName, scope.Consistency = q.GetUsing(), consistencyName(q.GetReadConsistency())
	for _, key := range q.GetShardKeySelector().GetShardKeys() {
		scope.Partitions = append(scope.Partitions, shardKeyName(key))
	}
	var err error
	if scope.Filter, err = filterJSON(q.GetFilter()); err != nil {
		return s, err
	}
	s.Query.Vector, err = denseVector(q.GetQuery())
	return s, err
}

// checkQuery refuses what a selection cannot honour, unless it asks for nothing.
func checkQuery(q *qd.QueryPoints) error {
	for _, part := range []struct {
		name  string
		asked bool
	}{
		{"prefetch", len(q.GetPrefetch()) > 0},
		{"params", proto.Size(q.GetParams()) > 0},
		{"score_threshold", q.ScoreThreshold != nil},
		{"offset", q.GetOffset() > 0},
		{"lookup_from", q.GetLookupFrom() != nil},
		{"shard_key_selector.fallback", q.GetShardKeySelector().GetFallback() != nil},
		{"a field unknown to this proxy", len(q.ProtoReflect().GetUnknown()) > 0},
	} {
		if part.asked {
			return &selectproxy.Unsupported{Field: part.name, Reason: "selections are made for plain nearest-neighbour queries without it"}
		}
	}
	return nil
}

// denseVector reads a query for the neighbours of one dense vector; nil is no query.
func denseVector(q *qd.Query) ([]float32, error) {
	if q == nil {
		return nil, nil
	}
	dense := q.GetNearest().GetDense()
	if dense == nil {
		return nil, notDense
	}
	return dense.GetData(), nil
}

func shardKeyName(key *qd.ShardKey) string {
	if n, ok := key.GetKey().(*qd.ShardKey_Number); ok {
		return strconv.FormatUint(n.Number, 10)
	}
	return key.GetKeyword()
}

func consistencyName(c *qd.ReadConsistency) string {
	switch level := c.GetValue().(type) {
	case *qd.ReadConsistency_Factor:
		return strconv.FormatUint(level.Factor, 10)
	case *qd.ReadConsistency_Type:
		switch level.Type {
		case qd.ReadConsistencyType_All:
			return "all"
		case qd.ReadConsistencyType_Majority:
			return "majority"
		case qd.ReadConsistencyType_Quorum:
			return "quorum"
		}
		return "unknown" // which the store refuses
	}
	return ""
}

// pointID is a selected ID as gRPC has it; IDs of Qdrant's own points are always one or the other.
func pointID(id core.ID) *qd.PointId {
	if n, ok := id.Uint(); ok {
		return qd.NewIDNum(n)
	}
	return qd.NewIDUUID(id.String())
}

func coreID(id *qd.PointId) core.ID {
	if u, ok := id.GetPointIdOptions().(*qd.PointId_Uuid); ok {
		return core.StringID(u.Uuid)
	}
	return core.UintID(id.GetNum())
}

// only restricts the query to the given points.
func only(q *qd.QueryPoints, ids []core.ID) *qd.QueryPoints {
	wanted := make([]*qd.PointId, len(ids))
	for i, id := range ids {
		wanted[i] = pointID(id)
	}
	restricted := proto.CloneOf(q)
	must := []*qd.Condition{qd.NewHasID(wanted...)}
	if q.GetFilter() != nil {
		must = append(must, qd.NewFilterAsCondition(q.GetFilter()))
	}
	limit := uint64(len(ids))
	restricted.Filter, restricted.Limit = &qd.Filter{Must: must}, &limit
	return restricted
}

// inOrder brings points into the order of ids. Points that are gone meanwhile are left out.
func inOrder(found []*qd.ScoredPoint, ids []core.ID) []*qd.ScoredPoint {
	byID := make(map[core.ID]*qd.ScoredPoint, len(found))
	for _, point := range found {
		byID[coreID(point.GetId())] = point
	}
	var ordered []*qd.ScoredPoint
	for _, id := range ids {
		if point, ok := byID[id]; ok {
			ordered = append(ordered, point)
		}
	}
	return ordered
}

// decode reads a message of gRPC.
func decode(data []byte, target proto.Message) error {
	if err := proto.Unmarshal(data, target); err != nil {
		return &selectproxy.Malformed{Message: fmt.Sprintf("the message is no %s", target.ProtoReflect().Descriptor().Name())}
	}
	return nil
}
