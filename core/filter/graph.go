package filter

import (
	"math"
	"slices"

	"github.com/georag/georag/core/ot"
)

// graph is the undirected graph over query (node 0) and candidates on which the flow runs.
type graph struct {
	nodes   int
	edges   []ot.Edge // U < V, in ascending order
	lengths []float64 // one per edge
	sorted  []float64 // scratch of percentile
}

// build joins the nodes whose dissimilarity r = 1 − cos reaches τ, the given percentile of r over all pairs, and the
// query to every candidate, which also makes the graph connected. similarity has the given stride; its first nodes
// rows and columns are used. All lengths become 1.
func (g *graph) build(similarity []float64, stride, nodes int, tauPercentile float64) {
	g.nodes, g.edges, g.lengths, g.sorted = nodes, g.edges[:0], g.lengths[:0], g.sorted[:0]
	r := func(i, j int) float64 { return 1 - max(-1, min(1, similarity[i*stride+j])) }
	for i := range nodes {
		for j := i + 1; j < nodes; j++ {
			g.sorted = append(g.sorted, r(i, j))
		}
	}
	slices.Sort(g.sorted)
	tau := percentile(g.sorted, tauPercentile)
	for i := range nodes {
		for j := i + 1; j < nodes; j++ {
			if i == 0 || r(i, j) >= tau {
				g.edges = append(g.edges, ot.Edge{U: int32(i), V: int32(j)})
				g.lengths = append(g.lengths, 1)
			}
		}
	}
}

// percentile interpolates linearly between the two nearest of the ascending values: 0 gives the first, 100 the last.
func percentile(sorted []float64, percent float64) float64 {
	at := percent / 100 * float64(len(sorted)-1)
	below := int(at)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}

// normalise scales the lengths to mean 1. It returns false, and leaves them, when all are 0.
func (g *graph) normalise() bool {
	sum := 0.0
	for _, w := range g.lengths {
		sum += w
	}
	if sum == 0 {
		return false
	}
	scale := float64(len(g.lengths)) / sum
	for i := range g.lengths {
		g.lengths[i] *= scale
	}
	return true
}

// shortestPaths writes the distances between all nodes to d, nodes×nodes (Floyd–Warshall: at least half of all pairs
// are edges, so nothing is gained by searching from each node).
func (g *graph) shortestPaths(d []float64) {
	n := g.nodes
	for i := range d {
		d[i] = math.Inf(1)
	}
	for i := range n {
		d[i*n+i] = 0
	}
	for i, e := range g.edges {
		u, v := int(e.U), int(e.V)
		d[u*n+v], d[v*n+u] = g.lengths[i], g.lengths[i]
	}
	for k := range n {
		via := d[k*n : (k+1)*n]
		for i := range n {
			row, first := d[i*n:(i+1)*n], via[i]
			for j, second := range via {
				if through := first + second; through < row[j] {
					row[j] = through
				}
			}
		}
	}
}

// communities numbers the components that remain when the edges longer than limit are cut: one label per candidate,
// 0 for the component of the query, the others in the order of their first candidate.
func (g *graph) communities(dst []int, parent []int32, limit float64) []int {
	for i := range parent {
		parent[i] = int32(i)
	}
	find := func(x int32) int32 {
		for parent[x] != x {
			parent[x] = parent[parent[x]]
			x = parent[x]
		}
		return x
	}
	for i, e := range g.edges {
		if g.lengths[i] <= limit {
			u, v := find(e.U), find(e.V)
			// The smaller node leads, so the query leads its own component.
			parent[max(u, v)] = min(u, v)
		}
	}
	next := 1
	for x := int32(1); int(x) < g.nodes; x++ {
		switch leader := find(x); {
		case leader == 0:
			dst = append(dst, 0)
		case leader == x:
			dst = append(dst, next)
			next++
		default:
			dst = append(dst, dst[leader-1])
		}
	}
	return dst
}
