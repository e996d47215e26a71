package pick_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/georag/georag/core/ot"
	"github.com/georag/georag/core/pick"
)

// solved is what transport costs computed by another route may differ by: solves end at a marginal error of 1e-10.
const solved = 1e-9

// plainGreedy is Algorithm 1 as written: W of S∪c by transport for every c in every step, no bound, no memory.
type plainGreedy struct {
	o         pick.GeoRAGOptions
	transport func(in *instance, chosen []int) float64
}

// check follows a selection step by step and compares each with the gains of all candidates.
func (p plainGreedy) check(t *testing.T, in *instance, r pick.Result, k int) {
	t.Helper()
	if len(r.Steps) != k {
		t.Fatalf("%d steps, want %d", len(r.Steps), k)
	}
	current, gains, costs := 1.0, make([]float64, in.n), make([]float64, in.n)
	for at, s := range r.Steps {
		chosen := r.Rows()[:at]
		gate := func(c int) float64 { return 1 - max(-1, in.closest(chosen, c)) }
		if at == 0 {
			gate = func(int) float64 { return 1 }
		}
		for c := range in.n {
			gains[c] = none
			if slices.Contains(chosen, c) {
				continue
			}
			gains[c] = 1
			if p.o.DeltaW {
				costs[c] = p.transport(in, append(slices.Clone(chosen), c))
				gains[c] = current - costs[c]
			}
			if p.o.Gate && at > 0 {
				gains[c] *= gate(c)
			}
		}
		p.checkRule(t, in, s, chosen, gains)
		if math.Abs(s.Gate-gate(s.Row)) > slack {
			t.Fatalf("step %d: gate %v, want %v", at, s.Gate, gate(s.Row))
		}
		if p.o.DeltaW {
			if math.Abs(s.W-costs[s.Row]) > solved || math.Abs(s.DeltaW-(current-s.W)) > solved {
				t.Fatalf("step %d: %+v, want W %v after %v", at, s, costs[s.Row], current)
			}
			current = s.W
		}
	}
}

// checkRule checks that the step follows the rule it names, and that the rule applies.
func (p plainGreedy) checkRule(t *testing.T, in *instance, s pick.Step, chosen []int, gains []float64) {
	t.Helper()
	if len(chosen) == 0 && p.o.ColdStart {
		if s.Rule != pick.RuleColdStart || in.query[s.Row] < slices.Max(in.query)-tie {
			t.Fatalf("first step %+v, cosines %v", s, in.query)
		}
		return
	}
	best := slices.Max(gains)
	switch s.Rule {
	case pick.RuleGain:
		if best < tie-solved {
			t.Fatalf("step %+v by gains %v", s, gains)
		}
	case pick.RuleFacility, pick.RuleRank:
		if best > 2*tie+solved { // one tie to count as a gain, one to the lowest row
			t.Fatalf("rule %q although gains are %v", s.Rule, gains)
		}
		for c := range gains {
			if gains[c] != none && s.Rule == pick.RuleRank {
				gains[c] = in.query[c]
			} else if gains[c] != none {
				gains[c] = in.objective(append(slices.Clone(chosen), c)) - in.objective(chosen)
			}
		}
		checkStep(t, string(s.Rule), s, gains, slack)
		return
	default:
		t.Fatalf("rule %q", s.Rule)
	}
	rest := slices.Clone(gains)
	rest[s.Row] = none
	if second := slices.Max(rest); second > tie+solved || second == none {
		checkStep(t, "georag", s, gains, solved)
		return
	}
	// What promises no gain is ruled out by its bound.
	if math.Abs(s.Gain-best) > tie+solved || s.Gain < gains[s.Row]-solved || s.RunnerUpGain > tie+solved || s.RunnerUpGain < rest[s.RunnerUp]-solved {
		t.Fatalf("step %+v of gains %v", s, gains)
	}
}

// costMatrix is 1−cos of all candidates to those chosen, row-major.
func costMatrix(in *instance, chosen []int) (cost []float64) {
	for i := range in.n {
		for _, s := range chosen {
			cost = append(cost, 1-in.at(i, s))
		}
	}
	return cost
}

func uniform(s int) []float64 {
	e := make([]float64, s)
	for j := range e {
		e[j] = 1 / float64(s)
	}
	return e
}

// afresh solves each problem from nothing with the package's own solver.
func afresh(t *testing.T, o pick.GeoRAGOptions) func(*instance, []int) float64 {
	var w ot.Workspace
	return func(in *instance, chosen []int) float64 {
		cost, e := costMatrix(in, chosen), uniform(len(chosen))
		var r ot.Result
		var err error
		if o.Sinkhorn == pick.Published {
			r, err = w.Published(cost, in.demand, e, o.Epsilon, o.Iterations)
		} else {
			r, err = w.Converged(cost, in.demand, e, o.Epsilon, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		return r.Cost
	}
}

// textbook runs Sinkhorn in the log domain, f then g, without anything that makes it fast: for a fixed number of
// iterations, or until the rows are within 1e-12.
func textbook(t *testing.T, o pick.GeoRAGOptions) func(*instance, []int) float64 {
	return func(in *instance, chosen []int) float64 {
		cost, s := costMatrix(in, chosen), len(chosen)
		f, g := make([]float64, in.n), make([]float64, s)
		softMin := func(terms int, term func(int) (mass, value float64)) float64 {
			top, sum := none, 0.0
			for i := range terms {
				if mass, value := term(i); mass > 0 {
					top = max(top, value/o.Epsilon)
				}
			}
			for i := range terms {
				if mass, value := term(i); mass > 0 {
					sum += mass * math.Exp(value/o.Epsilon-top)
				}
			}
			return -o.Epsilon * (top + math.Log(sum))
		}
		for iteration := 1; ; iteration++ {
			for i := range f {
				f[i] = softMin(s, func(j int) (float64, float64) { return 1 / float64(s), g[j] - cost[i*s+j] })
			}
			for j := range g {
				g[j] = softMin(in.n, func(i int) (float64, float64) { return in.demand[i], f[i] - cost[i*s+j] })
			}
			w, off := 0.0, 0.0
			for i, mass := range in.demand {
				row := 0.0
				for j := range s {
					x := mass / float64(s) * math.Exp((f[i]+g[j]-cost[i*s+j])/o.Epsilon)
					row += x
					w += x * cost[i*s+j]
				}
				off += math.Abs(row - mass)
			}
			switch {
			case o.Sinkhorn == pick.Published && iteration == o.Iterations, o.Sinkhorn == pick.Converged && off < 1e-12:
				return w
			case iteration == 1_000_000:
				t.Fatalf("rows still off by %v", off)
			}
		}
	}
}

// follow runs georag over count instances and checks each against a plain greedy.
func follow(t *testing.T, o pick.GeoRAGOptions, seed uint64, count int, draw func(*rand.Rand) (in *instance, eps float64),
	transport func(*testing.T, pick.GeoRAGOptions) func(*instance, []int) float64) (rules map[pick.Rule]int) {
	t.Helper()
	rules = make(map[pick.Rule]int)
	for i := range count {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		in, eps := draw(r)
		o.Epsilon = eps
		options := pick.DefaultOptions()
		options.GeoRAG = o
		k := 1 + r.IntN(min(in.n, 5))
		result := choose(t, newSelector(t, "georag", options), in, k)
		plainGreedy{o, transport(t, o)}.check(t, in, result, k)
		for _, s := range result.Steps {
			rules[s.Rule]++
		}
	}
	return rules
}

// logUniform draws between low and high, every magnitude alike.
func logUniform(r *rand.Rand, low, high float64) float64 {
	return low * math.Pow(high/low, r.Float64())
}

func drawGeneric(r *rand.Rand) (*instance, float64) {
	return generic(r, 2+r.IntN(6), 2+r.IntN(8)), logUniform(r, 0.001, 0.5)
}

func drawNasty(r *rand.Rand) (*instance, float64) {
	return nasty(r, 1+r.IntN(7), 1+r.IntN(4)), logUniform(r, 0.001, 0.5)
}

// variants are the switches of the selector in every combination that is allowed.
func variants(mode pick.Sinkhorn) (all []pick.GeoRAGOptions) {
	for _, cold := range []bool{true, false} {
		for _, gate := range []bool{true, false} {
			for _, deltaW := range []bool{true, false} {
				o := pick.GeoRAGOptions{ColdStart: cold, Gate: gate, DeltaW: deltaW, Sinkhorn: mode, Iterations: 100, Epsilon: 0.01}
				if o.Validate() == nil {
					all = append(all, o)
				}
			}
		}
	}
	return all
}

func TestGeoRAGAgainstPlainGreedy(t *testing.T) {
	all := variants(pick.Converged)
	if len(all) != 5 {
		t.Fatalf("%d variants: %+v", len(all), all)
	}
	for v, o := range all {
		follow(t, o, uint64(v), 2000, drawGeneric, afresh)
	}
}

func TestGeoRAGAgainstPlainGreedyWhereItIsHard(t *testing.T) {
	seen := make(map[pick.Rule]int)
	for v, o := range variants(pick.Converged) {
		for rule, n := range follow(t, o, uint64(100+v), 800, drawNasty, afresh) {
			seen[rule] += n
		}
	}
	for _, rule := range []pick.Rule{pick.RuleColdStart, pick.RuleGain, pick.RuleFacility, pick.RuleRank} {
		if seen[rule] < 50 {
			t.Errorf("rule %q decided %d steps only", rule, seen[rule])
		}
	}
}

func TestGeoRAGAgainstTextbookSinkhorn(t *testing.T) {
	moderate := func(r *rand.Rand) (*instance, float64) {
		in, _ := drawGeneric(r)
		return in, logUniform(r, 0.1, 0.5)
	}
	for v, o := range variants(pick.Converged) {
		follow(t, o, uint64(200+v), 40, moderate, textbook)
	}
}

func TestPublishedGeoRAGAgainstTextbookSinkhorn(t *testing.T) {
	for v, o := range variants(pick.Published) {
		o.Iterations = 20
		follow(t, o, uint64(300+v), 40, drawGeneric, textbook)
		follow(t, o, uint64(400+v), 40, drawNasty, textbook)
	}
}
