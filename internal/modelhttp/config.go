// Package modelhttp is the HTTP side that all clients of model servers share: where the server is, which key it
// wants, how long a call may take, and what its refusals mean.
package modelhttp

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/retry"
	"github.com/georag/georag/internal/secret"
)

// Config says how to reach one model server.
type Config struct {
	// BaseURL is http or https, with the path that the server's own documentation gives, and without a query
	// or credentials. Empty is the default of the API in question, where it has one.
	BaseURL string `koanf:"base_url"`
	// Source says where the key is; the zero value sends none.
	secret.Source `koanf:",squash"`
	// Policy bounds each call and its retries. Where Timeout is 0 the client sets its own default.
	retry.Policy `koanf:",squash"`
}

// Validate reports a setting out of its range; the error wraps [core.ErrInvalid].
func (c Config) Validate() error {
	if err := c.Source.Validate(); err != nil {
		return err
	}
	if err := c.Policy.Validate(); err != nil {
		return err
	}
	_, err := parseBase(c.BaseURL)
	return err
}

// parseBase refuses URLs that carry a key, because URLs are printed in errors and logs.
func parseBase(base string) (*url.URL, error) {
	if base == "" {
		return nil, nil
	}
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("internal/modelhttp: base_url: %w: not a URL", core.ErrInvalid)
	}
	switch {
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("internal/modelhttp: base_url of %s: %w: must have no credentials, query or fragment; a key belongs in api_key_env or api_key_file", u.Host, core.ErrInvalid)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("internal/modelhttp: base_url %q: %w: must start with http:// or https:// and name a host", base, core.ErrInvalid)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}
