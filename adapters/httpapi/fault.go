package httpapi

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/strictjson"
)

// Code names a fault of a request or of the service. Codes are stable; messages are for people.
type Code string

const (
	CodeInvalid         Code = "invalid_value"
	CodeMediaType       Code = "unsupported_media_type"
	CodeEncoding        Code = "unsupported_encoding"
	CodeBodyTooLarge    Code = "body_too_large"
	CodeBodyUnreadable  Code = "unreadable_body"
	CodeBodyTimeout     Code = "body_timeout"
	CodeRoute           Code = "not_found"
	CodeMethod          Code = "method_not_allowed"
	CodeUnauthorized    Code = "unauthorized"
	CodeTenant          Code = "tenant_forbidden"
	CodeTenantRequired  Code = "tenant_required"
	CodeDimension       Code = "wrong_dimension"
	CodeVector          Code = "unusable_vector"
	CodeUnsupported     Code = "unsupported"
	CodeStrict          Code = "degraded_refused"
	CodeOverloaded      Code = "overloaded"
	CodeDeadline        Code = "deadline_exceeded"
	CodeUnavailable     Code = "unavailable"
	CodeUpstreamRefused Code = "upstream_unauthorized"
	CodeNoVectors       Code = "no_stored_vectors"
	CodeClientGone      Code = "client_closed_request"
	CodeInternal        Code = "internal"
)

// statusClientGone is what the log says of a request whose client left; nobody receives it.
const statusClientGone = 499

// Fault is an answer other than success. It marshals to {"error":{"code","message","field"}}.
type Fault struct {
	Status     int
	Code       Code
	Message    string
	Field      string        // dotted path of the request's field at fault, where there is one
	RetryAfter time.Duration // for 429 and 503

	cause error
	body  any // what is sent instead, where the protocol has a shape of its own
}

func (f *Fault) Error() string {
	if f.Field == "" {
		return fmt.Sprintf("adapters/httpapi: %s: %s", f.Code, f.Message)
	}
	return fmt.Sprintf("adapters/httpapi: %s: %s: %s", f.Code, f.Field, f.Message)
}

func (f *Fault) Unwrap() error { return f.cause }

// ErrorBody is the JSON of a fault.
type ErrorBody struct {
	Error ErrorDetail `json:"error"`
}

// ErrorDetail is the content of an [ErrorBody].
type ErrorDetail struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

func (f *Fault) detail() ErrorDetail {
	return ErrorDetail{Code: f.Code, Message: f.Message, Field: f.Field}
}

// json is what is sent.
func (f *Fault) json() any {
	if f.body != nil {
		return f.body
	}
	return ErrorBody{Error: f.detail()}
}

// invalid is a fault of a field's value.
func invalid(field, format string, values ...any) *Fault {
	return &Fault{Status: http.StatusBadRequest, Code: CodeInvalid, Field: field, Message: fmt.Sprintf(format, values...)}
}

// unavailableFor is the pause asked of clients where a part of the service is down.
const unavailableFor = 2 * time.Second

// FaultOf tells how an error of the core, or of decoding, is answered. What a client did wrong is told in full; of
// what is wrong behind the service only the kind is told.
func FaultOf(err error) *Fault {
	var (
		fault *Fault
		json  *strictjson.Error
	)
	switch {
	case errors.As(err, &fault):
		return fault
	case errors.As(err, &json):
		return &Fault{Status: http.StatusBadRequest, Code: Code(json.Code), Field: json.Field, Message: json.Message, cause: err}
	}
	for _, known := range []struct {
		sentinel error
		fault    Fault
		tell     bool // the error's own words
	}{
		{core.ErrStrict, Fault{Status: http.StatusUnprocessableEntity, Code: CodeStrict}, true},
		{core.ErrEmptyScope, Fault{Status: http.StatusBadRequest, Code: CodeTenantRequired, Field: "tenant"}, true},
		{core.ErrUnauthorized, Fault{Status: http.StatusBadGateway, Code: CodeUpstreamRefused, Message: "the store or a model refused this service's credentials"}, false},
		{core.ErrUnavailable, Fault{Status: http.StatusServiceUnavailable, Code: CodeUnavailable, RetryAfter: unavailableFor, Message: "the store or a model cannot be reached"}, false},
		{context.DeadlineExceeded, Fault{Status: http.StatusGatewayTimeout, Code: CodeDeadline, Message: "the request's time was up before there was an answer"}, false},
		{context.Canceled, Fault{Status: statusClientGone, Code: CodeClientGone, Message: "the client left"}, false},
		{core.ErrNoVectors, Fault{Status: http.StatusBadGateway, Code: CodeNoVectors, Message: "the store returned no usable stored vectors"}, false},
		{core.ErrDimension, Fault{Status: http.StatusBadRequest, Code: CodeDimension}, true},
		{core.ErrNotFinite, Fault{Status: http.StatusBadRequest, Code: CodeVector}, true},
		{core.ErrZero, Fault{Status: http.StatusBadRequest, Code: CodeVector}, true},
		{core.ErrNotFound, Fault{Status: http.StatusNotFound, Code: CodeRoute}, true},
		{core.ErrEmptyIndex, Fault{Status: http.StatusNotFound, Code: CodeRoute}, true},
		{core.ErrUnsupported, Fault{Status: http.StatusBadRequest, Code: CodeUnsupported}, true},
		{core.ErrInvalid, Fault{Status: http.StatusBadRequest, Code: CodeInvalid}, true},
	} {
		if errors.Is(err, known.sentinel) {
			f := known.fault
			if f.cause = err; known.tell {
				f.Message = err.Error()
			}
			return &f
		}
	}
	return &Fault{Status: http.StatusInternalServerError, Code: CodeInternal, Message: "internal error", cause: err}
}

// safeCause says of an error what cannot quote a request: the network operation, the certificate fault, or else the
// type of the innermost error.
func safeCause(err error) string {
	var (
		operation *net.OpError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &operation):
		return operation.Error()
	case errors.As(err, &authority):
		return authority.Error()
	case errors.As(err, &host):
		return host.Error()
	}
	for {
		inner := errors.Unwrap(err)
		if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 0 {
			inner = joined.Unwrap()[len(joined.Unwrap())-1]
		}
		if inner == nil {
			return fmt.Sprintf("%T", err)
		}
		err = inner
	}
}
