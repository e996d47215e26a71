package modelhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/retry"
	"github.com/georag/georag/internal/secret"
)

const (
	maxErrorBody    = 64 << 10
	maxErrorMessage = 300 // runes of a server's message that are repeated
)

// StatusError is a server's refusal. It wraps [core.ErrUnauthorized] (401, 403), [core.ErrNotFound] (404),
// [core.ErrUnavailable] (408, 424, 429 and 5xx) or [core.ErrInvalid] (the rest).
type StatusError struct {
	Status     int
	Message    string        // the server's own words, shortened, without the key
	RetryAfter time.Duration // 0 where the server did not say
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("the server answered %d %s", e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

func (e *StatusError) Unwrap() error {
	switch {
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		return core.ErrUnauthorized
	case e.Status == http.StatusNotFound:
		return core.ErrNotFound
	case e.temporary() || e.Status >= 500:
		return core.ErrUnavailable
	default:
		return core.ErrInvalid
	}
}

// temporary: the same request may succeed later. 424 is how TEI reports a failed backend; 501 and 505 to 599
// describe the server rather than its moment.
func (e *StatusError) temporary() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusFailedDependency, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// Check returns nil for a 2xx response, and else reads and closes the body and returns a *StatusError.
func Check(res *http.Response, key secret.Secret) error {
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	_ = res.Body.Close()
	return &StatusError{
		Status:     res.StatusCode,
		Message:    Message(errorMessage(body), key),
		RetryAfter: retry.After(res.Header.Get("Retry-After"), time.Now()),
	}
}

// Classify tells retry.Do which failures of a model server are worth another try: refusals of the moment, and
// connections that broke. A key that is wrong stays wrong, and an answer that makes no sense is not asked for again.
func Classify(err error) (again bool, after time.Duration) {
	var status *StatusError
	if errors.As(err, &status) {
		return status.temporary(), status.RetryAfter
	}
	return isTransport(err), 0
}

// Wrap marks failures to reach the server as [core.ErrUnavailable] and leaves other errors as they are.
func Wrap(err error) error {
	if err == nil || errors.Is(err, core.ErrUnavailable) || !isTransport(err) {
		return err
	}
	return fmt.Errorf("%w: %w", core.ErrUnavailable, err)
}

func isTransport(err error) bool {
	if errors.Is(err, context.Canceled) {
		return false
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// errorMessage finds the words of a server in the shapes of OpenAI {"error":{"message"}}, TEI {"error"}, Cohere
// {"message"}, Jina and FastAPI {"detail"}, or plain text. HTML pages say nothing that the status does not.
func errorMessage(body []byte) string {
	var shape struct {
		Error, Message, Detail json.RawMessage
	}
	if json.Unmarshal(body, &shape) != nil {
		if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
			return ""
		}
		return string(body)
	}
	for _, field := range []json.RawMessage{shape.Error, shape.Detail, shape.Message} {
		if text := words(field); text != "" {
			return text
		}
	}
	return string(body)
}

// words turns a string, an object with a "message" or "msg", or a list of those into one line.
func words(field json.RawMessage) string {
	var text string
	if json.Unmarshal(field, &text) == nil {
		return text
	}
	var object struct{ Message, Msg string }
	if json.Unmarshal(field, &object) == nil && object.Message+object.Msg != "" {
		return object.Message + object.Msg
	}
	var list []json.RawMessage
	if json.Unmarshal(field, &list) != nil {
		return ""
	}
	var parts []string
	for _, item := range list {
		if part := words(item); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "; ")
}

// Message makes a server's words fit to be repeated: one line of at most 300 runes, without the key, that cannot play
// tricks on a terminal.
func Message(text string, key secret.Secret) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
	// The key goes last, because a character that was dropped above may have stood in the middle of it.
	text = key.Scrub(strings.Join(strings.Fields(text), " "))
	if utf8.RuneCountInString(text) > maxErrorMessage {
		text = string([]rune(text)[:maxErrorMessage]) + "…"
	}
	return text
}
