package milvus

import (
	"crypto/tls"
	"fmt"
)

// tlsConfig reads the files; it is nil where TLS is not wanted.
func (c Config) tlsConfig() (*tls.Config, error) {
	if !c.tlsWanted() {
		return nil, nil
	}
	config, err := c.TLS.Load()
	if err != nil {
		return nil, fmt.Errorf("adapters/milvus: %w", err)
	}
	return config, nil
}
