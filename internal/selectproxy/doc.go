// Package selectproxy is what the proxies in front of vector databases share: how a client asks for a selection in the
// headers of another protocol, when a request is selected for and when it passes through, and the passing through
// itself. What a search looks like in a protocol, its proxy knows.
package selectproxy
