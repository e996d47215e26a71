package milvus

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/georag/georag/core"
)

// tlsConfig reads the files; it is nil where TLS is not wanted.
func (c Config) tlsConfig() (*tls.Config, error) {
	if !c.tlsWanted() {
		return nil, nil
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.TLS.ServerName}
	if c.TLS.CAFile != "" {
		pem, err := os.ReadFile(c.TLS.CAFile)
		if err != nil {
			return nil, fmt.Errorf("adapters/milvus: tls.ca_file: %w: %w", core.ErrInvalid, err)
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("adapters/milvus: tls.ca_file %s: %w: it holds no PEM certificate", c.TLS.CAFile, core.ErrInvalid)
		}
	}
	if c.TLS.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(c.TLS.CertFile, c.TLS.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("adapters/milvus: tls.cert_file, tls.key_file: %w: %w", core.ErrInvalid, err)
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, nil
}
