package milvus

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/clienttls"
	"github.com/georag/georag/internal/retry"
	"github.com/georag/georag/internal/secret"
)

// Defaults of [Config].
const (
	DefaultWriteTimeout    = time.Minute
	DefaultMaxMessageBytes = 256 << 20
	DefaultRRFK            = 60
)

// Config says which collection to use and how. Addr and Collection are required; the rest has defaults.
type Config struct {
	// Addr is "host:port"; a managed service's "https://…" switches TLS on.
	Addr string `koanf:"addr"`
	// Database; empty is the server's default database.
	Database string `koanf:"database"`
	// Collection is its name or an alias.
	Collection string `koanf:"collection"`

	// VectorField to search; empty is the collection's only one. A collection that Create makes calls it "vector".
	VectorField string `koanf:"vector_field"`
	// IDField is checked against the collection's primary key; empty accepts any. Create's default is "id".
	IDField string `koanf:"id_field"`
	// TenantField holds each passage's tenant (a partition key, or any varchar or int64 field). Where it is set,
	// a request without a tenant is refused.
	TenantField string `koanf:"tenant_field"`
	// Partitions to search; empty is all. A request may name some of them, and no others.
	Partitions []string `koanf:"partitions"`
	// OutputFields are the payload; empty is every scalar field and the dynamic ones.
	OutputFields []string `koanf:"output_fields"`
	// Consistency is "strong", "session", "bounded" or "eventually"; empty is the collection's own level.
	// Session covers what this store wrote itself since it last connected.
	Consistency string `koanf:"consistency"`
	// Load loads the collection into the server's memory where it is not.
	Load bool `koanf:"load"`

	// Search tunes the index.
	Search SearchParams `koanf:"search"`
	// HybridFields are the further vector fields of a hybrid retrieval: dense ones are searched with the query
	// vector, sparse ones with the query's sparse vector. The lists are fused by RRF. Needs Milvus 2.4.
	HybridFields []string `koanf:"hybrid_fields"`
	// RRFK is the constant of reciprocal rank fusion, 1/(RRFK+rank). 0 is 60.
	RRFK float64 `koanf:"rrf_k"`
	// OutsideVectors says how the vectors of sub-query results outside the main ones come, where they are asked
	// for: "fetch" leaves them to one later Fetch of the missing IDs (default), "batch" has the sub-query search
	// return all of its vectors.
	OutsideVectors OutsideVectors `koanf:"outside_vectors"`

	// Username, with the key as its password. Empty: the key is an API key or a "user:password" token.
	Username string `koanf:"username"`
	// Source says where the key is; the zero value sends none.
	secret.Source `koanf:",squash"`
	// TLS protects the connection; the zero value does not.
	TLS TLS `koanf:"tls"`

	// Policy bounds each call and the retries of reads.
	retry.Policy `koanf:",squash"`
	// WriteTimeout bounds the calls of Create, Upsert and Count, and loading. 0 is one minute.
	WriteTimeout time.Duration `koanf:"write_timeout"`
	// MaxMessageBytes bounds one answer. 0 is 256 MiB.
	MaxMessageBytes int `koanf:"max_message_bytes"`
}

// SearchParams are the index's search parameters. What does not fit the index's type is not sent.
type SearchParams struct {
	// EF is HNSW's candidate list, raised to the number of results where it is below. 0 is four times that
	// number, at least 512.
	EF int `koanf:"ef"`
	// NProbe is the number of IVF cells searched, at most the index's nlist. 0 is 32.
	NProbe int `koanf:"nprobe"`
	// Extra are further parameters by Milvus's own names, for example search_list (DiskANN) or reorder_k (SCANN).
	Extra map[string]any `koanf:"extra"`
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
	for _, check := range []struct {
		wrong bool
		what  string
	}{
		{c.Addr == "", "addr is missing"},
		{c.Collection == "", "collection is missing"},
		{c.consistencyUnknown(), fmt.Sprintf("consistency %q: must be strong, session, bounded or eventually", c.Consistency)},
		{c.Search.EF < 0, fmt.Sprintf("search.ef %d: must not be negative", c.Search.EF)},
		{c.Search.NProbe < 0, fmt.Sprintf("search.nprobe %d: must not be negative", c.Search.NProbe)},
		{!(c.RRFK >= 0 && c.RRFK < 16384), fmt.Sprintf("rrf_k %v: must be in [0, 16384)", c.RRFK)},
		{c.outside() != OutsideFetch && c.outside() != OutsideBatch, fmt.Sprintf("outside_vectors %q: must be fetch or batch", c.OutsideVectors)},
		{c.WriteTimeout < 0, fmt.Sprintf("write_timeout %v: must not be negative", c.WriteTimeout)},
		{c.MaxMessageBytes < 0 || c.MaxMessageBytes > math.MaxInt32, fmt.Sprintf("max_message_bytes %d: must be in [0, 2^31)", c.MaxMessageBytes)},
		{(c.TLS.CertFile == "") != (c.TLS.KeyFile == ""), "tls.cert_file and tls.key_file: set both or neither"},
		{c.Username != "" && c.Source == (secret.Source{}), "username is set and its password is not: name it by api_key_env or api_key_file"},
	} {
		if check.wrong {
			return fmt.Errorf("adapters/milvus: %w: %s", core.ErrInvalid, check.what)
		}
	}
	for _, names := range [][]string{{c.VectorField, c.IDField, c.TenantField}, c.HybridFields} {
		for _, name := range names {
			if name != "" && !identifier.MatchString(name) {
				return fmt.Errorf("adapters/milvus: %w: %q is no field name", core.ErrInvalid, name)
			}
		}
	}
	if err := secret.CheckAddress(c.Addr); err != nil {
		return fmt.Errorf("adapters/milvus: %w", err)
	}
	if err := checkPartitionNames(c.Partitions); err != nil {
		return err
	}
	if err := c.Source.Validate(); err != nil {
		return err
	}
	return c.Policy.Validate()
}

// identifier is what Milvus accepts as the name of a field; nothing else is written into an expression.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (c Config) consistencyUnknown() bool {
	_, err := parseConsistency(c.Consistency)
	return err != nil
}

func (c Config) outside() OutsideVectors {
	if c.OutsideVectors == "" {
		return OutsideFetch
	}
	return c.OutsideVectors
}

func (c Config) rrfK() float64 {
	if c.RRFK == 0 {
		return DefaultRRFK
	}
	return c.RRFK
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

func (c Config) tlsWanted() bool { return c.TLS.Enabled || strings.HasPrefix(c.Addr, "https://") }
