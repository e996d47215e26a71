package pick

import (
	"fmt"
	"math"

	"github.com/georag/georag/core/vec"
)

// viewer is a [Similarity] that can show a column without copying it.
type viewer interface {
	// View returns cos(c_i, c_j) for all i. The slice is not to be written to.
	View(j int) []float64
}

var (
	_ viewer = (*Vectors)(nil)
	_ viewer = (*Dense)(nil)
)

// Vectors is the [Similarity] of n unit vectors. A column is computed when it is first asked for and kept;
// entries known from another column are copied, so all n columns together take n(n+1)/2 inner products.
type Vectors struct {
	dim   int
	rows  []float32
	cache []float64
	known []bool
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
	v.dots(dst, 0, q)
	return dst
}

// dots writes the cosines of q with the rows first, first+1, … to dst.
func (v *Vectors) dots(dst []float64, first int, q []float32) {
	for i := range dst {
		dst[i] = vec.Clamp(vec.Dot(v.Row(first+i), q))
	}
}

// Column implements [Similarity].
func (v *Vectors) Column(dst []float64, j int) []float64 {
	copy(dst, v.View(j))
	return dst
}

// View returns column j itself, valid until the next Reset.
func (v *Vectors) View(j int) []float64 {
	n := v.Len()
	column := v.cache[j*n : (j+1)*n]
	if v.known[j] {
		return column
	}
	q := v.Row(j)
	for i := 0; i < n; {
		if v.known[i] {
			column[i] = v.cache[i*n+j]
			i++
			continue
		}
		end := i + 1
		for end < n && !v.known[end] {
			end++
		}
		v.dots(column[i:end], i, q)
		i = end
	}
	v.known[j] = true
	return column
}

// Dense is a given n×n matrix of cosines, for similarities that come from elsewhere.
type Dense struct {
	n      int
	cosine []float64
}

// NewDense returns the similarity held in cosine, a symmetric n×n matrix with entries in [-1,1], which is kept,
// not copied. It returns [ErrShape] for another length, [ErrValue] for an entry that is out of range or differs
// from its mirror image.
func NewDense(n int, cosine []float64) (*Dense, error) {
	if n < 0 || len(cosine) != n*n {
		return nil, fmt.Errorf("core/pick: %w: %d values for %d×%d", ErrShape, len(cosine), n, n)
	}
	for i := range n {
		for j := range i + 1 {
			c := cosine[i*n+j]
			if math.IsNaN(c) || c < -1 || c > 1 || c != cosine[j*n+i] {
				return nil, fmt.Errorf("core/pick: %w: cosine of %d and %d is %v and %v", ErrValue, i, j, c, cosine[j*n+i])
			}
		}
	}
	return &Dense{n, cosine}, nil
}

// Len is n.
func (d *Dense) Len() int { return d.n }

// Column implements [Similarity].
func (d *Dense) Column(dst []float64, j int) []float64 {
	copy(dst, d.View(j))
	return dst
}

// View returns column j itself.
func (d *Dense) View(j int) []float64 { return d.cosine[j*d.n : (j+1)*d.n] }

// columns hands out the columns of one selection, each computed once.
type columns struct {
	sim   Similarity
	view  viewer // nil where sim can only copy
	n     int
	copy  []float64
	known []bool
}

func (c *columns) reset(sim Similarity) {
	c.sim, c.n = sim, sim.Len()
	c.view, _ = sim.(viewer)
	if c.view == nil {
		c.copy, c.known = rows(c.copy, c.n*c.n), rows(c.known, c.n)
		clear(c.known)
	}
}

func (c *columns) at(j int) []float64 {
	if c.view != nil {
		return c.view.View(j)
	}
	column := c.copy[j*c.n : (j+1)*c.n]
	if !c.known[j] {
		c.sim.Column(column, j)
		c.known[j] = true
	}
	return column
}
