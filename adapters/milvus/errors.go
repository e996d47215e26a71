package milvus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/retry"
	"github.com/georag/georag/internal/retry/grpcretry"
)

// serverError is a failure that Milvus reports inside an answer.
type serverError struct {
	code      int32 // of Milvus 2.3 and later
	legacy    string
	reason    string
	retriable bool
}

func (e *serverError) Error() string {
	if e.reason == "" {
		return fmt.Sprintf("milvus error %d (%s)", e.code, e.legacy)
	}
	return e.reason
}

// Milvus's error codes, as far as they tell a caller what to do.
const (
	codeServiceNotReady   = 1
	codeServiceAway       = 2
	codeTooManyRequests   = 4
	codeServiceRateLimit  = 8
	codeCollectionMissing = 100
	codeCollectionAsleep  = 101
	codeCollectionWaking  = 103
	codePartitionMissing  = 200
	codePartitionAsleep   = 201
	codePartitionWaking   = 202
	codeReplicaMissing    = 400
	codeNoNode            = 999
	codeIndexMissing      = 700
	codeDatabaseMissing   = 800
	codeParameterInvalid  = 1100
	codeNotAuthenticated  = 1400
	codeNotPermitted      = 1401
	codeFieldMissing      = 1700
	codeNeedAuthenticate  = 1800
)

// sentinel is the error of package core that a server's failure amounts to.
func (e *serverError) sentinel() error {
	switch c := e.code; {
	case c == codeCollectionMissing, e.partitionMissing(), c == codeIndexMissing, c == codeDatabaseMissing, c == codeFieldMissing,
		e.legacy == "CollectionNotExists":
		return core.ErrNotFound
	case c == codeNotAuthenticated, c == codeNotPermitted, c == codeNeedAuthenticate, e.legacy == "PermissionDenied":
		return core.ErrUnauthorized
	case c == codeParameterInvalid, e.legacy == "IllegalArgument", e.says("cannot parse expression"),
		e.says("failed to create query plan"), e.says("] is invalid"):
		return core.ErrInvalid
	default:
		return core.ErrUnavailable
	}
}

func (e *serverError) says(words string) bool { return strings.Contains(e.reason, words) }

// partitionMissing reports an unknown partition, for which Milvus 2.3 has words and no code.
func (e *serverError) partitionMissing() bool {
	return e.code == codePartitionMissing || e.says("partition name") && e.says("not found")
}

// asleep reports that the collection or partition is not in the server's memory.
func (e *serverError) asleep() bool {
	return e.code == codeCollectionAsleep || e.code == codePartitionAsleep || e.says("not loaded")
}

// torn reports that a passage found by a search was gone when the server read its vector, as when it is deleted
// in between.
func (e *serverError) torn() bool { return e.says("incomplete query result") }

func isMissingCollection(err error) bool {
	var failure *serverError
	return errors.As(err, &failure) && (failure.code == codeCollectionMissing || failure.legacy == "CollectionNotExists")
}

// classify is the [retry.Classify] of reads.
func classify(err error) (again bool, after time.Duration) {
	var failure *serverError
	if !errors.As(err, &failure) {
		return grpcretry.Classify(err)
	}
	switch c := failure.code; {
	case failure.asleep(), isMissingCollection(err):
		return false, 0
	case c == codeServiceNotReady, c == codeServiceAway, c == codeTooManyRequests, c == codeServiceRateLimit,
		c == codeCollectionWaking, c == codePartitionWaking, failure.torn(),
		c >= codeReplicaMissing && c < codeIndexMissing, c > codeDatabaseMissing && c <= codeNoNode:
		return true, 0 // the service, a channel, a segment or a node is about to be there again
	}
	return failure.retriable, 0
}

// failed wraps a call's error with the sentinel it amounts to. Errors of this package pass as they are.
func (s *Store) failed(ctx context.Context, r *retry.Retrier, what string, err error) error {
	var failure *serverError
	switch {
	case err == nil || alreadyTold(err):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("adapters/milvus: %s: %w", what, context.Cause(ctx))
	case errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded:
		return fmt.Errorf("adapters/milvus: %s at %s: %w: %w: no answer within %v", what, s.cfg.Addr, core.ErrUnavailable, context.DeadlineExceeded, r.Timeout())
	case errors.As(err, &failure):
		return s.refused(what, failure)
	default:
		return s.unreachable(what, err)
	}
}

func alreadyTold(err error) bool {
	for _, sentinel := range []error{core.ErrNotFound, core.ErrInvalid, core.ErrUnsupported, core.ErrUnavailable, core.ErrNoVectors,
		core.ErrEmptyScope, core.ErrEmptyIndex, core.ErrDimension, core.ErrUnauthorized} {
		if errors.Is(err, sentinel) {
			return true
		}
	}
	return false
}

// refused tells what Milvus answered, and what to do where the collection is only not loaded.
func (s *Store) refused(what string, failure *serverError) error {
	told := *failure
	told.reason = s.key.Scrub(failure.Error())
	if failure.asleep() {
		return fmt.Errorf("adapters/milvus: %s: %w: collection %q is not loaded into the server's memory: load it in Milvus, or set load: true: %w", what, core.ErrUnavailable, s.cfg.Collection, &told)
	}
	return fmt.Errorf("adapters/milvus: %s on collection %q: %w: %w", what, s.cfg.Collection, failure.sentinel(), &told)
}

// unreachable tells of a failure of the connection or of gRPC itself.
func (s *Store) unreachable(what string, err error) error {
	sentinel := core.ErrUnavailable
	switch code := status.Code(err); {
	case grpcretry.MessageTooLarge(err):
		return fmt.Errorf("adapters/milvus: %s: %w: the answer is above max_message_bytes: raise it, or ask for less: %s", what, core.ErrInvalid, status.Convert(err).Message())
	case code == codes.Unauthenticated || code == codes.PermissionDenied:
		sentinel = core.ErrUnauthorized
	case code == codes.Unimplemented:
		sentinel = core.ErrUnsupported
	case code == codes.InvalidArgument:
		sentinel = core.ErrInvalid
	}
	return fmt.Errorf("adapters/milvus: %s at %s: %w: %s", what, s.cfg.Addr, sentinel, s.key.Scrub(err.Error()))
}
