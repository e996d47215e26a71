package flat

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/georag/georag/core"
)

// maxFieldNames bounds what is remembered of a corpus in which every passage has fields of its own.
const maxFieldNames = 1000

// fieldNames are the names of the fields seen, up to [maxFieldNames] of them.
type fieldNames map[string]struct{}

// check reports a field that no passage has.
func (f fieldNames) check(what, name string) error {
	if _, known := f[name]; known || len(f) >= maxFieldNames {
		return nil
	}
	return fmt.Errorf("%w: no passage has the %s %q; there are %s", core.ErrNotFound, what, name, strings.Join(f.sorted(), ", "))
}

func (f fieldNames) sorted() []string { return slices.Sorted(maps.Keys(f)) }

// note remembers the fields of a row and its tenant.
func (s *Store) note(row int32, fields []field) {
	if s.fields == nil {
		s.fields = make(fieldNames)
	}
	for _, f := range fields {
		if len(s.fields) < maxFieldNames {
			if _, known := s.fields[f.name]; !known {
				s.fields[strings.Clone(f.name)] = struct{}{} // f.name lies in the whole line
			}
		}
		if f.name == s.cfg.TenantKey {
			if tenant, ok := tenantOf(f.value); ok {
				if s.tenants[tenant] == nil {
					tenant = strings.Clone(tenant)
				}
				s.tenants[tenant] = append(s.tenants[tenant], row)
			}
		}
	}
}

// tenantOf is the tenant that a field names; anything but a string or an integer names none.
func tenantOf(v gjson.Result) (string, bool) {
	switch v.Type {
	case gjson.String:
		return v.Str, v.Str != ""
	case gjson.Number:
		return v.Raw, !strings.ContainsAny(v.Raw, ".eE")
	default:
		return "", false
	}
}

// checkConfiguredFields reports a configured field that no passage has, in an index that has any.
func (s *Store) checkConfiguredFields() error {
	if len(s.ids) == 0 {
		return nil
	}
	for _, configured := range []struct{ what, name string }{
		{"tenant field", s.cfg.TenantKey}, {"text field", s.cfg.TextField},
	} {
		if configured.name != "" {
			if err := s.fields.check(configured.what, configured.name); err != nil {
				return err
			}
		}
	}
	return nil
}
