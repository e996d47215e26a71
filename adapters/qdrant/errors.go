package qdrant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/retry"
	"github.com/georag/georag/internal/retry/grpcretry"
)

// failed wraps a call's error with the sentinel it amounts to. Errors of this package pass as they are.
func (s *Store) failed(ctx context.Context, r *retry.Retrier, what string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("adapters/qdrant: %s: %w", what, context.Cause(ctx))
	case alreadyTold(err):
		return err
	case errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded:
		return fmt.Errorf("adapters/qdrant: %s at %s: %w: %w: no answer within %v%s", what, s.where, core.ErrUnavailable, context.DeadlineExceeded, r.Timeout(), s.where.restPortHint())
	case grpcretry.MessageTooLarge(err):
		return fmt.Errorf("adapters/qdrant: %s: %w: %w: raise max_message_bytes, or ask for less", what, core.ErrInvalid, &serverError{codes.ResourceExhausted, message(err)})
	}
	refused := &serverError{status.Code(err), s.key.Scrub(message(err))}
	if missingCollection(err) {
		return s.noCollection(ctx, what)
	}
	if sentinel := refused.sentinel(); sentinel != core.ErrUnavailable {
		return fmt.Errorf("adapters/qdrant: %s on collection %q: %w: %w", what, s.cfg.Collection, sentinel, refused)
	}
	return fmt.Errorf("adapters/qdrant: %s at %s: %w: %w%s", what, s.where, core.ErrUnavailable, refused, s.where.restPortHint())
}

// serverError is a failure as gRPC or Qdrant told it.
type serverError struct {
	code codes.Code
	text string
}

func (e *serverError) Error() string { return fmt.Sprintf("%s (%s)", e.text, e.code) }

// sentinel is the error of package core that a server's failure amounts to. Qdrant has few codes, so its words
// decide where one code covers several cases.
func (e *serverError) sentinel() error {
	switch e.code {
	case codes.Unauthenticated, codes.PermissionDenied:
		return core.ErrUnauthorized
	case codes.Unimplemented:
		return core.ErrUnsupported
	case codes.NotFound:
		return core.ErrNotFound
	case codes.InvalidArgument, codes.AlreadyExists, codes.FailedPrecondition, codes.OutOfRange:
		switch {
		case strings.Contains(e.text, "Vector dimension error"):
			return core.ErrDimension
		case strings.Contains(e.text, "Not existing vector name"):
			return core.ErrNotFound
		}
		return core.ErrInvalid
	default:
		return core.ErrUnavailable
	}
}

// message is the server's text without grpc-go's frame.
func message(err error) string {
	if s, ok := status.FromError(err); ok {
		return s.Message()
	}
	return err.Error()
}

// refusal reports that the server understood the call and declined it.
func refusal(code codes.Code) bool {
	switch code {
	case codes.NotFound, codes.InvalidArgument, codes.FailedPrecondition, codes.AlreadyExists, codes.Unimplemented:
		return true
	}
	return false
}

// tooMuch reports a refusal that a smaller request may be spared.
func tooMuch(err error) bool {
	var told *serverError
	if !errors.As(err, &told) || errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrDimension) {
		return false
	}
	return told.code == codes.InvalidArgument || told.code == codes.ResourceExhausted || told.code == codes.Internal
}

func missingCollection(err error) bool {
	return status.Code(err) == codes.NotFound && strings.Contains(message(err), "Collection")
}

// noCollection tells which collections exist, where the server says.
func (s *Store) noCollection(ctx context.Context, what string) error {
	names := "the server does not tell which ones exist"
	ctx, cancel := context.WithTimeout(ctx, s.reads.Timeout())
	defer cancel()
	if l, err := s.conn.take(); err == nil {
		defer s.conn.put(l)
		if found, err := l.collections.List(ctx, &qd.ListCollectionsRequest{}); err == nil {
			var existing []string
			for _, c := range found.GetCollections() {
				existing = append(existing, c.GetName())
			}
			names = "existing collections: " + list(existing)
		}
	}
	return fmt.Errorf("adapters/qdrant: %s: collection %q: %w at %s: %s", what, s.cfg.Collection, core.ErrNotFound, s.where, names)
}

func alreadyTold(err error) bool {
	for _, sentinel := range []error{core.ErrNotFound, core.ErrInvalid, core.ErrUnsupported, core.ErrUnavailable, core.ErrNoVectors,
		core.ErrEmptyScope, core.ErrEmptyIndex, core.ErrDimension, core.ErrNotFinite, core.ErrZero, core.ErrUnauthorized} {
		if errors.Is(err, sentinel) {
			return true
		}
	}
	return false
}

// list prints names for a message, sorted, and not more than a person reads.
func list(names []string) string {
	const most = 100
	if len(names) == 0 {
		return "none"
	}
	names = slices.Sorted(slices.Values(names))
	if len(names) > most {
		return fmt.Sprintf("%q and %d more", names[:most], len(names)-most)
	}
	return fmt.Sprintf("%q", names)
}
