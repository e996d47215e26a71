package core

import (
	"context"
	"time"
)

// Store is a vector index. Implementations are safe for concurrent use, obey the context's deadline, and
// return errors that wrap the sentinels of this package.
type Store interface {
	// Search runs the main query and all sub-query searches, in one round trip where the protocol allows.
	// A failed main search is an error; a failed sub-query search is that SubQueryResult's Err.
	Search(ctx context.Context, req SearchRequest) (SearchResult, error)
	// Fetch returns the stored vectors and payloads of the given IDs, in the order of IDs. IDs that do not
	// exist in the scope are left out. Score is 0.
	Fetch(ctx context.Context, req FetchRequest) ([]Candidate, error)
	// Close releases connections and files and leaves no goroutine behind.
	Close() error
}

// Describer is implemented by stores that can tell what they hold.
type Describer interface {
	Describe(ctx context.Context) (Description, error)
}

// Scanner is implemented by stores that can walk through what they hold, for diagnosis of an index.
type Scanner interface {
	// Scan calls yield with up to limit passages and their vectors (limit ≤ 0: all), in a stable order,
	// until yield returns false.
	Scan(ctx context.Context, scope Scope, limit int, yield func(Candidate) bool) error
}

// Scope restricts every search of a request alike: the main one and all m sub-query searches.
type Scope struct {
	// Filter is a condition in the store's own language: Qdrant filter JSON, a Milvus boolean expression,
	// or the flat index's conditions. Empty is no condition.
	Filter string
	// Tenant is the value of the store's configured tenant key. Where a store has such a key, an empty
	// tenant is [ErrEmptyScope].
	Tenant string
	// Partitions restricts to named partitions (Milvus) or shard keys (Qdrant). nil is no restriction;
	// an empty, non-nil list is [ErrEmptyScope].
	Partitions []string
	// VectorName overrides the store's configured vector field.
	VectorName string
	// Consistency overrides the store's configured read consistency.
	Consistency string
}

// Retrieval names how the main K candidates are found.
type Retrieval string

const (
	// RetrieveDense is nearest neighbours of the query vector. It is the default.
	RetrieveDense Retrieval = ""
	// RetrieveHybrid fuses dense with sparse or lexical neighbours, or several vector fields, by RRF.
	RetrieveHybrid Retrieval = "hybrid"
	// RetrieveLexical is BM25 over the passages' text.
	RetrieveLexical Retrieval = "lexical"
)

// SearchRequest is one question to a store.
type SearchRequest struct {
	Vector []float32 // main query, dimension d; any norm
	K      int       // number of candidates wanted, with vectors

	SubQueries [][]float32 // m sub-query vectors, dimension d
	Depth      int         // hits wanted per sub-query (20 in eq. 7)
	// OutsideVectors asks for vectors and payloads of sub-query hits outside the main K too, where that
	// costs no further round trip; a store may leave them out and the caller then calls Fetch.
	OutsideVectors bool

	Retrieval Retrieval     // of the main query; sub-queries are always dense
	Text      string        // the question's text, for lexical and hybrid retrieval
	Sparse    *SparseVector // the question's sparse vector, for hybrid retrieval
	Scope     Scope
}

// SparseVector lists the non-zero components of a sparse vector; Indices and Values have the same length.
type SparseVector struct {
	Indices []uint32
	Values  []float32
}

// SearchResult answers a SearchRequest.
type SearchResult struct {
	// Candidates of the main search, best first, each with Vector and Payload. IDs are unique.
	Candidates []Candidate
	// SubQueries has one entry per requested sub-query, in the same order.
	SubQueries []SubQueryResult
	// Conversions says in words how scores were made "higher is better".
	Conversions []string
	// Calls lists the round trips made, for the timing report.
	Calls []Call
}

// SubQueryResult is R_j: the nearest passages of one sub-query, best first. Vector and Payload of a hit are set
// only where OutsideVectors was asked for and the hit is outside the main candidates.
type SubQueryResult struct {
	Hits []Candidate
	Err  error
}

// Call is one round trip to a store and how long it took.
type Call struct {
	Name     string        `json:"name"`
	Duration time.Duration `json:"duration_ns"`
}

// FetchRequest asks for passages by ID within a scope.
type FetchRequest struct {
	IDs   []ID
	Scope Scope
}

// Description tells what a store holds and how it measures.
type Description struct {
	Store      string   // "flat", "qdrant 1.17.0", "milvus 2.3.5"
	Collection string   // name, or folder of the flat index
	Vectors    []string // vector fields; the one in use first
	Metric     string   // as the store names it
	Dimension  int
	Count      int64 // passages; -1 where the store cannot tell
	IDKind     string
	SampleID   ID // zero where the store is empty
	Payload    []string
	Model      string // that made the vectors, where the store knows it
	Index      string // index type and build parameters, where known
}

// Embedder turns texts into vectors: one per text, in order, all of one dimension.
type Embedder interface {
	// EmbedQueries embeds questions and sub-questions (with the model's query prefix, where it has one).
	EmbedQueries(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedPassages embeds passages (with the model's passage prefix, where it has one).
	EmbedPassages(ctx context.Context, texts []string) ([][]float32, error)
	// Model names the model; a trace shows it.
	Model() string
}

// SubQueryWriter writes up to n sub-queries of a question. Fewer than n, or none, is not an error: the stage
// goes on with what it has and says so.
type SubQueryWriter interface {
	WriteSubQueries(ctx context.Context, question string, n int) (SubQueries, error)
	Model() string
}

// SubQueries are a writer's answer. Degraded says why there are fewer than asked ("" where there are not).
type SubQueries struct {
	Texts    []string
	Degraded string
}

// PassageWriter writes a hypothetical passage that would answer the question (HyDE).
type PassageWriter interface {
	WritePassage(ctx context.Context, question string) (string, error)
}

// Reranker scores passages against a query with a model: one score per passage in order, higher is better.
type Reranker interface {
	Rerank(ctx context.Context, query string, passages []string) ([]float64, error)
	Model() string
}

// ConflictScorer gives, for each pair of texts, the probability in [0, 1] that they contradict each other.
type ConflictScorer interface {
	Conflicts(ctx context.Context, pairs [][2]string) ([]float64, error)
	Model() string
}
