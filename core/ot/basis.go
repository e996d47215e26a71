package ot

import "math"

// basis is the spanning tree of a network simplex in which every arc may be used in both directions, each at its
// own cost. Such a tree is feasible for any masses: an arc simply points the way its flow goes. Therefore no
// artificial root is needed, and the tree of one problem can start the next one whatever has changed.
//
// The tree is kept strongly feasible (Cunningham 1976): an arc without flow points to the root. Together with the
// choice of the leaving arc in [basis.pivot] this excludes endless degenerate pivots.
//
// Node 0 is the root. Potentials satisfy potential[tail] − potential[head] = cost on every arc of the tree.
type basis struct {
	links     []link
	potential []float64
	preorder  []int32
	net       []float64
}

// link joins a node to its parent and to the list of its siblings.
type link struct {
	flow             float64 // ≥ 0, along the direction given by up
	upCost, downCost float64 // of node→parent and of parent→node
	parent, child    int32   // −1: none
	next, prev       int32   // siblings; −1: none
	depth            int32
	up               bool
}

// reset makes room for n nodes, none of them attached.
func (b *basis) reset(n int) {
	if cap(b.links) < n {
		// The spare room of the potentials lets assembly read whole vectors.
		b.links, b.potential = make([]link, n), make([]float64, n, n+lanes)
		b.preorder, b.net = make([]int32, n), make([]float64, n)
	}
	b.links, b.potential = b.links[:n], b.potential[:n]
	b.preorder, b.net = b.preorder[:n], b.net[:n]
	for i := range b.links {
		b.links[i] = link{parent: -1, child: -1, next: -1, prev: -1}
	}
}

// attach makes x a child of parent. Flow, direction and costs of x's link are the caller's business.
func (b *basis) attach(x, parent int32) {
	l, p := &b.links[x], &b.links[parent]
	l.parent, l.next, l.prev = parent, p.child, -1
	if p.child >= 0 {
		b.links[p.child].prev = x
	}
	p.child = x
}

// detach removes x from the children of its parent, if it has one.
func (b *basis) detach(x int32) {
	l := &b.links[x]
	if l.parent < 0 {
		return
	}
	if l.next >= 0 {
		b.links[l.next].prev = l.prev
	}
	if l.prev >= 0 {
		b.links[l.prev].next = l.next
	} else {
		b.links[l.parent].child = l.next
	}
}

// after returns the node that follows x in a preorder walk of the subtree below top, −1 at its end.
func (b *basis) after(x, top int32) int32 {
	if c := b.links[x].child; c >= 0 {
		return c
	}
	for x != top {
		if n := b.links[x].next; n >= 0 {
			return n
		}
		x = b.links[x].parent
	}
	return -1
}

// load computes flows, directions, depths and potentials of the tree for the masses supply (negative: demand).
// The root takes up what rounding leaves of their sum.
func (b *basis) load(supply []float64) {
	copy(b.net, supply)
	n := 0
	for x := int32(0); x >= 0; x = b.after(x, 0) {
		b.preorder[n] = x
		n++
	}
	for i := n - 1; i > 0; i-- {
		x := b.preorder[i]
		l := &b.links[x]
		l.up, l.flow = b.net[x] >= 0, math.Abs(b.net[x])
		b.net[l.parent] += b.net[x]
	}
	b.potential[0], b.links[0].depth = 0, 0
	for _, x := range b.preorder[1:n] {
		b.price(x)
	}
}

// price sets depth and potential of x from its parent's.
func (b *basis) price(x int32) {
	l := &b.links[x]
	l.depth = b.links[l.parent].depth + 1
	if l.up {
		b.potential[x] = b.potential[l.parent] + l.upCost
	} else {
		b.potential[x] = b.potential[l.parent] - l.downCost
	}
}

// pivot brings the arc tail→head of the given cost (opposite: the cost of head→tail) into the tree. Mass goes round
// the cycle that the arc closes until an arc that points against it is empty; that one leaves. Among several it is
// the last one met on the way round from the cycle's node nearest to the root, which keeps the tree strongly
// feasible. It returns false when no arc points against the cycle, a sign of a cycle of negative cost.
func (b *basis) pivot(tail, head int32, cost, opposite float64) bool {
	tailFlow, headFlow := math.Inf(1), math.Inf(1)
	tailLeave, headLeave := int32(-1), int32(-1)
	t, h := tail, head
	for t != h {
		if b.links[t].depth >= b.links[h].depth {
			if l := &b.links[t]; l.up && l.flow < tailFlow {
				tailFlow, tailLeave = l.flow, t
			}
			t = b.links[t].parent
		} else {
			if l := &b.links[h]; !l.up && l.flow <= headFlow {
				headFlow, headLeave = l.flow, h
			}
			h = b.links[h].parent
		}
	}
	flow := min(tailFlow, headFlow)
	if math.IsInf(flow, 1) {
		return false
	}
	b.push(tail, t, -flow)
	b.push(head, t, flow)
	arc := link{flow: flow, up: true, upCost: cost, downCost: opposite}
	if headFlow <= tailFlow {
		arc.up, arc.upCost, arc.downCost = false, opposite, cost
		b.graft(head, headLeave, tail, arc)
		b.priceBelow(head)
	} else {
		b.graft(tail, tailLeave, head, arc)
		b.priceBelow(tail)
	}
	return true
}

// push adds flow in the upward direction to the arcs from x to its ancestor top.
func (b *basis) push(x, top int32, flow float64) {
	for x != top {
		l := &b.links[x]
		if l.up {
			l.flow += flow
		} else {
			l.flow -= flow
		}
		x = l.parent
	}
}

// graft cuts the subtree at cut (x or an ancestor of x), makes x its top, and hangs it below parent by arc.
func (b *basis) graft(x, cut, parent int32, arc link) {
	for {
		old := b.links[x]
		b.detach(x)
		l := &b.links[x]
		l.flow, l.up, l.upCost, l.downCost = arc.flow, arc.up, arc.upCost, arc.downCost
		b.attach(x, parent)
		if x == cut {
			break
		}
		arc = link{flow: old.flow, up: !old.up, upCost: old.downCost, downCost: old.upCost}
		parent, x = x, old.parent
	}
}

func (b *basis) priceBelow(top int32) {
	for x := top; x >= 0; x = b.after(x, top) {
		b.price(x)
	}
}

// top returns the node above x that has no parent.
func (b *basis) top(x int32) int32 {
	for b.links[x].parent >= 0 {
		x = b.links[x].parent
	}
	return x
}
