package httpapi

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/obs"
	"github.com/georag/georag/internal/secret"
)

// AuthConfig says who may use the service.
type AuthConfig struct {
	// KeysFile lists the keys, one a line: a name, the key's hash as [HashKey] gives it, and optionally
	// tenant=… and expires=… (RFC 3339). Lines that begin with # are comments. "" is no keys.
	KeysFile string `koanf:"keys_file"`
	// Reload is how long a changed file may go unnoticed. 0 is 1 s.
	Reload time.Duration `koanf:"reload"`
	// Anonymous allows an address that others can reach without keys.
	Anonymous bool `koanf:"anonymous"`
	// OpenMetrics serves /metrics without a key.
	OpenMetrics bool `koanf:"open_metrics"`
}

// HashKey returns what a keys file holds of a key: "sha256:" and 64 hexadecimal digits. Keys are meant to be random
// and long (32 bytes from a generator), for which a plain hash is enough.
func HashKey(key secret.Secret) string {
	sum := sha256.Sum256([]byte(key.Reveal()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Principal is who a request comes from. The zero Principal is anyone, where there are no keys.
type Principal struct {
	Name string
	// Tenant that the key is bound to; "" where it may name any.
	Tenant string
}

// Scope returns the tenant a request of p searches: the one p is bound to, else the one asked for. A bound key that
// asks for another tenant is a fault.
func (p Principal) Scope(tenant string) (string, error) {
	switch {
	case p.Tenant == "" || tenant == p.Tenant:
		return tenant, nil
	case tenant == "":
		return p.Tenant, nil
	}
	return "", &Fault{Status: http.StatusForbidden, Code: CodeTenant, Field: "tenant", Message: "the key belongs to another tenant"}
}

// keyring is the content of a keys file.
type keyring []keyEntry

type keyEntry struct {
	principal Principal
	hash      [sha256.Size]byte
	expires   time.Time // zero: never
}

// find compares the presented key with every entry, in a time that does not depend on which of them it is.
func (k keyring) find(presented string, now time.Time) (Principal, bool) {
	hash := sha256.Sum256([]byte(presented))
	var found Principal
	ok := false
	for _, entry := range k {
		same := subtle.ConstantTimeCompare(hash[:], entry.hash[:]) == 1
		if same && (entry.expires.IsZero() || now.Before(entry.expires)) {
			found, ok = entry.principal, true
		}
	}
	return found, ok
}

func parseKeys(contents [][]byte) (keyring, error) {
	var ring keyring
	lines := bufio.NewScanner(bytes.NewReader(contents[0]))
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		entry, err := parseKey(line)
		if err != nil {
			return nil, fmt.Errorf("adapters/httpapi: %w: auth.keys_file, line %d: %w", core.ErrInvalid, number, err)
		}
		ring = append(ring, entry)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("adapters/httpapi: %w: auth.keys_file: %w", core.ErrInvalid, err)
	}
	return ring, nil
}

// parseKey reads a line. Its errors do not repeat the line: someone may have put the key itself there.
func parseKey(line string) (keyEntry, error) {
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return keyEntry{}, fmt.Errorf("want a name and a hash")
	}
	digits, ok := strings.CutPrefix(fields[1], "sha256:")
	hash, err := hex.DecodeString(digits)
	if !ok || err != nil || len(hash) != sha256.Size {
		return keyEntry{}, fmt.Errorf("the second word is not sha256: and 64 hexadecimal digits")
	}
	entry := keyEntry{principal: Principal{Name: fields[0]}, hash: [sha256.Size]byte(hash)}
	for _, field := range fields[2:] {
		name, value, _ := strings.Cut(field, "=")
		switch {
		case name == "tenant" && value != "":
			entry.principal.Tenant = value
		case name == "expires":
			if entry.expires, err = time.Parse(time.RFC3339, value); err != nil {
				return keyEntry{}, fmt.Errorf("expires is no time such as 2030-01-31T00:00:00Z")
			}
		default:
			return keyEntry{}, fmt.Errorf("want tenant=… or expires=… after the hash")
		}
	}
	return entry, nil
}

// openKeys reads the keys file; nil where there is none.
func openKeys(c AuthConfig, log *slog.Logger) (*watched[keyring], error) {
	if c.KeysFile == "" {
		return nil, nil
	}
	keys := &watched[keyring]{
		paths: []string{c.KeysFile}, parse: parseKeys, every: c.Reload,
		failed: func(err error) { log.Error("keys file not taken over, the former keys stay", "error", err.Error()) },
	}
	if err := keys.open(); err != nil {
		return nil, fmt.Errorf("adapters/httpapi: %w: auth.keys_file: %w", core.ErrInvalid, err)
	}
	return keys, nil
}

// Authenticate tells whose key was presented. Where the service has no keys, it is anyone's.
func (s *Server) Authenticate(presented string) (Principal, error) {
	if s.keys == nil {
		return Principal{}, nil
	}
	if presented != "" {
		if who, ok := s.keys.get().find(presented, time.Now()); ok {
			return who, nil
		}
	}
	s.metrics.Rejected(obs.RejectCredentials)
	return Principal{}, &Fault{Status: http.StatusUnauthorized, Code: CodeUnauthorized, Message: "a valid API key is needed: Authorization: Bearer …"}
}

// presentedKey reads the key of a request where one of the protocols puts it. Some clients send the bare key as
// Authorization.
func presentedKey(h http.Header) string {
	if authorization := h.Get("Authorization"); authorization != "" {
		scheme, key, found := strings.Cut(authorization, " ")
		if found && strings.EqualFold(scheme, "Bearer") {
			return strings.TrimSpace(key)
		}
		return authorization
	}
	for _, name := range []string{"Api-Key", "X-Api-Key"} {
		if key := h.Get(name); key != "" {
			return key
		}
	}
	return ""
}
