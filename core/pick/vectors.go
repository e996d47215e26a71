package pick

import (
	"fmt"

	"github.com/georag/georag/core/vec"
)

// together is how many columns are computed at once: a row that is read for one of them is read for all, which
// makes four cost little more than one.
const together = 4

// Vectors is the [Similarity] of n unit vectors. A column is computed when it is first asked for, along with the
// next ones that are missing, and kept; entries known from another column are copied.
type Vectors struct {
	dim   int
	rows  []float32
	cache []float64
	known []bool

	group   [together]int // the columns under way
	vectors [together][]float32
	queries vec.Queries
	fresh   []int               // rows whose entry no known column holds
	dots    [together][]float64 // the products of those
}

// NewVectors returns the similarity of the vectors in rows, n·dim values, row after row. Each row has norm 1 and
// has passed [vec.Check]. rows is kept, not copied.
func NewVectors(dim int, rows []float32) (*Vectors, error) {
	v := new(Vectors)
	return v, v.Reset(dim, rows)
}

// Reset replaces the vectors and forgets the columns, reusing their memory. It returns [ErrShape] when rows does
// not consist of whole rows.
func (v *Vectors) Reset(dim int, data []float32) error {
	if dim < 1 || len(data)%dim != 0 {
		return fmt.Errorf("core/pick: %w: %d values are no rows of dimension %d", ErrShape, len(data), dim)
	}
	n := len(data) / dim
	v.dim, v.rows = dim, data
	v.cache, v.known = rows(v.cache, n*n), rows(v.known, n)
	clear(v.known)
	return nil
}

// Len is n.
func (v *Vectors) Len() int { return len(v.known) }

// Row returns vector i.
func (v *Vectors) Row(i int) []float32 { return v.rows[i*v.dim : (i+1)*v.dim] }

// Cosines writes cos(c_i, q) for all i to dst, of length n, and returns dst. q is a unit vector of the same
// dimension.
func (v *Vectors) Cosines(dst []float64, q []float32) []float64 {
	return v.CosinesOf([][]float64{dst}, [][]float32{q})[0]
}

// CosinesOf writes cos(c_i, q_j) for all i and j to dst, m slices of length n, and returns dst. The m queries are unit
// vectors of the same dimension.
func (v *Vectors) CosinesOf(dst [][]float64, queries [][]float32) [][]float64 {
	var batch vec.Queries
	batch.Reset(queries)
	batch.DotsOf(dst, v.Len(), v.Row)
	for _, cosines := range dst {
		for i, x := range cosines {
			cosines[i] = vec.Clamp(x)
		}
	}
	return dst
}

// Column implements [Similarity].
func (v *Vectors) Column(dst []float64, j int) []float64 {
	copy(dst, v.View(j))
	return dst
}

// View returns column j itself, valid until the next Reset.
func (v *Vectors) View(j int) []float64 {
	n := v.Len()
	if !v.known[j] {
		v.compute(v.missing(j))
	}
	return v.cache[j*n : (j+1)*n]
}

// missing fills group with j and the next columns, cyclically, that are not known yet.
func (v *Vectors) missing(j int) []int {
	group := v.group[:0]
	for step := range v.Len() {
		if at := (j + step) % v.Len(); !v.known[at] {
			if group = append(group, at); len(group) == together {
				break
			}
		}
	}
	return group
}

// compute fills the columns of a group.
func (v *Vectors) compute(group []int) {
	n := v.Len()
	for g, j := range group {
		v.vectors[g] = v.Row(j)
	}
	v.queries.Reset(v.vectors[:len(group)])
	v.fresh = v.fresh[:0]
	for i, known := range v.known {
		if !known {
			v.fresh = append(v.fresh, i)
			continue
		}
		for _, j := range group {
			v.cache[j*n+i] = v.cache[i*n+j]
		}
	}
	for g := range group {
		v.dots[g] = rows(v.dots[g], len(v.fresh))
	}
	v.queries.DotsOf(v.dots[:len(group)], len(v.fresh), func(f int) []float32 { return v.Row(v.fresh[f]) })
	for g, j := range group {
		for f, i := range v.fresh {
			v.cache[j*n+i] = vec.Clamp(v.dots[g][f])
		}
		v.known[j] = true
	}
}
