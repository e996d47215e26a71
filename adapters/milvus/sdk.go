package milvus

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	grpcmiddleware "github.com/grpc-ecosystem/go-grpc-middleware/retry"
	"github.com/milvus-io/milvus-proto/go-api/v2/commonpb"
	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"github.com/georag/georag/core"
)

// sdk is the [server] on milvus-sdk-go/v2, which only the files sdk*.go know. What the SDK does by itself and must not:
// block while dialling, retry for 22 s on Unavailable and 75 times on rate limits, drop the error codes, and panic
// on answers of the wrong shape.
type sdk struct{ client client.Client }

var _ server = (*sdk)(nil)

// dialSDK makes a client without waiting for its connection.
func dialSDK(cfg Config, key string, tlsConfig *tls.Config, answered func()) (server, error) {
	settings := client.Config{
		Address:        cfg.Addr,
		DBName:         cfg.Database,
		DisableConn:    true, // its handshake would be one more blocking call and tells nothing needed here
		RetryRateLimit: &client.RetryRateLimitOption{MaxRetry: 0},
		DialOptions:    dialOptions(cfg, tlsConfig, answered),
	}
	if cfg.Username != "" {
		settings.Username, settings.Password = cfg.Username, key
	} else {
		settings.APIKey = key
	}
	c, err := client.NewClient(context.Background(), settings)
	if err != nil {
		return nil, fmt.Errorf("adapters/milvus: addr %q: %w: %w", cfg.Addr, core.ErrInvalid, err)
	}
	return &sdk{c}, nil
}

func dialOptions(cfg Config, tlsConfig *tls.Config, answered func()) []grpc.DialOption {
	transport := insecure.NewCredentials()
	if tlsConfig != nil {
		transport = credentials.NewTLS(tlsConfig)
	}
	return []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 3 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{
			// A server that comes back is found within half a second.
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 500 * time.Millisecond},
			MinConnectTimeout: 2 * time.Second,
		}),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(cfg.maxMessageBytes()),
			grpcmiddleware.Disable(), // the SDK's own interceptor obeys this option
		),
		grpc.WithChainUnaryInterceptor(keepCodes(answered)),
	}
}

// keepCodes turns the status inside an answer into an error before the SDK reduces it to its words, and notes
// that the line is alive.
func keepCodes(answered func()) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if err := invoke(ctx, method, req, reply, cc, opts...); err != nil {
			return err
		}
		answered()
		state, ok := reply.(*commonpb.Status)
		if holder, holds := reply.(interface{ GetStatus() *commonpb.Status }); holds {
			state, ok = holder.GetStatus(), true
		}
		if !ok || state.GetCode() == 0 && state.GetErrorCode() == commonpb.ErrorCode_Success {
			return nil
		}
		return &serverError{
			code:      state.GetCode(),
			legacy:    state.GetErrorCode().String(),
			reason:    state.GetReason(),
			retriable: state.GetRetriable(),
		}
	}
}

// guarded calls the SDK and turns its panic on an answer of an unexpected shape into an error.
func guarded[T any](call func() (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("adapters/milvus: %w: the server's answer has an unexpected shape: %v", core.ErrUnavailable, p)
		}
	}()
	return call()
}

func (s *sdk) close() error { return s.client.Close() }

func (s *sdk) version(ctx context.Context) (string, error) { return s.client.GetVersion(ctx) }

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
	c := &collection{name: found.Name, dynamic: found.Schema.EnableDynamicField}
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

// searchParams is the SDK's SearchParam over plain values.
type searchParams map[string]any

func (p searchParams) Params() map[string]any      { return maps.Clone(p) }
func (p searchParams) AddRadius(radius float64)    { p["radius"] = radius }
func (p searchParams) AddRangeFilter(edge float64) { p["range_filter"] = edge }

// paramsOf never returns nil, because the SDK writes into the copy it takes.
func paramsOf(values map[string]any) searchParams {
	if values == nil {
		return searchParams{}
	}
	return values
}

func options(sc scope) []client.SearchQueryOptionFunc {
	level, err := parseConsistency(sc.consistency)
	if err != nil || level == nil {
		return nil
	}
	return []client.SearchQueryOptionFunc{client.WithSearchQueryConsistencyLevel(*level)}
}

// parseConsistency returns nil for the collection's own level.
func parseConsistency(name string) (*entity.ConsistencyLevel, error) {
	levels := map[string]entity.ConsistencyLevel{
		"strong": entity.ClStrong, "session": entity.ClSession, "bounded": entity.ClBounded, "eventually": entity.ClEventually,
	}
	level, known := levels[name]
	switch {
	case name == "":
		return nil, nil
	case !known:
		return nil, fmt.Errorf("adapters/milvus: consistency %q: %w: must be strong, session, bounded or eventually", name, core.ErrInvalid)
	}
	return &level, nil
}

// encode writes a query vector in the field's own format.
func encode(kind fieldKind, v []float32) entity.Vector {
	switch kind {
	case kindFloat16:
		return entity.Float16Vector(encodeFloat16(v))
	case kindBFloat16:
		return entity.BFloat16Vector(encodeBFloat16(v))
	default:
		return entity.FloatVector(v)
	}
}

func (s *sdk) search(ctx context.Context, call searchCall) ([][]core.Candidate, error) {
	vectors := make([]entity.Vector, len(call.vectors))
	for i, v := range call.vectors {
		vectors[i] = encode(call.field.kind, v)
	}
	output, stored := call.output, ""
	if call.withVector {
		stored = call.field.name
		output = append([]string{stored}, output...)
	}
	return guarded(func() ([][]core.Candidate, error) {
		found, err := s.client.Search(ctx, call.collection.name, call.scope.partitions, call.scope.expr, output, vectors,
			call.field.name, entity.MetricType(call.field.index.metric), call.limit, paramsOf(call.params), options(call.scope)...)
		if err != nil {
			return nil, err
		}
		return candidatesOf(found, len(vectors), stored)
	})
}

func (s *sdk) hybrid(ctx context.Context, call hybridCall) ([]core.Candidate, error) {
	parts := make([]*client.ANNSearchRequest, len(call.parts))
	for i, part := range call.parts {
		vector := encode(part.field.kind, part.dense)
		if part.sparse != nil {
			sparse, err := entity.NewSliceSparseEmbedding(part.sparse.Indices, part.sparse.Values)
			if err != nil {
				return nil, fmt.Errorf("adapters/milvus: sparse vector: %w: %w", core.ErrInvalid, err)
			}
			vector = sparse
		}
		parts[i] = client.NewANNSearchRequest(part.field.name, entity.MetricType(part.field.index.metric), call.scope.expr,
			[]entity.Vector{vector}, paramsOf(part.params), call.limit)
	}
	return guarded(func() ([]core.Candidate, error) {
		found, err := s.client.HybridSearch(ctx, call.of.name, call.scope.partitions, call.limit,
			append([]string{call.vector.name}, call.output...), client.NewRRFReranker().WithK(call.rrfK), parts, options(call.scope)...)
		if err != nil {
			return nil, err
		}
		lists, err := candidatesOf(found, 1, call.vector.name)
		if err != nil {
			return nil, err
		}
		return lists[0], nil
	})
}

// candidatesOf decodes one list for each of nq queries. An empty collection may answer with no list at all.
func candidatesOf(found []client.SearchResult, nq int, vector string) ([][]core.Candidate, error) {
	if len(found) == 0 {
		return make([][]core.Candidate, nq), nil
	}
	if len(found) != nq {
		return nil, fmt.Errorf("adapters/milvus: %w: %d result lists for %d queries", core.ErrUnavailable, len(found), nq)
	}
	lists := make([][]core.Candidate, nq)
	for i, result := range found {
		if result.Err != nil {
			return nil, fmt.Errorf("adapters/milvus: result list %d: %w: %w", i, core.ErrUnavailable, result.Err)
		}
		list, err := rowsOf(result.IDs, result.Fields, vector)
		if err != nil {
			return nil, err
		}
		for r := range list {
			list[r].Score = float64(result.Scores[r])
		}
		lists[i] = list
	}
	return lists, nil
}

func (s *sdk) query(ctx context.Context, call queryCall) ([]core.Candidate, error) {
	primary := call.collection.primary().name
	output := append([]string{primary, call.vector.name}, call.output...)
	return guarded(func() ([]core.Candidate, error) {
		opts := options(call.scope)
		if call.limit > 0 {
			opts = append(opts, client.WithLimit(int64(call.limit)))
		}
		found, err := s.client.Query(ctx, call.collection.name, call.scope.partitions, call.scope.expr, output, opts...)
		if err != nil {
			return nil, err
		}
		ids := found.GetColumn(primary)
		if ids == nil {
			return nil, fmt.Errorf("adapters/milvus: %w: the answer lacks the primary key %q", core.ErrUnavailable, primary)
		}
		return rowsOf(ids, found, call.vector.name)
	})
}

func (s *sdk) count(ctx context.Context, name string, sc scope) (int64, error) {
	return guarded(func() (int64, error) {
		found, err := s.client.Query(ctx, name, sc.partitions, sc.expr, []string{"count(*)"}, options(sc)...)
		if err != nil {
			return 0, err
		}
		return found.GetColumn("count(*)").GetAsInt64(0)
	})
}

func (s *sdk) create(ctx context.Context, spec tableSpec) error {
	schema := entity.NewSchema().WithName(spec.name).WithDynamicFieldEnabled(spec.dynamic)
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

func (s *sdk) flush(ctx context.Context, name string) error {
	return s.client.Flush(ctx, name, false)
}

func (s *sdk) upsert(ctx context.Context, call upsertCall) error {
	columns, err := columnsOf(call)
	if err != nil {
		return err
	}
	_, err = guarded(func() (entity.Column, error) {
		return s.client.Upsert(ctx, call.collection.name, call.partition, columns...)
	})
	return err
}
