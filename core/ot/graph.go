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
// It is a reusable workspace: call [GraphTransport.Reset] once per graph, [GraphTransport.SetLengths] when lengths
// change, and [GraphTransport.Cost] per pair of distributions. It must not be used by two goroutines at once.
type GraphTransport struct {
	edges     []Edge
	stride    int       // nodes, rounded up to whole vectors
	length    []float64 // nodes×stride, symmetric; +Inf where there is no edge
	tolerance float64
	tree      basis
	saved     []int32 // one tree per slot: the parent of each node
	known     []bool  // slots that hold a tree
}

// Reset prepares for a graph of nodes ≥ 1 nodes, numbered from 0, and for the given number of slots. A slot
// remembers the solution of the last problem that named it and starts the next one there. The edges, each pair of
// nodes at most once, are kept, not copied; all lengths become 1. Errors: [ErrShape] for nodes out of range, loops,
// or a graph that is not connected.
func (g *GraphTransport) Reset(nodes int, edges []Edge, slots int) error {
	for i, e := range edges {
		if e.U < 0 || e.V < 0 || int(e.U) >= nodes || int(e.V) >= nodes || e.U == e.V {
			return fmt.Errorf("core/ot: %w: edge %d joins %d and %d of %d nodes", ErrShape, i, e.U, e.V, nodes)
		}
	}
	g.edges, g.stride, g.tolerance = edges, (nodes+lanes-1)/lanes*lanes, priceTolerance
	g.length = slices.Grow(g.length[:0], nodes*g.stride)[:nodes*g.stride]
	for i := range g.length {
		g.length[i] = math.Inf(1)
	}
	for _, e := range edges {
		g.setLength(e, 1)
	}
	g.saved = slices.Grow(g.saved[:0], slots*nodes)[:slots*nodes]
	g.known = slices.Grow(g.known[:0], slots)[:slots]
	clear(g.known)
	return g.span(nodes)
}

func (g *GraphTransport) setLength(e Edge, w float64) {
	g.length[int(e.U)*g.stride+int(e.V)], g.length[int(e.V)*g.stride+int(e.U)] = w, w
}

// span builds a first spanning tree, in breadth from node 0.
func (g *GraphTransport) span(nodes int) error {
	g.tree.reset(nodes)
	reached := 1
	for grown := true; grown && reached < nodes; {
		grown = false
		for _, e := range g.edges {
			for _, end := range [2]Edge{e, {e.V, e.U}} {
				if g.inTree(end.U) && !g.inTree(end.V) {
					g.tree.attach(end.V, end.U)
					reached++
					grown = true
				}
			}
		}
	}
	if reached < nodes {
		return fmt.Errorf("core/ot: %w: graph is not connected: %d of %d nodes reached", ErrShape, reached, nodes)
	}
	return nil
}

func (g *GraphTransport) inTree(x int32) bool { return x == 0 || g.tree.links[x].parent >= 0 }

// SetLengths sets what a unit of mass pays for the use of each edge, in the order given to Reset: ≥ 0 and finite,
// which the caller guarantees. Errors: [ErrShape].
func (g *GraphTransport) SetLengths(lengths []float64) error {
	if len(lengths) != len(g.edges) {
		return fmt.Errorf("core/ot: %w: %d lengths for %d edges", ErrShape, len(lengths), len(g.edges))
	}
	longest := 0.0
	for i, w := range lengths {
		g.setLength(g.edges[i], w)
		longest = max(longest, w)
	}
	g.tolerance = priceTolerance * longest
	return nil
}

// Cost returns the least cost of moving the masses excess (one per node: positive to give, negative to take, sum 0
// up to rounding) along the edges. For excess = m_x − m_y that is the Wasserstein distance W₁(m_x, m_y). The result
// is optimal within 1e-12·max(lengths)·Σ|excess| plus rounding, and never negative.
//
// The caller guarantees finite masses; slot is one of those given to Reset. Errors: [ErrShape], [ErrUnsolved].
func (g *GraphTransport) Cost(slot int, excess []float64) (float64, error) {
	nodes := len(g.tree.links)
	if len(excess) != nodes || slot < 0 || slot >= len(g.known) {
		return 0, fmt.Errorf("core/ot: %w: %d masses, slot %d for %d nodes, %d slots",
			ErrShape, len(excess), slot, nodes, len(g.known))
	}
	saved := g.saved[slot*nodes : (slot+1)*nodes]
	if g.known[slot] {
		g.tree.reset(nodes)
		for x := 1; x < nodes; x++ {
			g.tree.attach(int32(x), saved[x])
		}
	}
	for x := 1; x < nodes; x++ {
		l := &g.tree.links[x]
		l.upCost = g.length[x*g.stride+int(l.parent)]
		l.downCost = l.upCost
	}
	g.tree.load(excess)
	if err := g.optimise(); err != nil {
		return 0, err
	}
	value := 0.0
	for x := 1; x < nodes; x++ {
		l := &g.tree.links[x]
		saved[x] = l.parent
		value += l.flow * l.upCost
	}
	g.known[slot] = true
	return value, nil
}

// optimise pivots until no edge is shorter than the difference of potential between its ends.
func (g *GraphTransport) optimise() error {
	nodes, potential := len(g.tree.links), g.tree.potential
	// Far above the number of pivots seen (less than one per node); only a loop can reach it.
	for limit := 100 * nodes * (10 + nodes); limit > 0; limit-- {
		tail, head := steepest(potential, g.length, g.stride, g.tolerance)
		if tail < 0 {
			return nil
		}
		w := g.length[int(tail)*g.stride+int(head)]
		if potential[tail] < potential[head] {
			tail, head = head, tail
		}
		if !g.tree.pivot(tail, head, w, w) {
			break
		}
	}
	return fmt.Errorf("core/ot: %w: graph of %d nodes", ErrUnsolved, nodes)
}
