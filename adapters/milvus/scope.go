package milvus

import (
	"fmt"
	"math"
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
		return idExpr(field{name: name, kind: kindInt64}, []core.ID{core.IntID(number)})
	}
	value, err := quote(tenant)
	if err != nil {
		return "", err
	}
	return name + " == " + value, nil
}

// idExpr is the condition that the primary key is one of ids, without those the key's type cannot hold. Milvus
// reads −2^63 as minus 2^63, which does not fit, so that one is written as what lies below −2^63+1.
func idExpr(primary field, ids []core.ID) (string, error) {
	var values []string
	lowest := ""
	for _, id := range ids {
		number, integer := id.Int()
		text, textual := id.Text()
		switch {
		case primary.kind == kindInt64 && integer && number == math.MinInt64:
			lowest = primary.name + " < " + strconv.FormatInt(math.MinInt64+1, 10)
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
		return lowest, nil
	}
	listed := primary.name + " in [" + strings.Join(values, ", ") + "]"
	if lowest == "" {
		return listed, nil
	}
	return "(" + listed + ") || (" + lowest + ")", nil
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
