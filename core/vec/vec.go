// Package vec is the vector arithmetic of the selector: inner products, norms, and the checks that keep
// broken vectors out of every later stage. The checks live here, once.
//
// Vectors are stored as float32 and every sum is accumulated in float64. A unit vector has Euclidean norm 1,
// so the cosine of two unit vectors is their inner product.
package vec

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Reasons why a vector cannot take part in a selection. They are wrapped by [Check].
var (
	// ErrDimension: the vector's length differs from the expected dimension.
	ErrDimension = errors.New("wrong dimension")
	// ErrNotFinite: the vector has a NaN or infinite component.
	ErrNotFinite = errors.New("component not finite")
	// ErrZero: the vector has norm zero, so its cosine with anything is undefined.
	ErrZero = errors.New("zero vector")
)

// Norm returns the Euclidean norm of v, accumulated in float64.
func Norm(v []float32) float64 { return math.Sqrt(Dot(v, v)) }

// Cosine returns the cosine of two vectors of any non-zero norm, clamped to [-1, 1].
// It returns 0 when either norm is zero.
func Cosine(a, b []float32) float64 {
	na, nb := Norm(a), Norm(b)
	if na == 0 || nb == 0 {
		return 0
	}
	return Clamp(Dot(a, b) / (na * nb))
}

// Clamp limits a computed cosine to [-1, 1], which rounding can overstep.
func Clamp(c float64) float64 { return max(-1, min(1, c)) }

// Check reports why v cannot be used as a vector of dimension dim (dim 0 accepts any length above zero):
// [ErrDimension], [ErrNotFinite] or [ErrZero], wrapped with the values found; nil when v is usable.
func Check(v []float32, dim int) error {
	if len(v) == 0 || (dim > 0 && len(v) != dim) {
		return fmt.Errorf("core/vec: %w: got %d, want %d", ErrDimension, len(v), dim)
	}
	// Squares of float32 neither overflow nor vanish in float64, so the sum of them tells of every component.
	switch square := Dot(v, v); {
	case square == 0:
		return fmt.Errorf("core/vec: %w", ErrZero)
	case !(square <= math.MaxFloat64):
		i := slices.IndexFunc(v, func(x float32) bool { return !(math.Abs(float64(x)) <= math.MaxFloat32) })
		return fmt.Errorf("core/vec: %w: component %d is %v", ErrNotFinite, i, v[i])
	}
	return nil
}

// Normalise writes v/|v| to dst and returns dst. dst and v have the same length and may be the same slice;
// a nil dst is allocated. v must have passed [Check]; a zero vector is copied unchanged.
func Normalise(dst, v []float32) []float32 {
	if dst == nil {
		dst = make([]float32, len(v))
	}
	n := Norm(v)
	if n == 0 {
		copy(dst, v)
		return dst
	}
	for i, x := range v {
		dst[i] = float32(float64(x) / n)
	}
	return dst
}
