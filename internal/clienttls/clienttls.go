// Package clienttls is how every client of a server sets up TLS: whom it trusts and how it names itself.
package clienttls

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/georag/georag/core"
)

// Config of a connection. Its zero value is a connection without TLS.
type Config struct {
	Enabled bool `koanf:"enabled"`
	// CAFile holds the certificates to trust (PEM); empty is the system's.
	CAFile string `koanf:"ca_file"`
	// CertFile and KeyFile are this client's own certificate, where the server asks for one.
	CertFile string `koanf:"cert_file"`
	KeyFile  string `koanf:"key_file"`
	// ServerName is the name the server's certificate must have; empty is the host of the address.
	ServerName string `koanf:"server_name"`
}

// Load reads the files, whether or not TLS is enabled; errors wrap [core.ErrInvalid] and name the setting.
func (c Config) Load() (*tls.Config, error) {
	trusted, err := Trusted("tls.ca_file", c.CAFile)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName, RootCAs: trusted}
	if c.CertFile != "" {
		own, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("tls.cert_file, tls.key_file: %w: %w", core.ErrInvalid, err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	return config, nil
}

// Trusted reads the certificates to trust from the file that a setting names; nil, the system's, where it names none.
func Trusted(setting, file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", setting, core.ErrInvalid, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("%s %s: %w: it holds no PEM certificate", setting, file, core.ErrInvalid)
	}
	return pool, nil
}
