package milvus

import (
	"context"
	"fmt"
	"time"

	"github.com/georag/georag/core"
)

// hybrid fuses the main field's list with those of the configured further fields.
func (s *Store) hybrid(ctx context.Context, p plan, req core.SearchRequest, timing *calls) ([]core.Candidate, error) {
	if len(s.cfg.HybridFields) == 0 {
		return nil, fmt.Errorf("adapters/milvus: hybrid retrieval: %w: hybrid_fields names no further vector field", core.ErrInvalid)
	}
	call := hybridCall{of: p.collection, scope: p.scope, limit: req.K, rrfK: s.cfg.rrfK(), output: p.output, vector: p.field}
	tenant := s.cfg.TenantField
	if tenant != "" {
		call.output = withName(call.output, p.collection, tenant)
	}
	for _, name := range append([]string{p.field.name}, s.cfg.HybridFields...) {
		part, err := hybridPartOf(p.collection, name, req)
		if err != nil {
			return nil, err
		}
		part.params = s.cfg.Search.params(part.field.index, req.K)
		call.parts = append(call.parts, part)
	}
	list, err := read(ctx, s, "hybrid search", func(ctx context.Context, l *link) ([]core.Candidate, error) {
		defer timing.add("hybrid search", time.Now())
		return l.server.hybrid(ctx, call)
	})
	if err != nil {
		return nil, err
	}
	if err := checkTenant(list, tenant, req.Scope.Tenant); err != nil {
		return nil, err
	}
	fused := p.field
	fused.index.metric = "" // the fused score is no longer the metric's
	return finish(fused, list, true)
}

func hybridPartOf(c *collection, name string, req core.SearchRequest) (hybridPart, error) {
	f, err := c.vector(name)
	if err != nil {
		return hybridPart{}, err
	}
	if f.kind != kindSparse {
		return hybridPart{field: f, dense: req.Vector}, checkVector(f, req.Vector)
	}
	if req.Sparse == nil || len(req.Sparse.Indices) == 0 || len(req.Sparse.Indices) != len(req.Sparse.Values) {
		return hybridPart{}, fmt.Errorf("adapters/milvus: sparse field %q: %w: the query has no sparse vector", name, core.ErrInvalid)
	}
	return hybridPart{field: f, sparse: req.Sparse}, nil
}

// withName adds a field to the output where the dynamic field does not bring it anyway.
func withName(output []string, c *collection, name string) []string {
	for _, o := range output {
		if o == name || o == dynamicField && !isField(c, name) {
			return output
		}
	}
	return append(append([]string(nil), output...), name)
}

func isField(c *collection, name string) bool {
	_, ok := c.find(name)
	return ok
}

// checkTenant refuses a result that holds another tenant's passage: some versions of Milvus did not apply a
// partition key's isolation to hybrid searches.
func checkTenant(list []core.Candidate, name, tenant string) error {
	for _, c := range list {
		if name != "" && fmt.Sprint(c.Payload[name]) != tenant {
			return fmt.Errorf("adapters/milvus: hybrid search: %w: the server returned %v of another tenant; its version does not isolate hybrid searches", core.ErrUnsupported, c.ID)
		}
	}
	return nil
}
