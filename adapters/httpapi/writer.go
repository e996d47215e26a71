package httpapi

import (
	"bytes"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// writer is the connection's writer: it knows the status sent, bounds every write in time, and asks clients not to
// come back on this connection once the service drains.
type writer struct {
	http.ResponseWriter
	server *Server
	status int
}

func (w *writer) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
		if w.server.draining.Load() {
			w.Header().Set("Connection", "close")
		}
	}
	w.bound()
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.bound()
	return w.ResponseWriter.Write(data)
}

// bound gives the client time to take the next write. Recorders have no connection to bound.
func (w *writer) bound() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.server.config.Timeouts.Write))
}

// Unwrap lets [http.ResponseController] reach the connection.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// heldAnswer is an answer that is not sent yet.
type heldAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *heldAnswer) Header() http.Header {
	if h.header == nil {
		h.header = http.Header{}
	}
	return h.header
}

func (h *heldAnswer) WriteHeader(status int) {
	if h.status == 0 && status >= 200 {
		h.status = status
	}
}

func (h *heldAnswer) Write(data []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	return h.body.Write(data)
}

func (h *heldAnswer) sendTo(w http.ResponseWriter) {
	maps.Copy(w.Header(), h.Header())
	w.Header().Set("Content-Length", strconv.Itoa(h.body.Len()))
	h.WriteHeader(http.StatusOK)
	w.WriteHeader(h.status)
	_, _ = w.Write(h.body.Bytes()) // a client that has left is in nobody's way
}
