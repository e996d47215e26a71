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
	arcs      []arc
	tolerance float64
	tree      basis
	saved     []int32 // one tree per slot: for each node the arc to its parent, unused at the root
	known     []bool  // slots that hold a tree
	cursor    int     // arc at which pricing goes on
}

// arc is an edge beside its length, so that pricing reads one stream of memory.
type arc struct {
	u, v   int32
	length float64
}

// Reset prepares for a graph of nodes ≥ 1 nodes, numbered from 0, and for the given number of slots. A slot
// remembers the solution of the last problem that named it and starts the next one there. All lengths become 1.
// Errors: [ErrShape] for nodes out of range, loops, or a graph that is not connected.
func (g *GraphTransport) Reset(nodes int, edges []Edge, slots int) error {
	g.arcs = g.arcs[:0]
	for i, e := range edges {
		if e.U < 0 || e.V < 0 || int(e.U) >= nodes || int(e.V) >= nodes || e.U == e.V {
			return fmt.Errorf("core/ot: %w: edge %d joins %d and %d of %d nodes", ErrShape, i, e.U, e.V, nodes)
		}
		g.arcs = append(g.arcs, arc{e.U, e.V, 1})
	}
	g.tolerance = priceTolerance
	g.saved = slices.Grow(g.saved[:0], slots*nodes)[:slots*nodes]
	g.known = slices.Grow(g.known[:0], slots)[:slots]
	clear(g.known)
	return g.span(nodes)
}

// span builds a first spanning tree, in breadth from node 0.
func (g *GraphTransport) span(nodes int) error {
	g.tree.reset(nodes)
	reached := 1
	for grown := true; grown && reached < nodes; {
		grown = false
		for i, a := range g.arcs {
			for _, end := range [2]Edge{{a.u, a.v}, {a.v, a.u}} {
				if g.inTree(end.U) && !g.inTree(end.V) {
					g.tree.attach(end.V, end.U)
					g.tree.links[end.V].arc = int32(i)
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
	if len(lengths) != len(g.arcs) {
		return fmt.Errorf("core/ot: %w: %d lengths for %d edges", ErrShape, len(lengths), len(g.arcs))
	}
	longest := 0.0
	for i, w := range lengths {
		g.arcs[i].length = w
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
		g.restore(saved)
	}
	for x := 1; x < nodes; x++ {
		l := &g.tree.links[x]
		l.upCost, l.downCost = g.arcs[l.arc].length, g.arcs[l.arc].length
	}
	g.tree.load(excess)
	if err := g.optimise(); err != nil {
		return 0, err
	}
	value := 0.0
	for x := 1; x < nodes; x++ {
		l := &g.tree.links[x]
		saved[x] = l.arc
		value += l.flow * l.upCost
	}
	g.known[slot] = true
	return value, nil
}

// restore rebuilds the tree that a slot holds.
func (g *GraphTransport) restore(saved []int32) {
	g.tree.reset(len(saved))
	for x := int32(1); int(x) < len(saved); x++ {
		a := g.arcs[saved[x]]
		g.tree.links[x].arc = saved[x]
		g.tree.attach(x, a.u+a.v-x)
	}
}

func (g *GraphTransport) optimise() error {
	nodes := len(g.tree.links)
	g.cursor = 0
	// Far above the number of pivots seen (less than one per node); only a loop can reach it.
	for limit := 100 * nodes * (10 + nodes); limit > 0; limit-- {
		i := g.entering()
		if i < 0 {
			return nil
		}
		a, potential := g.arcs[i], g.tree.potential
		tail, head := a.u, a.v
		if potential[tail] < potential[head] {
			tail, head = head, tail
		}
		if !g.tree.pivot(tail, head, i, a.length, a.length) {
			break
		}
	}
	return fmt.Errorf("core/ot: %w: graph of %d nodes", ErrUnsolved, nodes)
}

// block is how many arcs are priced together: all of them on small graphs, where the best arc saves pivots.
const block = 512

// entering returns the arc whose potential difference exceeds its length by most, among the first block of arcs that
// has one; −1 when no arc does so by more than the tolerance.
func (g *GraphTransport) entering() int32 {
	for scanned := 0; scanned < len(g.arcs); {
		end := min(g.cursor+block, len(g.arcs))
		i := g.cursor + bestGain(g.arcs[g.cursor:end], g.tree.potential)
		scanned += end - g.cursor
		g.cursor = end % len(g.arcs)
		if g.gain(i) > g.tolerance {
			return int32(i)
		}
	}
	return -1
}

func (g *GraphTransport) gain(i int) float64 {
	a := g.arcs[i]
	return math.Abs(g.tree.potential[a.u]-g.tree.potential[a.v]) - a.length
}

// bestGain returns the position of the largest gain. Whether an arc gains is as good as random, so a branch on it
// would be mispredicted all the time; instead the position rides in the low bits of the gain, whose bit patterns
// order like the numbers, and one integer maximum finds both. Gains that agree in their upper bits count as ties.
func bestGain(arcs []arc, potential []float64) int {
	best := int64(math.MinInt64)
	for i := range arcs {
		a := &arcs[i]
		gain := math.Abs(potential[a.u]-potential[a.v]) - a.length
		best = max(best, int64(math.Float64bits(gain))&^(block-1)|int64(i))
	}
	return int(best & (block - 1))
}
