package qdrantproxy

import (
	"fmt"
	"net"
	"slices"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/selectproxy"
)

// Config of the proxy. The collections that selections are made from are those of the store's configuration, with its
// tenant key, search parameters and credentials.
type Config struct {
	// Upstream is Qdrant's REST interface; without its url there is no proxy for REST.
	selectproxy.Upstream `koanf:",squash"`
	// GRPCListen is the address to serve gRPC at; "" is no proxy for gRPC. Its TLS and keys are the server's.
	GRPCListen string `koanf:"grpc_listen"`
	// Collections that requests may ask a selection from; empty is the store's own.
	Collections []string `koanf:"collections"`
	// Always lists collections whose queries are selected for without asking.
	Always []string `koanf:"always"`
}

// Validate reports the first setting out of its range; the error wraps [core.ErrInvalid].
func (c Config) Validate() error {
	if c.URL == "" && c.GRPCListen == "" {
		return fmt.Errorf("adapters/qdrantproxy: %w: neither url (REST) nor grpc_listen is set", core.ErrInvalid)
	}
	if slices.Contains(c.Collections, "") || slices.Contains(c.Always, "") {
		return fmt.Errorf("adapters/qdrantproxy: %w: collections and always: an empty name is no collection", core.ErrInvalid)
	}
	if c.GRPCListen != "" {
		if _, _, err := net.SplitHostPort(c.GRPCListen); err != nil {
			return fmt.Errorf("adapters/qdrantproxy: %w: grpc_listen is %q, want host:port: %w", core.ErrInvalid, c.GRPCListen, err)
		}
	}
	if c.URL == "" {
		return nil
	}
	return c.Upstream.Validate()
}
