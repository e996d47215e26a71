// Package webui is the page at /ui: a question, the nearest passages beside those that are selected, the sub-queries
// each of them covers, the trace, and where everything lies.
//
// The page is plain HTML, CSS and JavaScript from this binary; it asks for nothing elsewhere, and its
// Content-Security-Policy keeps it so. Its files are for everyone; what it shows comes from the two answers of this
// package, which take the service's one way with its keys, limits and turns. A key that a person types stays in the
// browser tab's session storage and is sent as any other client sends it.
package webui
