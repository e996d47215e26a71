package flat

import (
	"fmt"
	"strconv"

	"github.com/georag/georag/core"
)

// vectorName is what a request may call the only vectors there are.
const vectorName = "vector"

// rows are the rows that a scope admits.
type rows struct {
	some []int32 // ascending; nil where all rows are admitted
	all  int     // rows of the index
}

func (r rows) len() int {
	if r.some == nil {
		return r.all
	}
	return len(r.some)
}

func (r rows) at(i int) int32 {
	if r.some == nil {
		return int32(i)
	}
	return r.some[i]
}

// scope returns the rows that a scope admits, in every search of a request alike. The index is a snapshot, so that
// it satisfies any consistency.
func (s *Store) scope(scope core.Scope) (rows, error) {
	if err := s.checkScope(scope); err != nil {
		return rows{}, err
	}
	admitted := rows{some: s.live, all: len(s.ids)}
	if s.cfg.TenantKey != "" {
		if admitted.some = s.tenants[scope.Tenant]; admitted.some == nil {
			admitted.some = []int32{}
		}
	}
	if scope.Filter == "" || admitted.len() == 0 {
		return admitted, nil
	}
	key := strconv.Quote(scope.Tenant) + scope.Filter
	if known, ok := s.scopes.Get(key); ok {
		return rows{some: known}, nil
	}
	matching, err := s.filter(scope.Filter, admitted)
	if err != nil {
		return rows{}, err
	}
	s.scopes.Add(key, matching)
	return rows{some: matching}, nil
}

func (s *Store) checkScope(scope core.Scope) error {
	switch {
	case scope.Partitions != nil && len(scope.Partitions) == 0:
		return fmt.Errorf("adapters/flat: %w: the list of partitions is empty", core.ErrEmptyScope)
	case scope.Partitions != nil:
		return fmt.Errorf("adapters/flat: partitions %q: %w: a flat index has none", scope.Partitions, core.ErrUnsupported)
	case s.cfg.TenantKey != "" && scope.Tenant == "":
		return fmt.Errorf("adapters/flat: %w: the index is divided by %q and no tenant is named", core.ErrEmptyScope, s.cfg.TenantKey)
	case s.cfg.TenantKey == "" && scope.Tenant != "":
		return fmt.Errorf("adapters/flat: tenant %q: %w: no tenant_key is configured", scope.Tenant, core.ErrInvalid)
	case scope.VectorName != "" && scope.VectorName != vectorName:
		return fmt.Errorf("adapters/flat: %w: no vectors are called %q; there are %q", core.ErrNotFound, scope.VectorName, vectorName)
	}
	return nil
}

// filter returns those of the admitted rows whose fields satisfy the filter.
func (s *Store) filter(text string, admitted rows) ([]int32, error) {
	conditions, err := parseFilter(text)
	if err != nil {
		return nil, fmt.Errorf("adapters/flat: filter %.200q: %w: %w", text, core.ErrInvalid, err)
	}
	for _, c := range conditions {
		if c.field != idField {
			if err := s.fields.check("field", c.field); err != nil {
				return nil, fmt.Errorf("adapters/flat: filter %.200q: %w", text, err)
			}
		}
	}
	matching := []int32{}
	var line []byte
	for i := range admitted.len() {
		row := admitted.at(i)
		if line, err = s.line(line, row); err != nil {
			return nil, err
		}
		if conditions.match(line) {
			matching = append(matching, row)
		}
	}
	return matching, nil
}
