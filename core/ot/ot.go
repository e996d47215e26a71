// Package ot measures how far a set of selected passages lies from the demand over the candidates: the cost of
// transporting the demand P over n candidates to the s selected columns with marginal E, each unit of mass moved
// from candidate i to selection j at cost M_ij = 1 - cos (in [0,2]).
//
// Entropic transport of regularisation eps minimises <π,M> + eps·KL(π | P⊗E) over plans π with marginals P and E;
// the value reported is always W = <π,M>, without the entropy term. It comes in two named modes:
//
//   - published: the iterates of Algorithm 2, f then g, a fixed number of times. The plan has exact column
//     marginals; its row marginals may still be off, and [Result].RowMarginalError says by how much.
//   - converged: solved until the row marginals are off by at most [Tolerance].
//
// A converged plan brackets the exact transport cost: EMD ≤ W ≤ EMD + eps·min(H(P), H(E)) ≤ EMD + eps·ln s.
// The left side holds because π is a plan. For the right side compare with the exact plan π*: as π is optimal,
// <π,M> + eps·KL(π|P⊗E) ≤ <π*,M> + eps·KL(π*|P⊗E), where the left divergence is at least 0 and the right one is
// the mutual information of π*, hence at most the entropy of either marginal.
//
// Both modes work on the kernel exp(-M/eps) while that is safely representable and in the log domain otherwise;
// [Result].Domain tells which. Matrices are row-major n×s unless said otherwise. [Workspace] solves one problem
// at a time; [Greedy] evaluates many one-column extensions of the same selection.
package ot

import (
	"errors"
	"fmt"
	"math"
)

// Reasons, beside those of the exact transport, why an entropic problem has no answer.
var (
	// ErrEpsilon: a regularisation that is not a positive finite number.
	ErrEpsilon = errors.New("regularisation must be positive and finite")
	// ErrIterations: fewer than one iteration asked for.
	ErrIterations = errors.New("iterations must be at least 1")
	// ErrNotConverged: the marginals stayed further off than [Tolerance]. The Result beside it is the best found.
	ErrNotConverged = errors.New("not converged")
)

const (
	// Tolerance is the largest row-marginal error (L1, against a total mass of 1) of a converged plan.
	Tolerance = 1e-10
	// PublishedIterations is the iteration count of the publication's Algorithm 2.
	PublishedIterations = 100

	// marginalTolerance is how far a marginal's sum may be from 1; it is scaled to 1 before use.
	marginalTolerance = 1e-6
)

// Domain is the arithmetic a solve was carried out in.
type Domain uint8

const (
	// Kernel is multiplication with exp(-M/eps).
	Kernel Domain = iota
	// Log keeps the potentials as logarithms, for eps so small that the kernel underflows.
	Log
)

// String returns "kernel" or "log".
func (d Domain) String() string {
	if d == Log {
		return "log"
	}
	return "kernel"
}

// Result is one transport cost.
type Result struct {
	// Cost is W = <π,M>, in the unit of the cost matrix.
	Cost float64
	// RowMarginalError is Σ_i |Σ_j π_ij - p_i|; the column marginals are exact to rounding.
	RowMarginalError float64
	// Iterations counts passes over the kernel: Sinkhorn iterations in published mode, evaluations of the
	// semi-dual's gradient in converged mode. It is 0 where a single column leaves only one plan.
	Iterations int
	// Domain is the arithmetic used.
	Domain Domain
	// Dual holds the column potentials g (length s, unit of the cost), for warm starts. Columns without mass
	// have -Inf. A view into the workspace, valid until its next use.
	Dual []float64
}

// NearestServer returns Σ_i p_i·min_j cost_ij for an n×s row-major cost, n = len(p): every plan with row
// marginals p costs at least that, whatever its column marginals. It returns 0 when p or cost is empty.
// The length of cost must be a multiple of len(p).
func NearestServer(cost, p []float64) float64 {
	if len(p) == 0 || len(cost) == 0 {
		return 0
	}
	s := len(cost) / len(p)
	var sum float64
	for i, mass := range p {
		nearest := math.Inf(1)
		for _, c := range cost[i*s : i*s+s] {
			nearest = min(nearest, c)
		}
		sum += mass * nearest
	}
	return sum
}

// checkMarginal returns the sum of m, or why m is not a distribution.
func checkMarginal(name string, m []float64) (float64, error) {
	var sum float64
	for i, x := range m {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return 0, fmt.Errorf("core/ot: %w: %s[%d] is %v", ErrNotFinite, name, i, x)
		}
		if x < 0 {
			return 0, fmt.Errorf("core/ot: %w: %s[%d] is %v", ErrMass, name, i, x)
		}
		sum += x
	}
	if !(math.Abs(sum-1) <= marginalTolerance) {
		return 0, fmt.Errorf("core/ot: %w: %s sums to %v", ErrMass, name, sum)
	}
	return sum, nil
}

func checkEpsilon(eps float64) error {
	if !(eps > 0) || math.IsInf(eps, 1) {
		return fmt.Errorf("core/ot: %w: %v", ErrEpsilon, eps)
	}
	return nil
}
