// Package filter narrows the candidates before a selector or a reranker sees them. [Ricci] lets a discrete Ricci
// flow stretch and shrink the edges of a graph over query and candidates, and keeps the candidates whose edge to the
// query did not grow.
//
// It reads one similarity matrix, (n+1)×(n+1) row-major for n candidates: node 0 is the query, node i+1 candidate i,
// entries are cosines. [Similarities] computes it from unit vectors. The filter chooses the number kept itself, keeps
// the order of the candidates, and never returns nothing: where the method keeps none, or cannot be applied, every
// candidate looked at stays and the result says so.
package filter

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/georag/georag/core/vec"
)

// Reasons why a filter refuses its input. They are wrapped with the values found.
var (
	// ErrShape: the similarity matrix is not square, has no row for the query, or vectors differ in length.
	ErrShape = errors.New("shapes do not match")
	// ErrNotFinite: a similarity is NaN or infinite.
	ErrNotFinite = errors.New("similarity not finite")
	// ErrSimilarity: a similarity outside [-1, 1], or a matrix that is not symmetric; both beyond rounding.
	ErrSimilarity = errors.New("invalid similarity")
	// ErrOption: an option outside its range.
	ErrOption = errors.New("invalid option")
)

// DefaultDepth is how many candidates a filter looks at by default, the pool of the published comparison.
const DefaultDepth = 20

// similarityTolerance allows for unit vectors that were rounded to float32 or stored in half precision.
const similarityTolerance = 1e-2

// Reason says what stands out about a result; empty when the filter dropped some candidates and kept others.
type Reason string

const (
	// ReasonTooFew: fewer than two candidates, among which there is nothing to tell apart.
	ReasonTooFew Reason = "fewer than two candidates"
	// ReasonNoneKept: the method kept no candidate.
	ReasonNoneKept Reason = "no candidate kept by the method"
	// ReasonAllKept: the method kept every candidate it looked at.
	ReasonAllKept Reason = "every candidate kept by the method"
	// ReasonCollapsed: every edge of the graph shrank to length 0, so lengths compare no longer.
	ReasonCollapsed Reason = "every edge shrank to nothing"
	// ReasonInterrupted: the caller stopped the method before it had an answer.
	ReasonInterrupted Reason = "stopped before it had an answer"
)

// Result is what a filter decided about n candidates.
type Result struct {
	// Kept holds the indexes of the candidates that stay, ascending. It is empty only for n = 0.
	Kept []int
	// Saved holds those of Kept that stay only because they were protected, ascending.
	Saved []int
	// QueryLengths holds, for each candidate looked at, the final length of its edge to the query (Ricci), or its
	// distance to the centre of the query's cluster (k-means). empty when the method was not applied.
	QueryLengths []float64
	// Communities holds, for each candidate looked at, the number of its community, 0 being the query's; the others
	// are numbered by their first candidate. empty when the method was not applied.
	Communities []int
	// FellBack reports that every candidate looked at stays because the method gave no usable answer; Reason says why.
	FellBack bool
	Reason   Reason
	// Iterations is the number of flow steps, or of rounds of k-means in its best start.
	Iterations int
}

// Similarities returns the similarity matrix of a query and n candidates, (n+1)×(n+1) row-major, written to dst when
// that is large enough. All vectors have unit norm and one length ([ErrShape] otherwise); cosines are clamped to
// [-1, 1].
func Similarities(dst []float64, query []float32, candidates [][]float32) ([]float64, error) {
	nodes := len(candidates) + 1
	dst = slices.Grow(dst[:0], nodes*nodes)[:nodes*nodes]
	node := func(i int) []float32 {
		if i == 0 {
			return query
		}
		return candidates[i-1]
	}
	for i := range nodes {
		if len(node(i)) != len(query) {
			return nil, fmt.Errorf("core/filter: %w: candidate %d has dimension %d, the query %d",
				ErrShape, i-1, len(node(i)), len(query))
		}
		for j := range i + 1 {
			c := vec.Clamp(vec.Dot(node(i), node(j)))
			dst[i*nodes+j], dst[j*nodes+i] = c, c
		}
	}
	return dst, nil
}

// countNodes checks a similarity matrix and returns its number of rows.
func countNodes(similarity []float64) (int, error) {
	nodes := int(math.Sqrt(float64(len(similarity))))
	if nodes == 0 || nodes*nodes != len(similarity) {
		return 0, fmt.Errorf("core/filter: %w: %d similarities are not a square matrix", ErrShape, len(similarity))
	}
	for i := range nodes {
		for j := range nodes {
			c := similarity[i*nodes+j]
			if math.IsNaN(c) || math.IsInf(c, 0) {
				return 0, fmt.Errorf("core/filter: %w: entry (%d,%d) is %v", ErrNotFinite, i, j, c)
			}
			if math.Abs(c) > 1+similarityTolerance {
				return 0, fmt.Errorf("core/filter: %w: entry (%d,%d) is %v", ErrSimilarity, i, j, c)
			}
			if mirror := similarity[j*nodes+i]; j < i && math.Abs(c-mirror) > 1e-6 {
				return 0, fmt.Errorf("core/filter: %w: entries (%d,%d) and (%d,%d) are %v and %v",
					ErrSimilarity, i, j, j, i, c, mirror)
			}
		}
	}
	return nodes, nil
}

// checkProtected reports protected indexes that name no candidate.
func checkProtected(protected []int, candidates int) error {
	for _, i := range protected {
		if i < 0 || i >= candidates {
			return fmt.Errorf("core/filter: %w: protected candidate %d of %d", ErrOption, i, candidates)
		}
	}
	return nil
}

// decide fills Kept, Saved, FellBack and Reason from the verdict of the method on the candidates it looked at.
func (r *Result) decide(stays []bool, candidates int, protected []int) {
	switch chosen := countTrue(stays); {
	case chosen == 0:
		r.keepAll(len(stays), candidates, protected, ReasonNoneKept)
		return
	case chosen == len(stays):
		r.Reason = ReasonAllKept
	}
	for i := range candidates {
		r.keep(i, i < len(stays) && stays[i], protected)
	}
}

// keepAll keeps the candidates looked at, because of reason.
func (r *Result) keepAll(looked, candidates int, protected []int, reason Reason) {
	r.FellBack, r.Reason = true, reason
	for i := range candidates {
		r.keep(i, i < looked, protected)
	}
}

// keep adds candidate i when the method chose it or it is protected.
func (r *Result) keep(i int, chosen bool, protected []int) {
	switch {
	case chosen:
		r.Kept = append(r.Kept, i)
	case slices.Contains(protected, i):
		r.Kept, r.Saved = append(r.Kept, i), append(r.Saved, i)
	}
}

// clear empties a result but keeps its memory.
func (r *Result) clear() {
	*r = Result{Kept: r.Kept[:0], Saved: r.Saved[:0], QueryLengths: r.QueryLengths[:0], Communities: r.Communities[:0]}
}

func countTrue(flags []bool) int {
	n := 0
	for _, flag := range flags {
		if flag {
			n++
		}
	}
	return n
}
