package ot

import (
	"fmt"
	"math"
	"slices"
)

// Edge joins two different nodes of an undirected graph.
type Edge struct{ U, V int32 }

// GraphTransport computes exact transport costs between distributions on the nodes of one connected, undirected
// graph whose ground metric is the shortest-path distance. It solves the problem where it lives, as the cheapest
// flow along the edges (Beckmann 1952), which has the same value: no matrix of distances is needed, mass common to
// both distributions stays put by itself, and a spanning tree of the graph is a start for any masses and lengths.
//
// It is a reusable workspace: call [GraphTransport.Reset] once per graph. It must not be used by two goroutines at
// once.
type GraphTransport struct {
	nodes  int
	edges  []Edge
	tree   basis
	saved  []int32 // one tree per slot: for each node the edge to its parent, −1 at the root
	known  []bool  // slots that hold a tree
	cursor int     // edge at which pricing goes on
}

// block is how many edges are priced together: all of them on small graphs, where the best arc saves pivots.
const block = 256

// Reset prepares for a graph of nodes ≥ 1 nodes, numbered from 0, and for the given number of slots. A slot
// remembers the solution of the last problem that named it and starts the next one there. The edges are kept, not
// copied. Errors: [ErrShape] for nodes out of range, loops, or a graph that is not connected.
func (g *GraphTransport) Reset(nodes int, edges []Edge, slots int) error {
	for i, e := range edges {
		if e.U < 0 || e.V < 0 || int(e.U) >= nodes || int(e.V) >= nodes || e.U == e.V {
			return fmt.Errorf("core/ot: %w: edge %d joins %d and %d of %d nodes", ErrShape, i, e.U, e.V, nodes)
		}
	}
	g.nodes, g.edges, g.cursor = nodes, edges, 0
	g.saved = slices.Grow(g.saved[:0], slots*nodes)[:slots*nodes]
	g.known = slices.Grow(g.known[:0], slots)[:slots]
	clear(g.known)
	return g.span()
}

// span builds a first spanning tree, in breadth from node 0.
func (g *GraphTransport) span() error {
	g.tree.reset(g.nodes)
	reached := 1
	for grown := true; grown && reached < g.nodes; {
		grown = false
		for i, e := range g.edges {
			for _, end := range [2]Edge{e, {e.V, e.U}} {
				if g.inTree(end.U) && !g.inTree(end.V) {
					g.tree.attach(end.V, end.U)
					g.tree.links[end.V].arc = int32(i)
					reached++
					grown = true
				}
			}
		}
	}
	if reached < g.nodes {
		return fmt.Errorf("core/ot: %w: graph is not connected: %d of %d nodes reached", ErrShape, reached, g.nodes)
	}
	return nil
}

func (g *GraphTransport) inTree(x int32) bool { return x == 0 || g.tree.links[x].parent >= 0 }

// Cost returns the least cost of moving the masses excess (one per node: positive to give, negative to take, sum 0
// up to rounding) along the edges, where a unit of mass pays lengths[i] ≥ 0 for the use of edge i. For excess =
// m_x − m_y that is the Wasserstein distance W₁(m_x, m_y). The result is optimal within 1e-12·max(lengths)·Σ|excess|
// plus rounding, and never negative.
//
// The caller guarantees finite values; slot is one of those given to Reset. Errors: [ErrShape], [ErrUnsolved].
func (g *GraphTransport) Cost(slot int, lengths, excess []float64) (float64, error) {
	if len(lengths) != len(g.edges) || len(excess) != g.nodes || slot < 0 || slot >= len(g.known) {
		return 0, fmt.Errorf("core/ot: %w: %d lengths, %d masses, slot %d for %d edges, %d nodes, %d slots",
			ErrShape, len(lengths), len(excess), slot, len(g.edges), g.nodes, len(g.known))
	}
	saved := g.saved[slot*g.nodes : (slot+1)*g.nodes]
	if g.known[slot] {
		g.restore(saved)
	}
	longest := 0.0
	for _, w := range lengths {
		longest = max(longest, w)
	}
	for x := 1; x < g.nodes; x++ {
		l := &g.tree.links[x]
		l.upCost, l.downCost = lengths[l.arc], lengths[l.arc]
	}
	g.tree.load(excess)
	if err := g.optimise(lengths, priceTolerance*longest); err != nil {
		return 0, err
	}
	value := 0.0
	for x := 1; x < g.nodes; x++ {
		l := &g.tree.links[x]
		saved[x] = l.arc
		value += l.flow * l.upCost
	}
	g.known[slot] = true
	return value, nil
}

// restore rebuilds the tree that a slot holds.
func (g *GraphTransport) restore(saved []int32) {
	g.tree.reset(g.nodes)
	for x := int32(1); int(x) < g.nodes; x++ {
		e := g.edges[saved[x]]
		g.tree.links[x].arc = saved[x]
		g.tree.attach(x, e.U+e.V-x)
	}
}

func (g *GraphTransport) optimise(lengths []float64, tolerance float64) error {
	// Far above the number of pivots seen (less than one per node); only a loop can reach it.
	for limit := 100 * g.nodes * (10 + g.nodes); limit > 0; limit-- {
		i, tail := g.entering(lengths, tolerance)
		if i < 0 {
			return nil
		}
		e := g.edges[i]
		if !g.tree.pivot(tail, e.U+e.V-tail, int32(i), lengths[i], lengths[i]) {
			break
		}
	}
	return fmt.Errorf("core/ot: %w: graph of %d nodes", ErrUnsolved, g.nodes)
}

// entering returns the edge whose potential difference exceeds its length by most, among the first block of edges
// that has one, and the end it should be used from; i < 0 when no edge exceeds its length by more than tolerance.
func (g *GraphTransport) entering(lengths []float64, tolerance float64) (i int, tail int32) {
	best, potential := tolerance, g.tree.potential
	i = -1
	for scanned := 0; scanned < len(g.edges) && i < 0; {
		end := min(g.cursor+block, len(g.edges))
		for k, e := range g.edges[g.cursor:end] {
			if gain := math.Abs(potential[e.U]-potential[e.V]) - lengths[g.cursor+k]; gain > best {
				best, i = gain, g.cursor+k
			}
		}
		scanned += end - g.cursor
		g.cursor = end % len(g.edges)
	}
	if i < 0 {
		return i, 0
	}
	if e := g.edges[i]; potential[e.U] > potential[e.V] {
		return i, e.U
	}
	return i, g.edges[i].V
}
