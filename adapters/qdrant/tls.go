package qdrant

import (
	"crypto/tls"
	"fmt"
)

// tlsConfig reads the certificates; it is nil where TLS is not wanted.
func (c Config) tlsConfig(wanted bool) (*tls.Config, error) {
	if !c.TLS.Enabled && !wanted {
		return nil, nil
	}
	config, err := c.TLS.Load()
	if err != nil {
		return nil, fmt.Errorf("adapters/qdrant: %w", err)
	}
	return config, nil
}
