package milvus

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v2/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v2/milvuspb"
	"github.com/milvus-io/milvus-proto/go-api/v2/schemapb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"

	"github.com/georag/georag/core"
)

// fake answers as a newer Milvus than the embedded one would, or wrongly: for what no server at hand does.
type fake struct {
	milvuspb.UnimplementedMilvusServiceServer
	schema *schemapb.CollectionSchema
	search func(*milvuspb.SearchRequest) (*milvuspb.SearchResults, error)
	hybrid func(*milvuspb.HybridSearchRequest) (*milvuspb.SearchResults, error)
	calls  atomic.Int64 // of search, hybrid and upsert
}

func (f *fake) DescribeCollection(context.Context, *milvuspb.DescribeCollectionRequest) (*milvuspb.DescribeCollectionResponse, error) {
	return &milvuspb.DescribeCollectionResponse{Status: &commonpb.Status{}, Schema: f.schema, CollectionName: "fake"}, nil
}

// newFake has a collection with an integer key and the given fields.
func newFake(fields ...*schemapb.FieldSchema) *fake {
	id := &schemapb.FieldSchema{Name: "id", DataType: schemapb.DataType_Int64, IsPrimaryKey: true}
	return &fake{schema: &schemapb.CollectionSchema{Name: "fake", Fields: append([]*schemapb.FieldSchema{id}, fields...)}}
}

func (f *fake) GetVersion(context.Context, *milvuspb.GetVersionRequest) (*milvuspb.GetVersionResponse, error) {
	return &milvuspb.GetVersionResponse{Status: &commonpb.Status{}, Version: "v2.4.13"}, nil
}

func (f *fake) HasCollection(context.Context, *milvuspb.HasCollectionRequest) (*milvuspb.BoolResponse, error) {
	return &milvuspb.BoolResponse{Status: &commonpb.Status{}, Value: true}, nil
}

func (f *fake) DescribeIndex(_ context.Context, r *milvuspb.DescribeIndexRequest) (*milvuspb.DescribeIndexResponse, error) {
	metric := "COSINE"
	if r.FieldName == "sparse" {
		metric = "IP"
	}
	return &milvuspb.DescribeIndexResponse{Status: &commonpb.Status{}, IndexDescriptions: []*milvuspb.IndexDescription{{
		FieldName: r.FieldName, Params: []*commonpb.KeyValuePair{{Key: "index_type", Value: "FLAT"}, {Key: "metric_type", Value: metric}},
	}}}, nil
}

func (f *fake) Search(_ context.Context, r *milvuspb.SearchRequest) (*milvuspb.SearchResults, error) {
	f.calls.Add(1)
	return f.search(r)
}

func (f *fake) HybridSearch(_ context.Context, r *milvuspb.HybridSearchRequest) (*milvuspb.SearchResults, error) {
	f.calls.Add(1)
	return f.hybrid(r)
}

func (f *fake) Upsert(context.Context, *milvuspb.UpsertRequest) (*milvuspb.MutationResult, error) {
	f.calls.Add(1)
	return nil, status.Error(codes.Unavailable, "down")
}

// serve starts f and returns a store on it.
func (f *fake) serve(t *testing.T, cfg Config) *Store {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	milvuspb.RegisterMilvusServiceServer(server, f)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	cfg.Addr, cfg.Collection = listener.Addr().String(), "fake"
	s := newStore(t, cfg)
	t.Cleanup(func() {
		s.Close()
		server.Stop()
		<-served
	})
	return s
}

func vectorSchema(name string, kind schemapb.DataType) *schemapb.FieldSchema {
	return &schemapb.FieldSchema{Name: name, DataType: kind, TypeParams: []*commonpb.KeyValuePair{{Key: "dim", Value: "4"}}}
}

// oneRow is an answer of one passage with its stored vector in field "vector".
func oneRow(tenant string, kind schemapb.DataType, vector *schemapb.VectorField) *milvuspb.SearchResults {
	vector.Dim = 4
	return &milvuspb.SearchResults{Status: &commonpb.Status{}, Results: &schemapb.SearchResultData{
		NumQueries: 1, TopK: 1, Topks: []int64{1}, Scores: []float32{0.5},
		Ids: &schemapb.IDs{IdField: &schemapb.IDs_IntId{IntId: &schemapb.LongArray{Data: []int64{1<<53 + 1}}}},
		FieldsData: []*schemapb.FieldData{
			{FieldName: "vector", Type: kind, Field: &schemapb.FieldData_Vectors{Vectors: vector}},
			{FieldName: "tenant", Type: schemapb.DataType_VarChar, Field: &schemapb.FieldData_Scalars{Scalars: &schemapb.ScalarField{
				Data: &schemapb.ScalarField_StringData{StringData: &schemapb.StringArray{Data: []string{tenant}}}}}},
		},
	}}
}

func floats(v ...float32) *schemapb.VectorField {
	return &schemapb.VectorField{Data: &schemapb.VectorField_FloatVector{FloatVector: &schemapb.FloatArray{Data: v}}}
}

var tenantSchema = &schemapb.FieldSchema{Name: "tenant", DataType: schemapb.DataType_VarChar, IsPartitionKey: true}

// TestHybrid reads the request that Milvus 2.4 would get: one search for each field, all in the same scope.
func TestHybrid(t *testing.T) {
	f := newFake(tenantSchema, vectorSchema("vector", schemapb.DataType_FloatVector), vectorSchema("title", schemapb.DataType_BFloat16Vector),
		vectorSchema("sparse", schemapb.DataType_SparseFloatVector))
	var asked *milvuspb.HybridSearchRequest
	answer := oneRow("acme", schemapb.DataType_FloatVector, floats(1, 2, 3, 4))
	f.hybrid = func(r *milvuspb.HybridSearchRequest) (*milvuspb.SearchResults, error) { asked = r; return answer, nil }
	s := f.serve(t, Config{VectorField: "vector", TenantField: "tenant", HybridFields: []string{"title", "sparse"}, RRFK: 7})
	request := core.SearchRequest{Vector: []float32{1, 0, 0, 0}, K: 9, Retrieval: core.RetrieveHybrid,
		Sparse: &core.SparseVector{Indices: []uint32{3, 9}, Values: []float32{1, 2}},
		Scope:  core.Scope{Tenant: "acme", Filter: "year > 3", Partitions: []string{"north"}}}
	got, err := s.Search(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if c := got.Candidates[0]; c.ID != core.IntID(1<<53+1) || !slices.Equal(c.Vector, []float32{1, 2, 3, 4}) || c.Score != 0.5 {
		t.Errorf("candidate %+v", c)
	}
	if len(got.Conversions) != 1 {
		t.Errorf("conversions %v do not tell of the fusion", got.Conversions)
	}
	checkHybridParts(t, asked)

	answer = oneRow("globex", schemapb.DataType_FloatVector, floats(1, 2, 3, 4))
	if _, err := s.Search(t.Context(), request); !errors.Is(err, core.ErrUnsupported) {
		t.Errorf("another tenant's passage: error is %v, want %v", err, core.ErrUnsupported)
	}
	request.Sparse = nil
	if _, err := s.Search(t.Context(), request); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("no sparse vector: error is %v, want %v", err, core.ErrInvalid)
	}
}

func checkHybridParts(t *testing.T, asked *milvuspb.HybridSearchRequest) {
	t.Helper()
	rank := pairs(asked.RankParams)
	if rank["strategy"] != "rrf" || !strings.Contains(rank["params"], "7") || rank["limit"] != "9" {
		t.Errorf("rank parameters are %v", rank)
	}
	kinds := []commonpb.PlaceholderType{commonpb.PlaceholderType_FloatVector, commonpb.PlaceholderType_BFloat16Vector, commonpb.PlaceholderType_SparseFloatVector}
	if len(asked.Requests) != len(kinds) {
		t.Fatalf("%d searches are fused, want %d", len(asked.Requests), len(kinds))
	}
	for i, part := range asked.Requests {
		if kind := placeholder(t, part).Type; kind != kinds[i] {
			t.Errorf("search %d is by %v, want %v", i, kind, kinds[i])
		}
		if part.Dsl != `(tenant == "acme") && (year > 3)` || !slices.Equal(part.PartitionNames, []string{"north"}) {
			t.Errorf("search %d is in the scope %q of %v", i, part.Dsl, part.PartitionNames)
		}
		if field := pairs(part.SearchParams)["anns_field"]; field != []string{"vector", "title", "sparse"}[i] {
			t.Errorf("search %d is of field %q", i, field)
		}
	}
}

func pairs(list []*commonpb.KeyValuePair) map[string]string {
	out := make(map[string]string)
	for _, p := range list {
		out[p.Key] = p.Value
	}
	return out
}

func TestHalfVectors(t *testing.T) {
	stored := []float32{1, -0.5, 3, 1.0 / 128} // exact in both
	for name, c := range map[string]struct {
		field  schemapb.DataType
		query  commonpb.PlaceholderType
		answer *schemapb.VectorField
	}{
		"float16": {schemapb.DataType_Float16Vector, commonpb.PlaceholderType_Float16Vector,
			&schemapb.VectorField{Data: &schemapb.VectorField_Float16Vector{Float16Vector: encodeFloat16(stored)}}},
		"bfloat16": {schemapb.DataType_BFloat16Vector, commonpb.PlaceholderType_BFloat16Vector,
			&schemapb.VectorField{Data: &schemapb.VectorField_Bfloat16Vector{Bfloat16Vector: encodeBFloat16(stored)}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(tenantSchema, vectorSchema("vector", c.field))
			f.search = func(r *milvuspb.SearchRequest) (*milvuspb.SearchResults, error) {
				if kind := placeholder(t, r).Type; kind != c.query {
					t.Errorf("searched by %v, want %v", kind, c.query)
				}
				return oneRow("", c.field, c.answer), nil
			}
			got, err := f.serve(t, Config{}).Search(t.Context(), core.SearchRequest{Vector: []float32{1, 0, 0, 0}, K: 1})
			if err != nil || !slices.Equal(got.Candidates[0].Vector, stored) {
				t.Errorf("candidates %+v, error %v", got.Candidates, err)
			}
		})
	}
}

// placeholder is the first query vector of a request.
func placeholder(t *testing.T, r *milvuspb.SearchRequest) *commonpb.PlaceholderValue {
	t.Helper()
	var group commonpb.PlaceholderGroup
	if err := proto.Unmarshal(r.PlaceholderGroup, protoadapt.MessageV2Of(&group)); err != nil {
		t.Fatal(err)
	}
	return group.Placeholders[0]
}

// TestRetries counts the attempts: reads three at most, and writes one.
func TestRetries(t *testing.T) {
	refusal := func(code int32) func() (*milvuspb.SearchResults, error) {
		return func() (*milvuspb.SearchResults, error) {
			return &milvuspb.SearchResults{Status: &commonpb.Status{Code: code, ErrorCode: commonpb.ErrorCode_UnexpectedError, Reason: "refused"}}, nil
		}
	}
	for name, c := range map[string]struct {
		answer func() (*milvuspb.SearchResults, error)
		calls  int64
		want   error
	}{
		"unavailable":     {func() (*milvuspb.SearchResults, error) { return nil, status.Error(codes.Unavailable, "down") }, 3, core.ErrUnavailable},
		"too much asked":  {func() (*milvuspb.SearchResults, error) { return nil, status.Error(codes.ResourceExhausted, "busy") }, 3, core.ErrUnavailable},
		"rate limit":      {refusal(codeServiceRateLimit), 3, core.ErrUnavailable},
		"no node":         {refusal(codeNoNode), 3, core.ErrUnavailable},
		"invalid":         {refusal(codeParameterInvalid), 1, core.ErrInvalid},
		"unauthorised":    {refusal(codeNotAuthenticated), 1, core.ErrUnauthorized},
		"unknown failure": {refusal(65535), 1, core.ErrUnavailable},
		"not implemented": {func() (*milvuspb.SearchResults, error) { return nil, status.Error(codes.Unimplemented, "old") }, 1, core.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(vectorSchema("vector", schemapb.DataType_FloatVector))
			f.search = func(*milvuspb.SearchRequest) (*milvuspb.SearchResults, error) { return c.answer() }
			_, err := f.serve(t, Config{}).Search(t.Context(), core.SearchRequest{Vector: []float32{1, 0, 0, 0}, K: 1})
			if !errors.Is(err, c.want) || f.calls.Load() != c.calls {
				t.Errorf("%d attempts, error %v; want %d and %v", f.calls.Load(), err, c.calls, c.want)
			}
		})
	}
	t.Run("write", func(t *testing.T) {
		f := newFake(vectorSchema("vector", schemapb.DataType_FloatVector))
		err := f.serve(t, Config{}).Upsert(t.Context(), []core.Candidate{{ID: core.IntID(1), Vector: []float32{1, 0, 0, 0}}})
		if !errors.Is(err, core.ErrUnavailable) || f.calls.Load() != 1 {
			t.Errorf("%d attempts, error %v; want one and %v", f.calls.Load(), err, core.ErrUnavailable)
		}
	})
}

// TestMalformedAnswers has the server contradict itself in ways on which the SDK panics or loses lists.
func TestMalformedAnswers(t *testing.T) {
	for name, spoil := range map[string]func(*schemapb.SearchResultData){
		"more rows than scores": func(r *schemapb.SearchResultData) { r.Topks = []int64{3} },
		"no row counts":         func(r *schemapb.SearchResultData) { r.Topks = nil },
		"lists for no query":    func(r *schemapb.SearchResultData) { r.NumQueries, r.Topks = 2, []int64{1, 0} },
		"text for integers": func(r *schemapb.SearchResultData) {
			r.Ids = &schemapb.IDs{IdField: &schemapb.IDs_StrId{StrId: &schemapb.StringArray{Data: []string{"a"}}}}
		},
		"no ids": func(r *schemapb.SearchResultData) { r.Ids = nil },
		"vector cut short": func(r *schemapb.SearchResultData) {
			r.FieldsData[0].GetVectors().GetFloatVector().Data = []float32{1, 2}
		},
		"vector of no dimension": func(r *schemapb.SearchResultData) { r.FieldsData[0].GetVectors().Dim = 0 },
		"no vector":              func(r *schemapb.SearchResultData) { r.FieldsData = r.FieldsData[1:] },
		"no fields":              func(r *schemapb.SearchResultData) { r.FieldsData = nil },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(tenantSchema, vectorSchema("vector", schemapb.DataType_FloatVector))
			f.search = func(*milvuspb.SearchRequest) (*milvuspb.SearchResults, error) {
				answer := oneRow("", schemapb.DataType_FloatVector, floats(1, 2, 3, 4))
				spoil(answer.Results)
				return answer, nil
			}
			s := f.serve(t, Config{})
			start := time.Now()
			got, err := s.Search(t.Context(), core.SearchRequest{Vector: []float32{1, 0, 0, 0}, K: 1})
			if !errors.Is(err, core.ErrUnavailable) && !errors.Is(err, core.ErrNoVectors) {
				t.Errorf("error is %v after %v, candidates %+v", err, time.Since(start), got.Candidates)
			}
		})
	}
}
