package core

import "context"

// Loader is implemented by stores that passages can be written to, for `georag index`.
type Loader interface {
	// Create makes the collection where it is missing. Where it exists with another dimension or metric it
	// returns an error that wraps [ErrInvalid] and names both.
	Create(ctx context.Context, spec CollectionSpec) error
	// Upsert writes passages with their vectors; the same IDs again replace what was there.
	Upsert(ctx context.Context, passages []Candidate) error
	// Count returns how many passages the collection holds, after what was upserted is visible.
	Count(ctx context.Context) (int64, error)
}

// CollectionSpec describes the collection to create.
type CollectionSpec struct {
	Dimension int
	Metric    Metric
	// TextIDs: the IDs are strings rather than integers.
	TextIDs bool
	// SampleID is one of the IDs to come, so that a store that cannot hold such IDs says so before it makes anything;
	// the zero ID is not told.
	SampleID ID
	// Exact asks for an index that searches exhaustively instead of an approximate one.
	Exact bool
	// Model that made the vectors, for stores that can note it; "" where it is not known.
	Model string
}

// Metric is how a collection compares vectors. Selection itself always uses the cosine of the stored vectors.
type Metric string

const (
	MetricCosine    Metric = "cosine"
	MetricDot       Metric = "dot"
	MetricEuclidean Metric = "euclidean"
	MetricManhattan Metric = "manhattan"
)
