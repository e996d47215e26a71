package ot

import (
	"errors"
	"fmt"
	"math"
)

// ErrUnsolved: the simplex did not end within its limit of pivots. It guards against a loop caused by rounding and
// is not expected for any input.
var ErrUnsolved = errors.New("transport not solved")

const (
	// massTolerance is the relative difference of the two total masses that is put down to rounding.
	massTolerance = 1e-9
	// priceTolerance, relative to the largest absolute cost, is the gain per unit of mass below which an arc does
	// not enter the basis: far above the rounding of the potentials, far below any accuracy promised.
	priceTolerance = 1e-12
)

// Exact returns the cost of an optimal transport, min ⟨π, cost⟩ over all n×s plans π ≥ 0 with row sums p and column
// sums e. cost is n×s row-major with n = len(p) and s = len(e); any finite values, negative ones included. Masses
// are ≥ 0 (zeros are allowed) and have the same total up to a relative difference of 1e-9, which is removed by
// scaling e; the total need not be 1.
//
// The method is a network simplex; the result is optimal within 1e-12·max|cost|·Σp plus rounding. Time grows about
// as n·s·(n+s) at worst; n=500, s=200 is meant.
//
// Errors: [ErrShape], [ErrNotFinite], [ErrMass], [ErrUnsolved]. Use a [Transport] to solve many problems without
// allocation.
func Exact(cost, p, e []float64) (float64, error) {
	var t Transport
	return t.Cost(cost, p, e)
}

// ExactPlan is [Exact] with the plan: n×s row-major, at most n+s−1 entries positive.
func ExactPlan(cost, p, e []float64) (plan []float64, value float64, err error) {
	var t Transport
	return t.Plan(nil, cost, p, e)
}

// Transport is a reusable workspace for exact transport. The zero value is ready; once it has seen the largest shape
// it allocates nothing. It must not be used by two goroutines at once.
type Transport struct {
	tree    basis
	supply  []float64 // masses of the n sources, then minus those of the s sinks
	room    []float64 // free capacities of the sinks during the construction of the first plan
	n, s    int       // shape of the tree held, 0 when there is none
	against float64   // cost of moving mass from a sink to a source
	cursor  int       // row at which pricing goes on
}

// Cost is [Exact] in the workspace. It depends on its arguments alone, not on earlier calls.
func (t *Transport) Cost(cost, p, e []float64) (float64, error) {
	return t.solve(cost, p, e, false)
}

// CostWarm is [Transport.Cost] starting from the basis that the previous call left, if that had the same shape; it
// is faster when costs and masses have changed little. The value agrees with Cost within the tolerance of [Exact].
func (t *Transport) CostWarm(cost, p, e []float64) (float64, error) {
	return t.solve(cost, p, e, true)
}

// Plan is [ExactPlan] in the workspace: the plan is written to dst, n×s row-major, and returned; a nil dst is
// allocated, any other length than n·s is [ErrShape].
func (t *Transport) Plan(dst, cost, p, e []float64) (plan []float64, value float64, err error) {
	if dst != nil && len(dst) != len(cost) {
		return nil, 0, fmt.Errorf("core/ot: %w: plan of %d entries for %d costs", ErrShape, len(dst), len(cost))
	}
	if value, err = t.solve(cost, p, e, false); err != nil {
		return nil, 0, err
	}
	if dst == nil {
		dst = make([]float64, len(cost))
	}
	clear(dst)
	t.eachFlow(func(i, j int, flow float64) { dst[i*t.s+j] = flow })
	return dst, value, nil
}

func (t *Transport) solve(cost, p, e []float64, warm bool) (float64, error) {
	scale, err := checkTransport(cost, p, e)
	if err != nil {
		t.n, t.s = 0, 0
		return 0, err
	}
	largest := 0.0
	for _, c := range cost {
		largest = max(largest, math.Abs(c))
	}
	// A detour sink→source saves at most 3·largest (one arc skipped, two arcs earned), so at this price no optimal
	// plan takes one, and pricing never has to offer it.
	t.against = 4 * largest
	if largest == 0 {
		t.against = 1
	}
	t.masses(p, e, scale)
	if warm && t.n == len(p) && t.s == len(e) {
		t.recost(cost)
	} else {
		t.n, t.s, t.cursor = len(p), len(e), 0
		t.start(cost)
	}
	t.tree.load(t.supply)
	if err := t.optimise(cost, priceTolerance*largest); err != nil {
		t.n, t.s = 0, 0
		return 0, err
	}
	value := 0.0
	t.eachFlow(func(i, j int, flow float64) { value += flow * cost[i*t.s+j] })
	return value, nil
}

// checkTransport returns the factor that gives e the total of p.
func checkTransport(cost, p, e []float64) (scale float64, err error) {
	if len(p) == 0 || len(e) == 0 || len(cost) != len(p)*len(e) {
		return 0, fmt.Errorf("core/ot: %w: %d costs for marginals of %d and %d", ErrShape, len(cost), len(p), len(e))
	}
	for i, c := range cost {
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return 0, fmt.Errorf("core/ot: %w: cost %d is %v", ErrNotFinite, i, c)
		}
	}
	ps, err := totalMass(p)
	if err != nil {
		return 0, err
	}
	es, err := totalMass(e)
	if err != nil {
		return 0, err
	}
	if math.Abs(ps-es) > massTolerance*max(ps, es) {
		return 0, fmt.Errorf("core/ot: %w: totals %v and %v differ", ErrMass, ps, es)
	}
	return ps / es, nil
}

func totalMass(m []float64) (float64, error) {
	sum := 0.0
	for i, x := range m {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return 0, fmt.Errorf("core/ot: %w: mass %d is %v", ErrNotFinite, i, x)
		}
		if x < 0 {
			return 0, fmt.Errorf("core/ot: %w: mass %d is %v", ErrMass, i, x)
		}
		sum += x
	}
	if sum == 0 || math.IsInf(sum, 1) {
		return 0, fmt.Errorf("core/ot: %w: total is %v", ErrMass, sum)
	}
	return sum, nil
}

func (t *Transport) masses(p, e []float64, scale float64) {
	t.supply = append(t.supply[:0], p...)
	for _, m := range e {
		t.supply = append(t.supply, -m*scale)
	}
}

// start builds the tree of a cheap plan: each source in turn fills its cheapest open sinks. Every arc laid uses up
// the source or closes the sink, hence the arcs make a forest; what it leaves apart is joined to source 0.
func (t *Transport) start(cost []float64) {
	t.tree.reset(t.n + t.s)
	t.room = append(t.room[:0], t.supply[t.n:]...)
	for j := range t.room {
		t.room[j] = -t.room[j]
	}
	open := t.s
	for i := range t.n {
		mass := t.supply[i]
		for {
			j := t.cheapestOpen(cost[i*t.s : (i+1)*t.s])
			t.join(cost, i, j)
			// One sink stays open so that every later source finds a partner.
			if mass <= t.room[j] || open == 1 {
				t.room[j] -= mass
				break
			}
			mass -= t.room[j]
			t.room[j] = closed
			open--
		}
	}
	for j := range t.s {
		if t.tree.top(int32(t.n+j)) != 0 {
			t.join(cost, 0, j)
		}
	}
}

// closed marks a sink that takes no more, in place of its capacity.
var closed = math.Inf(1)

func (t *Transport) cheapestOpen(row []float64) int {
	best, found := math.Inf(1), -1
	for j, c := range row {
		if c < best && t.room[j] != closed {
			best, found = c, j
		}
	}
	return found
}

// join connects the tree of sink j to that of source i. The tree whose top is node 0 keeps its top.
func (t *Transport) join(cost []float64, i, j int) {
	source, sink, c := int32(i), int32(t.n+j), cost[i*t.s+j]
	if top := t.tree.top(sink); top != 0 {
		t.tree.graft(sink, top, source, link{upCost: t.against, downCost: c})
	} else {
		t.tree.graft(source, t.tree.top(source), sink, link{upCost: c, downCost: t.against})
	}
}

// recost gives the arcs of the tree the costs of a new problem of the same shape.
func (t *Transport) recost(cost []float64) {
	for x := int32(1); int(x) < len(t.tree.links); x++ {
		l := &t.tree.links[x]
		if source := int(x) < t.n; source {
			l.upCost, l.downCost = cost[int(x)*t.s+int(l.parent)-t.n], t.against
		} else {
			l.upCost, l.downCost = t.against, cost[int(l.parent)*t.s+int(x)-t.n]
		}
	}
}

// optimise pivots until no arc source→sink gains more than tolerance per unit of mass.
func (t *Transport) optimise(cost []float64, tolerance float64) error {
	nodes := t.n + t.s
	// Far above the number of pivots seen (a small multiple of the nodes); only a loop can reach it.
	for limit := 100 * nodes * (10 + nodes); limit > 0; limit-- {
		i, j := t.entering(cost, tolerance)
		if i < 0 {
			return nil
		}
		if !t.tree.pivot(int32(i), int32(t.n+j), cost[i*t.s+j], t.against) {
			break
		}
	}
	return fmt.Errorf("core/ot: %w: %d sources, %d sinks", ErrUnsolved, t.n, t.s)
}

// entering returns the arc of largest gain among the first rows, from the cursor on, that offer any and hold about
// √(n·s) arcs together; i < 0 when no arc at all gains more than tolerance.
func (t *Transport) entering(cost []float64, tolerance float64) (i, j int) {
	sinks := t.tree.potential[t.n:]
	rows := 1 + int(math.Sqrt(float64(t.n)/float64(t.s)))
	best := tolerance
	i = -1
	for scanned := 1; scanned <= t.n; scanned++ {
		source := t.tree.potential[t.cursor]
		row := cost[t.cursor*t.s : (t.cursor+1)*t.s]
		for k, c := range row {
			if gain := source - sinks[k] - c; gain > best {
				best, i, j = gain, t.cursor, k
			}
		}
		if t.cursor++; t.cursor == t.n {
			t.cursor = 0
		}
		if i >= 0 && scanned%rows == 0 {
			break
		}
	}
	return i, j
}

// eachFlow visits the positive entries of the plan that the tree holds.
func (t *Transport) eachFlow(visit func(i, j int, flow float64)) {
	for x := 1; x < len(t.tree.links); x++ {
		l := &t.tree.links[x]
		if source := x < t.n; l.flow > 0 && source && l.up {
			visit(x, int(l.parent)-t.n, l.flow)
		} else if l.flow > 0 && !source && !l.up {
			visit(int(l.parent), x-t.n, l.flow)
		}
	}
}
