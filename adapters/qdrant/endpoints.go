package qdrant

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/secret"
)

// endpoints are the configured addresses as "host:port".
type endpoints struct {
	addrs []string
	tls   bool // an address begins with https://
}

func (c Config) endpoints() (endpoints, error) {
	var e endpoints
	given := c.Addrs
	if c.Addr != "" {
		given = append([]string{c.Addr}, given...)
	}
	for i, text := range given {
		addr, secure, err := parseAddr(text)
		if err != nil {
			return endpoints{}, err
		}
		if i > 0 && secure != e.tls {
			return endpoints{}, fmt.Errorf("adapters/qdrant: %w: address %q: write https:// for all addresses or for none", core.ErrInvalid, text)
		}
		e.addrs, e.tls = append(e.addrs, addr), secure
	}
	return e, nil
}

// parseAddr reads "host", "host:port", "http://host:port" or "https://host:port".
func parseAddr(text string) (addr string, secure bool, err error) {
	if err := secret.CheckAddress(text); err != nil {
		return "", false, fmt.Errorf("adapters/qdrant: %w", err)
	}
	rest := text
	if strings.Contains(text, "://") {
		u, err := url.Parse(text)
		switch {
		case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https", u.Path != "" && u.Path != "/", u.RawQuery != "", u.User != nil:
			return "", false, fmt.Errorf("adapters/qdrant: %w: address %q: must be host:port, http://host:port or https://host:port", core.ErrInvalid, text)
		}
		rest, secure = u.Host, u.Scheme == "https"
	}
	host, port, err := net.SplitHostPort(rest)
	if err != nil { // no port
		host, port, err = net.SplitHostPort(rest + ":" + DefaultPort)
	}
	if err != nil || host == "" || port == "" || strings.ContainsAny(host, "/ ") {
		return "", false, fmt.Errorf("adapters/qdrant: %w: address %q: must be host:port", core.ErrInvalid, text)
	}
	return net.JoinHostPort(host, port), secure, nil
}

// restPortHint tells of the commonest mistake: Qdrant's REST port in place of its gRPC port.
func (e endpoints) restPortHint() string {
	for _, addr := range e.addrs {
		if strings.HasSuffix(addr, ":6333") {
			return " (6333 is Qdrant's REST port; its gRPC port is " + DefaultPort + ")"
		}
	}
	return ""
}

func (e endpoints) String() string { return strings.Join(e.addrs, ", ") }
