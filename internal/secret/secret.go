// Package secret holds keys so that they cannot be printed by accident, and reads them from the environment or a
// file. There is no way to pass one on a command line, where every process of the machine could read it.
package secret

import (
	"fmt"
	"log/slog"
	"strings"
)

// redacted is what every way of printing a Secret gives.
const redacted = "[redacted]"

// Secret is a key that no verb of fmt, no encoder of text or JSON and no slog handler shows. The zero Secret is no
// key at all.
//
// The value lies behind a pointer, because fmt prints unexported struct fields without asking their methods: a
// pointer there comes out as an address, where a string would come out as the key.
type Secret struct{ value *string }

// New returns value as a Secret; an empty value is no key.
func New(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{value: &value}
}

// Reveal returns the key itself, for the one line that sends it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether there is no key.
func (s Secret) IsZero() bool { return s.value == nil }

// Scrub returns text with every occurrence of the key replaced, for messages that come from a server: some repeat
// the key that they refuse.
func (s Secret) Scrub(text string) string {
	if s.value == nil {
		return text
	}
	return strings.ReplaceAll(text, *s.value, redacted)
}

// Format implements [fmt.Formatter] for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// String is "[redacted]", or empty where there is no key.
func (s Secret) String() string {
	if s.value == nil {
		return ""
	}
	return redacted
}

// GoString is as [Secret.String].
func (s Secret) GoString() string { return s.String() }

// MarshalText is as [Secret.String]; encoding/json and YAML encoders use it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue is as [Secret.String].
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
