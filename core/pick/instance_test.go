package pick_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/georag/georag/core/pick"
)

// instance is a problem of n candidates in float64, small enough for the plain computations it is compared with.
type instance struct {
	n          int
	cosine     []float64 // n×n
	query      []float64
	demand     []float64
	subQueries [][]float64
	weights    []float64
	lists      [][]int
	tokens     []int
	rerank     []float64
	conflict   []float64 // n×n, P(i contradicts j)
}

// at is cos(c_i, c_j).
func (in *instance) at(i, j int) float64 { return in.cosine[i*in.n+j] }

// generic draws an instance in which nothing is tied: n directions in dim dimensions, 4 sub-queries.
func generic(r *rand.Rand, n, dim int) *instance { return build(r, directions(r, n, dim), dim) }

func directions(r *rand.Rand, n, dim int) [][]float64 {
	points := make([][]float64, n)
	for i := range points {
		points[i] = direction(r, dim)
	}
	return points
}

func direction(r *rand.Rand, dim int) []float64 {
	x, norm := make([]float64, dim), 0.0
	for j := range x {
		x[j] = r.NormFloat64()
		norm += x[j] * x[j]
	}
	for j := range x {
		x[j] /= math.Sqrt(norm)
	}
	return x
}

// build completes an instance around the given points.
func build(r *rand.Rand, points [][]float64, dim int) *instance {
	n := len(points)
	in := &instance{n: n, cosine: make([]float64, n*n), conflict: make([]float64, n*n)}
	question := direction(r, dim)
	for i, a := range points {
		for j, b := range points[:i+1] {
			c := max(-1, min(1, dot(a, b)))
			in.cosine[i*n+j], in.cosine[j*n+i] = c, c
		}
		in.cosine[i*n+i] = 1
		in.query = append(in.query, dot(a, question))
		in.tokens = append(in.tokens, 20+r.IntN(80))
		in.rerank = append(in.rerank, 10*r.NormFloat64())
	}
	for i := range in.conflict {
		in.conflict[i] = r.Float64()
	}
	in.demand = masses(r, n, 2)
	const m = 4
	in.weights = masses(r, m, 1)
	for range m {
		q := direction(r, dim)
		column := make([]float64, n)
		for i, a := range points {
			column[i] = dot(a, q)
		}
		in.subQueries = append(in.subQueries, column)
		in.lists = append(in.lists, r.Perm(n)[:1+r.IntN(n)])
	}
	return in
}

// masses draws a distribution; the larger the spread, the more uneven.
func masses(r *rand.Rand, n int, spread float64) []float64 {
	p, sum := make([]float64, n), 0.0
	for i := range p {
		p[i] = math.Exp(spread * r.NormFloat64())
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// nasty draws an instance of the kind that breaks naive versions: points and queries that coincide, stand opposite or
// nearly coincide, demand on one candidate alone, on few, or equal on all.
func nasty(r *rand.Rand, n, dim int) *instance {
	points := directions(r, n, dim)
	for i := 1; i < n; i++ {
		switch r.IntN(6) {
		case 0:
			points[i] = points[r.IntN(i)]
		case 1:
			points[i] = opposite(points[r.IntN(i)])
		case 2:
			points[i] = besides(r, points[r.IntN(i)], 1e-4)
		case 3:
			axis := make([]float64, dim)
			axis[r.IntN(dim)] = 1
			points[i] = axis
		}
	}
	in := build(r, points, dim)
	if r.IntN(3) == 0 {
		copy(in.query, in.cosine[:n]) // the question coincides with a passage
	}
	switch r.IntN(4) {
	case 0:
		clear(in.demand)
		in.demand[r.IntN(n)] = 1
	case 1:
		for i := range in.demand {
			in.demand[i] = 1e-12 / float64(n)
		}
		in.demand[r.IntN(n)] += 1 - 1e-12
	case 2:
		for i := range in.demand {
			in.demand[i] = 1 / float64(n)
		}
	}
	return in
}

func opposite(x []float64) []float64 {
	y := make([]float64, len(x))
	for j := range x {
		y[j] = -x[j]
	}
	return y
}

// besides returns a unit vector at about the given distance from x.
func besides(r *rand.Rand, x []float64, distance float64) []float64 {
	y, step, norm := make([]float64, len(x)), direction(r, len(x)), 0.0
	for j := range x {
		y[j] = x[j] + distance*step[j]
		norm += y[j] * y[j]
	}
	for j := range y {
		y[j] /= math.Sqrt(norm)
	}
	return y
}

// problem is the instance as a selector reads it.
func (in *instance) problem(t testing.TB) *pick.Problem {
	t.Helper()
	dense, err := pick.NewDense(in.n, in.cosine)
	if err != nil {
		t.Fatal(err)
	}
	return &pick.Problem{
		Similarity: dense, Query: in.query, Demand: in.demand, SubQueries: in.subQueries, Weights: in.weights,
		Lists: in.lists, Tokens: in.tokens,
		Rerank: func(context.Context) ([]float64, error) { return in.rerank, nil },
		Conflict: func(_ context.Context, pairs [][2]int) ([]float64, error) {
			answers := make([]float64, len(pairs))
			for i, pair := range pairs {
				answers[i] = in.conflict[pair[0]*in.n+pair[1]]
			}
			return answers, nil
		},
	}
}

// permuted returns the instance with row i of the new one being row order[i] of the old.
func (in *instance) permuted(order []int) *instance {
	n := in.n
	to := &instance{n: n, weights: in.weights}
	place := make([]int, n)
	for i, old := range order {
		place[old] = i
		to.query = append(to.query, in.query[old])
		to.demand = append(to.demand, in.demand[old])
		to.tokens = append(to.tokens, in.tokens[old])
		to.rerank = append(to.rerank, in.rerank[old])
		for _, other := range order {
			to.cosine = append(to.cosine, in.at(old, other))
			to.conflict = append(to.conflict, in.conflict[old*n+other])
		}
	}
	for j, column := range in.subQueries {
		moved, list := make([]float64, n), make([]int, len(in.lists[j]))
		for i, old := range order {
			moved[i] = column[old]
		}
		for rank, old := range in.lists[j] {
			list[rank] = place[old]
		}
		to.subQueries, to.lists = append(to.subQueries, moved), append(to.lists, list)
	}
	return to
}

// newSelector makes a selector that must exist.
func newSelector(t testing.TB, name string, o pick.Options) pick.Selector {
	t.Helper()
	selector, err := pick.New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return selector
}

// choose selects k rows, which must work.
func choose(t testing.TB, selector pick.Selector, in *instance, k int) pick.Result {
	t.Helper()
	result, err := selector.Select(context.Background(), in.problem(t), k)
	if err != nil {
		t.Fatal(err)
	}
	return result
}
