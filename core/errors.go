package core

import (
	"errors"

	"github.com/georag/georag/core/vec"
)

// Errors a caller may want to tell apart. They are wrapped with the place and the values at fault.
var (
	// ErrDimension: a vector's length is not the collection's dimension.
	ErrDimension = vec.ErrDimension
	// ErrNotFinite: a vector has a NaN or infinite component.
	ErrNotFinite = vec.ErrNotFinite
	// ErrZero: a vector has norm zero.
	ErrZero = vec.ErrZero
	// ErrNoVectors: the store returned candidates without their stored vectors.
	ErrNoVectors = errors.New("no stored vectors")
	// ErrEmptyIndex: the index holds nothing in the requested scope.
	ErrEmptyIndex = errors.New("empty index")
	// ErrEmptyScope: a tenant or partition is required and none was named. It is never read as "everything".
	ErrEmptyScope = errors.New("empty tenant scope")
	// ErrNotFound: a collection, field or vector name does not exist; the message lists what does.
	ErrNotFound = errors.New("not found")
	// ErrUnavailable: a service could not be reached, or answered that it cannot serve now.
	ErrUnavailable = errors.New("unavailable")
	// ErrUnauthorized: a service refused the credentials.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrUnsupported: the request is well formed, and this store or model cannot do it.
	ErrUnsupported = errors.New("not supported")
	// ErrInvalid: a setting or argument is out of its range; the message names it and its value.
	ErrInvalid = errors.New("invalid")
	// ErrStrict: the result would have been degraded and Settings.Strict forbids that.
	ErrStrict = errors.New("degraded result refused by strict")
)
