package ot

import "errors"

// Reasons why a transport problem cannot be solved. Functions of this package wrap them with the values found.
var (
	// ErrShape: the cost matrix and the marginals do not fit together, or a side is empty.
	ErrShape = errors.New("shapes do not match")
	// ErrNotFinite: a cost, a mass or a parameter is NaN or infinite.
	ErrNotFinite = errors.New("value not finite")
	// ErrMass: a mass is negative, or a marginal sums to zero, or the two marginals sum to different totals.
	ErrMass = errors.New("invalid mass")
)
