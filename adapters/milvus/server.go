package milvus

import (
	"context"

	"github.com/georag/georag/core"
)

// server is what this package needs of Milvus. The type sdk implements it on the one SDK there is today (files sdk*.go); nothing else
// in this package knows that SDK. Errors are those of gRPC or a [serverError].
type server interface {
	version(ctx context.Context) (string, error)
	collections(ctx context.Context) ([]string, error)
	partitions(ctx context.Context, collection string) ([]string, error)
	describe(ctx context.Context, collection string) (*collection, error)
	index(ctx context.Context, collection, field string) (idx index, ok bool, err error)
	loaded(ctx context.Context, collection string) (bool, error)

	search(ctx context.Context, call searchCall) ([][]core.Candidate, error)
	hybrid(ctx context.Context, call hybridCall) ([]core.Candidate, error)
	query(ctx context.Context, call queryCall) ([]core.Candidate, error)
	count(ctx context.Context, collection string, sc scope) (int64, error)

	create(ctx context.Context, spec tableSpec) error
	createIndex(ctx context.Context, collection, field string, idx index) error
	createPartition(ctx context.Context, collection, partition string) error
	load(ctx context.Context, collection string) error
	upsert(ctx context.Context, call upsertCall) error
	flush(ctx context.Context, collection string) error

	close() error
}

// searchCall is one search of nq vectors. Candidates come back with the server's scores, best first.
type searchCall struct {
	collection *collection
	scope      scope
	field      vectorField
	vectors    [][]float32
	limit      int
	params     map[string]any
	output     []string // payload fields
	withVector bool
}

// hybridCall fuses the results of several searches of one vector each.
type hybridCall struct {
	parts  []hybridPart
	rrfK   float64
	limit  int
	output []string
	vector vectorField // whose stored vectors come back
	scope  scope
	of     *collection
}

// hybridPart is one list to fuse: a search by a dense vector or by a sparse one.
type hybridPart struct {
	field  vectorField
	dense  []float32
	sparse *core.SparseVector
	params map[string]any
}

// queryCall reads rows by a condition, in ascending order of the primary key.
type queryCall struct {
	collection *collection
	scope      scope // with the whole condition as its expr
	limit      int   // 0: all
	output     []string
	vector     vectorField
}

// tableSpec is a collection to create.
type tableSpec struct {
	name    string
	fields  []field
	dynamic bool
	model   string // that makes the vectors, where known
}

// upsertCall writes rows.
type upsertCall struct {
	collection *collection
	partition  string
	vector     string // field that takes the vectors
	passages   []core.Candidate
}
