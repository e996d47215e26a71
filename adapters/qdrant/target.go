package qdrant

import "crypto/tls"

// Target is the first address as "host:port" and the TLS to reach it with, nil for none, for those who speak to the same
// server beside a [Store].
func (c Config) Target() (addr string, secure *tls.Config, err error) {
	if err := c.Validate(); err != nil {
		return "", nil, err
	}
	where, err := c.endpoints()
	if err != nil {
		return "", nil, err
	}
	secure, err = c.tlsConfig(where.tls)
	return where.addrs[0], secure, err
}
