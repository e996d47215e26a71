package filter

import (
	"errors"
	"math"
	"slices"

	"github.com/georag/georag/core/ot"
)

// pointDistance is the distance below which two nodes count as one point; lengths have mean 1. The curvature of an
// edge between them, 1 − W/d, would be a quotient of two rounding errors and is taken as 0, so that the edge keeps
// its length (GraphRicciCurvature draws the same line at the same value).
const pointDistance = 1e-7

// curvature computes Ollivier–Ricci curvatures on a graph whose lengths change from call to call.
type curvature struct {
	alpha, p  float64
	transport ot.GraphTransport
	distance  []float64 // nodes×nodes
	measure   []float64 // nodes×nodes, row x is m_x
	excess    []float64 // m_x − m_y of the edge at work
	// interrupted, where set, ends compute early with errInterrupted.
	interrupted func() bool
}

// errInterrupted never leaves the package.
var errInterrupted = errors.New("interrupted")

// reset prepares for a graph; its edges, not its lengths, must stay as they are. Each edge has its own transport
// slot: its measures hardly change from step to step, so the last plan is almost the next.
func (c *curvature) reset(g *graph, alpha, p float64) error {
	c.alpha, c.p = alpha, p
	square := g.nodes * g.nodes
	c.distance = slices.Grow(c.distance[:0], square)[:square]
	c.measure = slices.Grow(c.measure[:0], square)[:square]
	c.excess = slices.Grow(c.excess[:0], g.nodes)[:g.nodes]
	return c.transport.Reset(g.nodes, g.edges, len(g.edges))
}

// compute writes κ_xy = 1 − W(m_x, m_y)/d(x, y) of every edge to dst; W over shortest-path distances d. κ ≤ 1.
func (c *curvature) compute(dst []float64, g *graph) error {
	if err := c.transport.SetLengths(g.lengths); err != nil {
		return err
	}
	g.shortestPaths(c.distance)
	c.spread(g)
	for i, e := range g.edges {
		if c.interrupted != nil && c.interrupted() {
			return errInterrupted
		}
		x, y := int(e.U)*g.nodes, int(e.V)*g.nodes
		d := c.distance[x+int(e.V)]
		if d < pointDistance {
			dst[i] = 0
			continue
		}
		mx, my := c.measure[x:x+g.nodes], c.measure[y:y+g.nodes]
		for j := range c.excess {
			c.excess[j] = mx[j] - my[j]
		}
		w, err := c.transport.Cost(i, c.excess)
		if err != nil {
			return err
		}
		dst[i] = 1 - w/d
	}
	return nil
}

// spread computes the measure of every node: mass α on x, (1−α)·exp(−d(x,i)^p)/C on each neighbour i.
func (c *curvature) spread(g *graph) {
	n := g.nodes
	clear(c.measure)
	for _, e := range g.edges {
		u, v := int(e.U), int(e.V)
		weight := -power(c.distance[u*n+v], c.p)
		c.measure[u*n+v], c.measure[v*n+u] = weight, weight
	}
	// exp(−d^p) underflows for far neighbours; C is formed relative to the nearest one, which changes nothing else.
	for i := range c.excess {
		c.excess[i] = math.Inf(-1)
	}
	nearest := c.excess
	for _, e := range g.edges {
		u, v := int(e.U), int(e.V)
		nearest[u] = max(nearest[u], c.measure[u*n+v])
		nearest[v] = max(nearest[v], c.measure[v*n+u])
	}
	for _, e := range g.edges {
		u, v := int(e.U), int(e.V)
		c.measure[u*n+v] = math.Exp(c.measure[u*n+v] - nearest[u])
		c.measure[v*n+u] = math.Exp(c.measure[v*n+u] - nearest[v])
	}
	for x := range n {
		row, sum := c.measure[x*n:(x+1)*n], 0.0
		for _, weight := range row {
			sum += weight
		}
		for i := range row {
			row[i] *= (1 - c.alpha) / sum
		}
		row[x] = c.alpha
	}
}

// power is d^p with the common exponents taken the short way; 0⁰ = 1. It stays finite, so that differences exist.
func power(d, p float64) float64 {
	switch p {
	case 0:
		return 1
	case 1:
		return d
	case 2:
		return d * d
	}
	return min(math.Pow(d, p), math.MaxFloat64)
}
