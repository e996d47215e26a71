package selectproxy

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net/url"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/clienttls"
)

// Defaults of [Upstream].
const (
	DefaultUpstreamTimeout = time.Minute
	DefaultMaxBody         = 4 << 20
)

// Upstream is the HTTP interface of the database that requests pass through to.
type Upstream struct {
	// URL is "http://host:port" or "https://…", with a path where the database stands behind one.
	URL string `koanf:"url"`
	// CAFile holds the certificates to trust (PEM); empty is the system's.
	CAFile string `koanf:"ca_file"`
	// Timeout is how long the database may take to begin its answer. 0 is one minute.
	Timeout time.Duration `koanf:"timeout"`
	// SelectTimeout bounds the selections of one request. 0 is 2 s.
	SelectTimeout time.Duration `koanf:"select_timeout"`
	// MaxBody bounds, in bytes, what is read of a request to select for it, and of the answer that is put in order.
	// Other bodies pass through at any size. 0 is 4 MiB.
	MaxBody int `koanf:"max_body"`
}

// Validate reports the first setting out of its range; the error wraps [core.ErrInvalid].
func (u Upstream) Validate() error {
	parsed, err := url.Parse(u.URL)
	switch {
	case err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.RawQuery != "" || parsed.User != nil:
		return fmt.Errorf("internal/selectproxy: %w: url is %q, want http://host:port or https://host:port", core.ErrInvalid, u.URL)
	case u.Timeout < 0 || u.SelectTimeout < 0:
		return fmt.Errorf("internal/selectproxy: %w: timeout %v and select_timeout %v must not be negative", core.ErrInvalid, u.Timeout, u.SelectTimeout)
	case u.MaxBody < 0 || u.MaxBody > 1<<30:
		return fmt.Errorf("internal/selectproxy: %w: max_body is %d, want 0 to %d", core.ErrInvalid, u.MaxBody, 1<<30)
	}
	return nil
}

func (u Upstream) maxBody() int { return cmp.Or(u.MaxBody, DefaultMaxBody) }

// tlsConfig is nil where the system's certificates are trusted.
func (u Upstream) tlsConfig() (*tls.Config, error) {
	if u.CAFile == "" {
		return nil, nil
	}
	trusted, err := clienttls.Trusted("ca_file", u.CAFile)
	if err != nil {
		return nil, fmt.Errorf("internal/selectproxy: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trusted}, nil
}
