package pick

import "math"

// residualFloor is the squared norm below which what the chosen passages leave of a unit diagonal is rounding:
// float32 storage gives a cosine to about 1e-7.
const residualFloor = 1e-6

// cholesky is the growing factor of a kernel restricted to the chosen rows (Chen et al. 2018, eqs. 8–11).
type cholesky struct {
	residual []float64 // d_i², length n; the caller sets it to the kernel's diagonal
	factor   []float64 // e vectors of all rows, one slice of length n per chosen row
	chosen   int
}

func (c *cholesky) reset(n, k int) {
	c.residual, c.factor, c.chosen = rows(c.residual, n), rows(c.factor, n*k), 0
}

// add extends the factor by a row whose kernel column is given and whose residual is above zero.
func (c *cholesky) add(row int, kernel []float64) {
	n := len(c.residual)
	next := c.factor[c.chosen*n : (c.chosen+1)*n]
	copy(next, kernel)
	for s := range c.chosen {
		e := c.factor[s*n : (s+1)*n]
		scale := e[row]
		for i, x := range e {
			next[i] -= scale * x
		}
	}
	inverse := 1 / math.Sqrt(c.residual[row])
	for i, x := range next {
		x *= inverse
		next[i] = x
		c.residual[i] -= x * x
	}
	c.chosen++
}
