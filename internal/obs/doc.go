// Package obs makes the service observable: Prometheus metrics ([Metrics]) and OpenTelemetry traces ([Tracing]).
// Neither ever holds a question's text, a filter, a tenant or a key.
package obs
