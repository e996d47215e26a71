package milvus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

const (
	maxIDBytes     = 1024
	maxTenantBytes = 1024
	batchBytes     = 8 << 20 // far below the 64 MiB that Milvus accepts
	batchRows      = 5000    // a collection with a partition key lists the IDs in an expression
)

// Index parameters of a collection that Create makes.
const (
	hnswM              = "24"
	hnswEFConstruction = "256"
)

// Create makes the collection with its index and loads it. Payload fields become dynamic ones; a configured
// tenant field becomes the partition key, and configured partitions are made. The description notes the model.
func (s *Store) Create(ctx context.Context, spec core.CollectionSpec) error {
	metric, err := metricName(spec.Metric)
	if err != nil {
		return err
	}
	if spec.Dimension < 1 {
		return fmt.Errorf("adapters/milvus: dimension %d: %w: must be at least 1", spec.Dimension, core.ErrInvalid)
	}
	return write(ctx, s, "create", func(ctx context.Context, l *link) error {
		if _, err := l.server.describe(ctx, s.cfg.Collection); isMissingCollection(err) {
			return s.create(ctx, l, spec, metric)
		}
		existing, err := s.describe(ctx, l)
		if err != nil {
			return err
		}
		return s.compare(existing, spec, metric)
	})
}

// compare reports what distinguishes an existing collection from the one asked for.
func (s *Store) compare(c *collection, spec core.CollectionSpec, metric string) error {
	f, err := c.vector(s.cfg.VectorField)
	switch {
	case err != nil:
		return err
	case f.dimension != spec.Dimension:
		return fmt.Errorf("adapters/milvus: collection %q: %w: it has dimension %d, not %d", c.name, core.ErrInvalid, f.dimension, spec.Dimension)
	case f.index.metric != metric:
		return fmt.Errorf("adapters/milvus: collection %q: %w: its metric is %s, not %s", c.name, core.ErrInvalid, f.index.metric, metric)
	case c.model != "" && spec.Model != "" && c.model != spec.Model:
		return fmt.Errorf("adapters/milvus: collection %q: %w: its vectors are by %s, not %s", c.name, core.ErrInvalid, c.model, spec.Model)
	case (c.primary().kind == kindVarchar) != spec.TextIDs:
		return fmt.Errorf("adapters/milvus: collection %q: %w: its primary key is %s, and text IDs are %v", c.name, core.ErrInvalid, c.primary().kind, spec.TextIDs)
	}
	return nil
}

func (s *Store) create(ctx context.Context, l *link, spec core.CollectionSpec, metric string) error {
	id := field{name: orElse(s.cfg.IDField, "id"), kind: kindInt64, primary: true}
	if spec.TextIDs {
		id.kind, id.maxLength = kindVarchar, maxIDBytes
	}
	vector := field{name: orElse(s.cfg.VectorField, "vector"), kind: kindFloat32, dimension: spec.Dimension}
	table := tableSpec{name: s.cfg.Collection, fields: []field{id, vector}, dynamic: true, model: spec.Model}
	if s.cfg.TenantField != "" {
		table.fields = append(table.fields, field{name: s.cfg.TenantField, kind: kindVarchar, maxLength: maxTenantBytes, partitionKey: true})
	}
	if err := l.server.create(ctx, table); err != nil {
		return err
	}
	for _, name := range s.cfg.Partitions {
		if err := l.server.createPartition(ctx, s.cfg.Collection, name); err != nil {
			return err
		}
	}
	idx := index{kind: "HNSW", metric: metric, params: map[string]string{"M": hnswM, "efConstruction": hnswEFConstruction}}
	if spec.Exact {
		idx = index{kind: "FLAT", metric: metric}
	}
	if err := l.server.createIndex(ctx, s.cfg.Collection, vector.name, idx); err != nil {
		return err
	}
	return l.server.load(ctx, s.cfg.Collection)
}

func orElse(name, fallback string) string {
	if name == "" {
		return fallback
	}
	return name
}

func metricName(m core.Metric) (string, error) {
	switch m {
	case core.MetricCosine, "":
		return "COSINE", nil
	case core.MetricDot:
		return "IP", nil
	case core.MetricEuclidean:
		return "L2", nil
	default:
		return "", fmt.Errorf("adapters/milvus: metric %q: %w by Milvus, which has cosine, dot and euclidean", m, core.ErrUnsupported)
	}
}

// Upsert writes passages in requests of at most [batchBytes] and [batchRows], into the configured partition where there is one.
// Where an ID occurs twice, the last one wins.
func (s *Store) Upsert(ctx context.Context, passages []core.Candidate) error {
	if len(passages) == 0 {
		return nil
	}
	c, err := withCollection(ctx, s, "upsert", func(_ context.Context, _ *link, c *collection) (*collection, error) { return c, nil })
	if err != nil {
		return err
	}
	f, err := c.vector(s.cfg.VectorField)
	if err != nil {
		return err
	}
	if len(s.cfg.Partitions) > 1 {
		return fmt.Errorf("adapters/milvus: upsert: %w: configure the one partition to write to, not %s", core.ErrInvalid, list(slices.Clone(s.cfg.Partitions)))
	}
	if err := checkPassages(c.primary(), f, passages); err != nil {
		return err
	}
	call := upsertCall{collection: c, vector: f.name}
	if len(s.cfg.Partitions) == 1 {
		call.partition = s.cfg.Partitions[0]
	}
	for _, batch := range batches(lastOfEach(passages)) {
		call.passages = batch
		if err := write(ctx, s, "upsert", func(ctx context.Context, l *link) error { return l.server.upsert(ctx, call) }); err != nil {
			return err
		}
	}
	return nil
}

// checkPassages refuses what Milvus would refuse later, or accept and change.
func checkPassages(primary field, f vectorField, passages []core.Candidate) error {
	if primary.autoID {
		return fmt.Errorf("adapters/milvus: upsert: %w: the collection gives its own IDs (auto_id)", core.ErrUnsupported)
	}
	for _, p := range passages {
		number, integer := p.ID.Int()
		_, textual := p.ID.Text()
		if primary.kind == kindInt64 && !integer || primary.kind == kindVarchar && !textual {
			return fmt.Errorf("adapters/milvus: upsert of id %q: %w: the primary key %q is %s", p.ID, core.ErrInvalid, primary.name, primary.kind)
		}
		if integer && number == math.MaxInt64 {
			return fmt.Errorf("adapters/milvus: upsert of id %q: %w: Milvus loses the highest int64 when it merges the rows of a query, so the passage could not be read", p.ID, core.ErrUnsupported)
		}
		if err := vec.Check(p.Vector, f.dimension); err != nil {
			return fmt.Errorf("adapters/milvus: upsert of id %q: %w", p.ID, err)
		}
	}
	return nil
}

// lastOfEach leaves one passage for each ID, because Milvus keeps both where one request has the same ID twice.
func lastOfEach(passages []core.Candidate) []core.Candidate {
	place := make(map[core.ID]int, len(passages))
	var unique []core.Candidate
	for _, p := range passages {
		if i, twice := place[p.ID]; twice {
			unique[i] = p
			continue
		}
		place[p.ID] = len(unique)
		unique = append(unique, p)
	}
	return unique
}

// batches cuts passages into requests of about [batchBytes], and of at most [batchRows].
func batches(passages []core.Candidate) [][]core.Candidate {
	var cut [][]core.Candidate
	start, size := 0, 0
	for i, p := range passages {
		document, _ := json.Marshal(p.Payload) // what cannot be written is reported where it is
		row := 4*len(p.Vector) + len(document)
		if size > 0 && (size+row > batchBytes || i-start == batchRows) {
			cut = append(cut, passages[start:i])
			start, size = i, 0
		}
		size += row
	}
	return append(cut, passages[start:])
}

// Count returns the exact number of passages with everything written before it. It first has the server seal and
// index what was written, as far as its rate limit for that allows.
func (s *Store) Count(ctx context.Context) (int64, error) {
	err := write(ctx, s, "flush", func(ctx context.Context, l *link) error { return l.server.flush(ctx, s.cfg.Collection) })
	var refusal *serverError
	if err != nil && !(errors.As(err, &refusal) && refusal.code == codeServiceRateLimit) {
		return 0, err
	}
	return withCollection(ctx, s, "count", func(ctx context.Context, l *link, c *collection) (int64, error) {
		return l.server.count(ctx, c.name, scope{partitions: s.cfg.Partitions, consistency: "strong"})
	})
}
