package qdrant

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/clienttls"
	"github.com/georag/georag/internal/retry"
	"github.com/georag/georag/internal/secret"
)

// Defaults of [Config].
const (
	DefaultWriteTimeout    = time.Minute
	DefaultMaxMessageBytes = 64 << 20
	DefaultPort            = "6334"
)

// Config says which collection to use and how. An address and Collection are required; the rest has defaults.
type Config struct {
	// Addr is "host:port" of the gRPC port (6334 where it is left out); "https://…" switches TLS on.
	Addr string `koanf:"addr"`
	// Addrs are further nodes of the same cluster. A node that cannot be reached is passed over.
	Addrs []string `koanf:"addrs"`
	// Collection is its name or an alias.
	Collection string `koanf:"collection"`

	// VectorName is the named vector to search; empty is the unnamed one, or the collection's only one.
	VectorName string `koanf:"vector_name"`
	// IDField is the payload field that holds the passage's ID, where that is not the point's own.
	IDField string `koanf:"id_field"`
	// TenantKey is the payload field that holds each passage's tenant. Where it is set, a request without a
	// tenant is refused.
	TenantKey string `koanf:"tenant_key"`
	// ShardKeys to search; empty is all shards. A request may name some of them, and no others.
	ShardKeys []string `koanf:"shard_keys"`
	// PayloadFields are the payload to return; empty is all of it.
	PayloadFields []string `koanf:"payload_fields"`
	// Consistency of reads is "all", "majority", "quorum" or a number of replicas; empty is one replica.
	Consistency string `koanf:"consistency"`

	// Search tunes the index.
	Search SearchParams `koanf:"search"`
	// HybridVectors are the further named vectors of a hybrid retrieval: dense ones are searched with the query
	// vector, sparse ones with the query's sparse vector. The lists are fused by RRF on the server.
	HybridVectors []string `koanf:"hybrid_vectors"`
	// HybridDepth is how many points each fused list holds; 0 is K.
	HybridDepth int `koanf:"hybrid_depth"`
	// RRFK is the constant of reciprocal rank fusion. 0 is the server's own, 2; others need Qdrant 1.16.
	RRFK int `koanf:"rrf_k"`
	// OutsideVectors says how the vectors of sub-query results outside the main ones come, where they are asked
	// for: "batch" has every sub-query return its vectors and payload in the one round trip (default; it measured
	// a quarter faster at 10 sub-queries of 20 hits, d=384), "fetch" leaves them to one later Fetch of the
	// missing IDs, which moves fewer bytes.
	OutsideVectors OutsideVectors `koanf:"outside_vectors"`

	// Source says where the API key is; the zero value sends none.
	secret.Source `koanf:",squash"`
	// TLS protects the connection; the zero value does not.
	TLS TLS `koanf:"tls"`

	// Policy bounds each call and the retries of reads.
	retry.Policy `koanf:",squash"`
	// WriteTimeout bounds the calls of Create, Upsert and Count. 0 is one minute.
	WriteTimeout time.Duration `koanf:"write_timeout"`
	// MaxMessageBytes bounds one answer. 0 is 64 MiB.
	MaxMessageBytes int `koanf:"max_message_bytes"`
}

// SearchParams are Qdrant's search parameters; zero leaves each to the server.
type SearchParams struct {
	// HNSWEf is the size of the candidate list; the server raises it to the number of results.
	HNSWEf uint64 `koanf:"hnsw_ef"`
	// Exact searches exhaustively.
	Exact bool `koanf:"exact"`
	// IndexedOnly leaves out segments that are not indexed yet.
	IndexedOnly bool `koanf:"indexed_only"`
	// Quantization says how quantised vectors are used.
	Quantization Quantization `koanf:"quantization"`
}

// Quantization says how the search uses quantised vectors, where the collection has them.
type Quantization struct {
	// Ignore searches the original vectors.
	Ignore bool `koanf:"ignore"`
	// Rescore computes the scores of the results from the original vectors; nil leaves it to the server.
	Rescore *bool `koanf:"rescore"`
	// Oversampling is how many times the number of results are rescored, at least 1; 0 leaves it to the server.
	Oversampling float64 `koanf:"oversampling"`
}

// OutsideVectors is how vectors of sub-query results outside the main ones are got.
type OutsideVectors string

const (
	OutsideFetch OutsideVectors = "fetch"
	OutsideBatch OutsideVectors = "batch"
)

// TLS of the connection.
type TLS = clienttls.Config

// Validate reports a setting that is missing or out of its range; the error wraps [core.ErrInvalid].
func (c Config) Validate() error {
	over := c.Search.Quantization.Oversampling
	for _, check := range []struct {
		wrong bool
		what  string
	}{
		{c.Addr == "" && len(c.Addrs) == 0, "addr is missing"},
		{c.Collection == "", "collection is missing"},
		{slices.Contains(c.ShardKeys, ""), "shard_keys: an empty name is no shard key"},
		{slices.Contains(c.PayloadFields, ""), "payload_fields: an empty name is no field"},
		{slices.Contains(c.HybridVectors, ""), "hybrid_vectors: an empty name is no vector"},
		{!(over == 0 || over >= 1 && over <= 1000), fmt.Sprintf("search.quantization.oversampling %v: must be 0 or in [1, 1000]", over)},
		{c.HybridDepth < 0, fmt.Sprintf("hybrid_depth %d: must not be negative", c.HybridDepth)},
		{c.RRFK < 0 || c.RRFK > math.MaxUint16, fmt.Sprintf("rrf_k %d: must be in [0, 65535]", c.RRFK)},
		{c.outside() != OutsideFetch && c.outside() != OutsideBatch, fmt.Sprintf("outside_vectors %q: must be fetch or batch", c.OutsideVectors)},
		{c.WriteTimeout < 0, fmt.Sprintf("write_timeout %v: must not be negative", c.WriteTimeout)},
		{c.MaxMessageBytes < 0 || c.MaxMessageBytes > math.MaxInt32, fmt.Sprintf("max_message_bytes %d: must be in [0, 2^31)", c.MaxMessageBytes)},
		{(c.TLS.CertFile == "") != (c.TLS.KeyFile == ""), "tls.cert_file and tls.key_file: set both or neither"},
	} {
		if check.wrong {
			return fmt.Errorf("adapters/qdrant: %w: %s", core.ErrInvalid, check.what)
		}
	}
	if _, err := c.endpoints(); err != nil {
		return err
	}
	if _, err := parseConsistency(c.Consistency); err != nil {
		return err
	}
	if err := c.Source.Validate(); err != nil {
		return err
	}
	return c.Policy.Validate()
}

func (c Config) outside() OutsideVectors {
	if c.OutsideVectors == "" {
		return OutsideBatch
	}
	return c.OutsideVectors
}

func (c Config) maxMessageBytes() int {
	if c.MaxMessageBytes == 0 {
		return DefaultMaxMessageBytes
	}
	return c.MaxMessageBytes
}

// writes is the policy of writes: the longer deadline and no retry.
func (c Config) writes() retry.Policy {
	timeout := c.WriteTimeout
	if timeout == 0 {
		timeout = DefaultWriteTimeout
	}
	never := 0
	return retry.Policy{Timeout: timeout, Retries: &never}
}
