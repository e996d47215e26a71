package qdrant

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/georag/georag/core"
)

// tlsConfig reads the certificates; it is nil where TLS is not wanted.
func (c Config) tlsConfig(wanted bool) (*tls.Config, error) {
	if !c.TLS.Enabled && !wanted {
		return nil, nil
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.TLS.ServerName}
	if file := c.TLS.CAFile; file != "" {
		trusted, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("adapters/qdrant: tls.ca_file: %w: %w", core.ErrInvalid, err)
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(trusted) {
			return nil, fmt.Errorf("adapters/qdrant: tls.ca_file %s: %w: it holds no PEM certificate", file, core.ErrInvalid)
		}
	}
	if c.TLS.CertFile != "" {
		own, err := tls.LoadX509KeyPair(c.TLS.CertFile, c.TLS.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("adapters/qdrant: tls.cert_file, tls.key_file: %w: %w", core.ErrInvalid, err)
		}
		conf.Certificates = append(conf.Certificates, own)
	}
	return conf, nil
}
