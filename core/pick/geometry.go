package pick

import (
	"fmt"
	"math"
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
