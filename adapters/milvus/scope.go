package milvus

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/georag/georag/core"
)

// scope is a request's restriction in Milvus's terms. Every call of the request gets the same one.
type scope struct {
	expr        string
	partitions  []string
	consistency string
}

// scopeOf translates a request's scope. A tenant or partition that is required and empty is [core.ErrEmptyScope].
func (s *Store) scopeOf(c *collection, r core.Scope) (scope, error) {
	partitions, err := s.partitions(r.Partitions)
	if err != nil {
		return scope{}, err
	}
	tenant, err := tenantExpr(s.cfg.TenantField, c, r.Tenant)
	if err != nil {
		return scope{}, err
	}
	if err := checkFilter(r.Filter); err != nil {
		return scope{}, err
	}
	consistency := r.Consistency
	if consistency == "" {
		consistency = s.cfg.Consistency
	}
	if _, err := parseConsistency(consistency); err != nil {
		return scope{}, err
	}
	return scope{expr: and(tenant, r.Filter), partitions: partitions, consistency: consistency}, nil
}

// partitions returns the partitions to search: the requested ones, which must be among the configured ones.
func (s *Store) partitions(requested []string) ([]string, error) {
	if requested == nil {
		return s.cfg.Partitions, nil
	}
	if len(requested) == 0 {
		return nil, fmt.Errorf("adapters/milvus: %w: the list of partitions is empty", core.ErrEmptyScope)
	}
	if err := checkPartitionNames(requested); err != nil {
		return nil, err
	}
	for _, name := range requested {
		if len(s.cfg.Partitions) > 0 && !slices.Contains(s.cfg.Partitions, name) {
			return nil, fmt.Errorf("adapters/milvus: partition %q: %w: the configured ones are %s", name, core.ErrNotFound, list(slices.Clone(s.cfg.Partitions)))
		}
	}
	return requested, nil
}

var partitionName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// checkPartitionNames refuses what is no plain name, because Milvus reads partition names as regular expressions:
// ".*" would be every partition.
func checkPartitionNames(names []string) error {
	for _, name := range names {
		if !partitionName.MatchString(name) {
			return fmt.Errorf("adapters/milvus: %w: %q is no partition name", core.ErrInvalid, name)
		}
	}
	return nil
}

// tenantExpr is the condition that the tenant field has the tenant's value.
func tenantExpr(name string, c *collection, tenant string) (string, error) {
	switch {
	case name == "" && tenant == "":
		return "", nil
	case name == "":
		return "", fmt.Errorf("adapters/milvus: %w: the request names a tenant and the store has no tenant_field", core.ErrInvalid)
	case tenant == "":
		return "", fmt.Errorf("adapters/milvus: %w: tenant_field is %q and the request names no tenant", core.ErrEmptyScope, name)
	}
	if f, ok := c.find(name); ok && f.kind == kindInt64 {
		number, err := strconv.ParseInt(tenant, 10, 64)
		if err != nil {
			return "", fmt.Errorf("adapters/milvus: tenant %q: %w: tenant_field %q holds integers", tenant, core.ErrInvalid, name)
		}
		return name + " == " + strconv.FormatInt(number, 10), nil
	}
	value, err := quote(tenant)
	if err != nil {
		return "", err
	}
	return name + " == " + value, nil
}

// idExpr is the condition that the primary key is one of ids, without those the key's type cannot hold.
func idExpr(primary field, ids []core.ID) (string, error) {
	var values []string
	for _, id := range ids {
		number, integer := id.Int()
		text, textual := id.Text()
		switch {
		case primary.kind == kindInt64 && integer:
			values = append(values, strconv.FormatInt(number, 10))
		case primary.kind == kindVarchar && textual:
			value, err := quote(text)
			if err != nil {
				return "", err
			}
			values = append(values, value)
		}
	}
	if len(values) == 0 {
		return "", nil
	}
	return primary.name + " in [" + strings.Join(values, ", ") + "]", nil
}

// quote writes s as a string literal of Milvus's expression language.
func quote(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("adapters/milvus: %w: %q is not UTF-8", core.ErrInvalid, s)
	}
	return `"` + escapes.Replace(s) + `"`, nil
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`)

// and joins conditions, each in parentheses, leaving out empty ones.
func and(conditions ...string) string {
	var parts []string
	for _, condition := range conditions {
		if strings.TrimSpace(condition) != "" {
			parts = append(parts, "("+condition+")")
		}
	}
	return strings.Join(parts, " && ")
}

// checkFilter refuses a filter that does not stay within the parentheses it is put in: one that closes more than
// it opens would turn "(tenant) && (filter)" into "(tenant) && (a) || (b)".
func checkFilter(filter string) error {
	var open []byte
	for i := 0; i < len(filter); i++ {
		switch b := filter[i]; b {
		case '(', '[', '{':
			open = append(open, closing[b])
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1] != b {
				return fmt.Errorf("adapters/milvus: filter %q: %w: %q at byte %d closes nothing", filter, core.ErrInvalid, b, i)
			}
			open = open[:len(open)-1]
		case '"', '\'':
			end := literalEnd(filter, i)
			if end < 0 {
				return fmt.Errorf("adapters/milvus: filter %q: %w: the string at byte %d does not end", filter, core.ErrInvalid, i)
			}
			i = end
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("adapters/milvus: filter %q: %w: %q is missing at its end", filter, core.ErrInvalid, open[len(open)-1])
	}
	return nil
}

var closing = map[byte]byte{'(': ')', '[': ']', '{': '}'}

// literalEnd returns where the string literal that starts at i ends, or −1.
func literalEnd(s string, i int) int {
	for j := i + 1; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case '\n', '\r':
			return -1
		case s[i]:
			return j
		}
	}
	return -1
}
