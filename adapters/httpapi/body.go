package httpapi

import (
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/georag/georag/internal/obs"
)

// readBody reads a JSON request's body to its end, decompressed. release gives its bytes back to the budget. The
// connection's read deadline is already set.
func (s *Server) readBody(r *http.Request) (body []byte, release func(), err error) {
	if err := checkMediaType(r.Header); err != nil {
		return nil, nil, err
	}
	if r.ContentLength > int64(s.config.Limits.Body) {
		return nil, nil, s.tooLarge()
	}
	source := io.Reader(r.Body)
	switch encoding := strings.TrimSpace(strings.ToLower(r.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
	case "gzip":
		if source, err = gzip.NewReader(io.LimitReader(r.Body, int64(s.config.Limits.Body)+1)); err != nil {
			return nil, nil, s.unreadable(err)
		}
	default:
		return nil, nil, &Fault{Status: http.StatusUnsupportedMediaType, Code: CodeEncoding, Message: "Content-Encoding must be gzip or identity"}
	}
	return s.readBounded(source)
}

// bodyStep is how much of a body is reserved and read at a time: a client that announces much and sends little
// holds little.
const bodyStep = 64 << 10

func (s *Server) readBounded(source io.Reader) (body []byte, release func(), err error) {
	held := int64(0)
	release = func() { s.budget.give(held) }
	for {
		if len(body) == int(held) {
			if !s.budget.take(bodyStep) {
				release()
				return nil, nil, s.gate.refuse(obs.RejectBuffer)
			}
			held += bodyStep
			body = slices.Grow(body, bodyStep)
		}
		n, err := source.Read(body[len(body):held])
		body = body[:len(body)+n]
		switch {
		case len(body) > s.config.Limits.Body:
			release()
			return nil, nil, s.tooLarge()
		case errors.Is(err, io.EOF):
			return body, release, nil
		case err != nil:
			release()
			return nil, nil, s.unreadable(err)
		}
	}
}

func (s *Server) tooLarge() *Fault {
	return &Fault{Status: http.StatusRequestEntityTooLarge, Code: CodeBodyTooLarge,
		Message: "the body, decompressed, is larger than the limit"}
}

func (s *Server) unreadable(err error) *Fault {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &Fault{Status: http.StatusRequestTimeout, Code: CodeBodyTimeout, Message: "the body did not arrive in time", cause: err}
	}
	return &Fault{Status: http.StatusBadRequest, Code: CodeBodyUnreadable, Message: "the body is cut off or not what its headers say", cause: err}
}

func checkMediaType(h http.Header) error {
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset := strings.ToLower(params["charset"])
	if err != nil || media != "application/json" && !(strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")) || charset != "" && charset != "utf-8" {
		return &Fault{Status: http.StatusUnsupportedMediaType, Code: CodeMediaType, Message: "Content-Type must be application/json, in UTF-8"}
	}
	return nil
}
