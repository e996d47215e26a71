package milvusproxy

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/selectproxy"
)

// DefaultIDField is the name of the primary key where nothing else is configured.
const DefaultIDField = "id"

// Config of the proxy. The collections that selections are made from are those of the store's configuration, with its
// tenant field, search parameters and credentials.
type Config struct {
	// Upstream is Milvus's REST interface.
	selectproxy.Upstream `koanf:",squash"`
	// Database that the collections are in; "" is "default".
	Database string `koanf:"database"`
	// IDField is the collections' primary key. "" is "id".
	IDField string `koanf:"id_field"`
	// Collections that requests may ask a selection from; empty is the store's own.
	Collections []string `koanf:"collections"`
	// Always lists collections whose searches are selected for without asking.
	Always []string `koanf:"always"`
}

// identifier is what Milvus accepts as the name of a field; nothing else is written into an expression.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Validate reports the first setting out of its range; the error wraps [core.ErrInvalid].
func (c Config) Validate() error {
	if slices.Contains(c.Collections, "") || slices.Contains(c.Always, "") {
		return fmt.Errorf("adapters/milvusproxy: %w: collections and always: an empty name is no collection", core.ErrInvalid)
	}
	if !identifier.MatchString(c.idField()) {
		return fmt.Errorf("adapters/milvusproxy: %w: id_field %q is no field name", core.ErrInvalid, c.IDField)
	}
	return c.Upstream.Validate()
}

func (c Config) idField() string { return cmp.Or(c.IDField, DefaultIDField) }

// inDatabase reports whether a request's database is the configured one.
func (c Config) inDatabase(name string) bool {
	const byDefault = "default"
	return cmp.Or(name, byDefault) == cmp.Or(c.Database, byDefault)
}
