package httpapi

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"time"

	"github.com/georag/georag/core"
)

// TLSConfig of the listener. Its zero value is plain HTTP.
type TLSConfig struct {
	CertFile string `koanf:"cert_file"` // PEM chain
	KeyFile  string `koanf:"key_file"`
	// ClientCAFile makes every client show a certificate of one of these authorities (mTLS).
	ClientCAFile string `koanf:"client_ca_file"`
	// Reload is how long changed files may go unnoticed. 0 is 1 min.
	Reload time.Duration `koanf:"reload"`
}

func (c TLSConfig) validate() error {
	if (c.CertFile == "") != (c.KeyFile == "") {
		return fmt.Errorf("adapters/httpapi: %w: tls needs both cert_file and key_file", core.ErrInvalid)
	}
	if c.ClientCAFile != "" && c.CertFile == "" {
		return fmt.Errorf("adapters/httpapi: %w: tls.client_ca_file needs cert_file and key_file", core.ErrInvalid)
	}
	return nil
}

// openTLS returns the configuration of the listener, read again per handshake as the files change; nil is no TLS.
func openTLS(c TLSConfig, log *slog.Logger) (*tls.Config, error) {
	if c.CertFile == "" {
		return nil, nil
	}
	files := &watched[*tls.Config]{
		paths: []string{c.CertFile, c.KeyFile}, parse: parseTLS, every: c.Reload,
		failed: func(err error) { log.Error("TLS files not taken over, the former ones stay", "error", err.Error()) },
	}
	if c.ClientCAFile != "" {
		files.paths = append(files.paths, c.ClientCAFile)
	}
	if err := files.open(); err != nil {
		return nil, fmt.Errorf("adapters/httpapi: %w: tls: %w", core.ErrInvalid, err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return files.get(), nil
		},
	}, nil
}

// parseTLS reads certificate, key and, as third, the authorities of clients.
func parseTLS(contents [][]byte) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return nil, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}
	if len(contents) > 2 {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(contents[2]) {
			return nil, fmt.Errorf("client_ca_file holds no PEM certificate")
		}
	}
	return config, nil
}
