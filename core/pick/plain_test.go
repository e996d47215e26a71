package pick_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/georag/georag/core/pick"
)

// tie is how close two gains count as tied, slack what rounding may add on either side of that.
const (
	tie   = 1e-9
	slack = 1e-10
)

// none is the gain of a row that cannot be chosen.
var none = math.Inf(-1)

// checkStep compares a step with the gains of all rows, computed plainly: the row chosen is the lowest within a tie
// of the best, its gain and the runner-up's are the plain ones.
func checkStep(t *testing.T, what string, s pick.Step, gains []float64, tolerance float64) {
	t.Helper()
	best := slices.Max(gains)
	if !(gains[s.Row] >= best-tie-tolerance) {
		t.Fatalf("%s chose row %d of gain %v, the best is %v: %v", what, s.Row, gains[s.Row], best, gains)
	}
	for row, g := range gains[:s.Row] {
		if g >= best-tie+tolerance {
			t.Fatalf("%s chose row %d although row %d is tied: %v", what, s.Row, row, gains)
		}
	}
	if math.Abs(s.Gain-gains[s.Row]) > tolerance {
		t.Fatalf("%s: gain %v, want %v", what, s.Gain, gains[s.Row])
	}
	gains[s.Row] = none
	second := slices.Max(gains)
	switch {
	case second == none:
		if s.RunnerUp != -1 {
			t.Fatalf("%s: runner-up %d where no row is left", what, s.RunnerUp)
		}
	case s.RunnerUp < 0 || !(gains[s.RunnerUp] >= second-tie-tolerance) || math.Abs(s.RunnerUpGain-gains[s.RunnerUp]) > tolerance:
		t.Fatalf("%s: runner-up %d of gain %v, want one of %v: %v", what, s.RunnerUp, s.RunnerUpGain, second, gains)
	}
}

// greedy checks every step of a selection but the first few against the gains that score computes from the rows
// chosen before it.
func greedy(t *testing.T, what string, in *instance, r pick.Result, first int, score func(chosen []int, c int) float64) {
	t.Helper()
	gains, chosen := make([]float64, in.n), r.Rows()[:first]
	for _, s := range r.Steps[first:] {
		for c := range gains {
			gains[c] = none
			if !slices.Contains(chosen, c) {
				gains[c] = score(chosen, c)
			}
		}
		checkStep(t, what, s, gains, slack)
		chosen = append(chosen, s.Row)
	}
}

// checkNearest checks that there are k steps and that the first takes the row nearest to the query, the runner-up
// being the next; their gains are the cosines times weight.
func checkNearest(t *testing.T, in *instance, r pick.Result, k int, weight float64) {
	t.Helper()
	if len(r.Steps) != k {
		t.Fatalf("%d steps, want %d", len(r.Steps), k)
	}
	s := r.Steps[0]
	if math.Abs(s.Gain-weight*in.query[s.Row]) > slack || (s.RunnerUp >= 0 && math.Abs(s.RunnerUpGain-weight*in.query[s.RunnerUp]) > slack) {
		t.Fatalf("step %+v, cosines %v, weight %v", s, in.query, weight)
	}
	s.Gain = in.query[s.Row]
	if s.RunnerUp >= 0 {
		s.RunnerUpGain = in.query[s.RunnerUp]
	}
	checkStep(t, "the nearest", s, slices.Clone(in.query), slack)
}

// closest is max_{s∈S} cos(c,s).
func (in *instance) closest(chosen []int, c int) float64 {
	closest := none
	for _, s := range chosen {
		closest = max(closest, in.at(c, s))
	}
	return closest
}

// objective is F_P(S).
func (in *instance) objective(chosen []int) float64 {
	total := 0.0
	for i, mass := range in.demand {
		total += mass * max(0, in.closest(chosen, i))
	}
	return total
}

// instances runs check on 300 instances, generic and nasty ones in turn, each with a k from 1 to n.
func instances(t *testing.T, check func(r *rand.Rand, in *instance, k int)) {
	t.Helper()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 11))
		n, dim := 1+r.IntN(9), 1+r.IntN(6)
		in := generic(r, n, dim)
		if seed%2 == 1 {
			in = nasty(r, n, dim)
		}
		check(r, in, 1+r.IntN(n))
	}
}

func TestMMRAgainstPlainScores(t *testing.T) {
	for _, lambda := range []float64{0, 0.3, 0.5, 0.9, 1} {
		o := pick.DefaultOptions()
		o.MMR.Lambda = lambda
		selector := newSelector(t, "mmr", o)
		instances(t, func(_ *rand.Rand, in *instance, k int) {
			r := choose(t, selector, in, k)
			checkNearest(t, in, r, k, lambda)
			greedy(t, "mmr", in, r, 1, func(chosen []int, c int) float64 {
				return lambda*in.query[c] - (1-lambda)*in.closest(chosen, c)
			})
		})
	}
}

// TestMMRAtTheEnds: λ = 1 is the order by relevance, and at λ = 0 relevance counts for the first passage only.
func TestMMRAtTheEnds(t *testing.T) {
	cosine := newSelector(t, "cosine", pick.DefaultOptions())
	one, zero := pick.DefaultOptions(), pick.DefaultOptions()
	one.MMR.Lambda, zero.MMR.Lambda = 1, 0
	relevance, diversity := newSelector(t, "mmr", one), newSelector(t, "mmr", zero)
	instances(t, func(_ *rand.Rand, in *instance, k int) {
		if got, want := choose(t, relevance, in, k).Rows(), choose(t, cosine, in, k).Rows(); !slices.Equal(got, want) {
			t.Fatalf("λ=1 chose %v, cosine %v", got, want)
		}
		before := choose(t, diversity, in, k).Rows()
		for i := range in.query {
			if i != before[0] {
				in.query[i] = -0.5 // less relevant than the first, and otherwise of no account
			}
		}
		in.query[before[0]] = 1
		if after := choose(t, diversity, in, k).Rows(); !slices.Equal(before, after) {
			t.Fatalf("λ=0 chose %v, and %v when the relevance of the others changed", before, after)
		}
	})
}

// logDet is log det of the kernel on the chosen rows, -Inf where it vanishes.
func logDet(chosen []int, kernel func(i, j int) float64) float64 {
	if len(chosen) == 0 {
		return 0
	}
	m := mat.NewDense(len(chosen), len(chosen), nil)
	for a, i := range chosen {
		for b, j := range chosen {
			m.Set(a, b, kernel(i, j))
		}
	}
	value, sign := mat.LogDet(m)
	if sign <= 0 {
		return none
	}
	return value
}

// TestDPPAgainstPlainDeterminants runs where no determinant is near zero, 6 dimensions or more for 6 rows.
func TestDPPAgainstPlainDeterminants(t *testing.T) {
	for _, theta := range []float64{0, 0.3, 0.7, 0.9} {
		o := pick.DefaultOptions()
		o.DPP.Theta = theta
		selector := newSelector(t, "dpp", o)
		for seed := range uint64(200) {
			r := rand.New(rand.NewPCG(seed, 12))
			in := generic(r, 6, 8+r.IntN(10))
			result := choose(t, selector, in, 5)
			checkNearest(t, in, result, 5, theta)
			greedy(t, "dpp", in, result, 1, func(chosen []int, c int) float64 {
				rise := logDet(append(slices.Clone(chosen), c), in.at) - logDet(chosen, in.at)
				return theta*in.query[c] + (1-theta)*rise
			})
		}
	}
}

// TestDPPIsMAPOfItsKernel compares with the determinant of the kernel as published, exp(a·r_i)·S_ij·exp(a·r_j).
func TestDPPIsMAPOfItsKernel(t *testing.T) {
	const theta = 0.6
	a := theta / (2 * (1 - theta))
	o := pick.DefaultOptions()
	o.DPP.Theta = theta
	selector := newSelector(t, "dpp", o)
	for seed := range uint64(200) {
		in := generic(rand.New(rand.NewPCG(seed, 13)), 7, 12)
		kernel := func(i, j int) float64 { return math.Exp(a*in.query[i]) * in.at(i, j) * math.Exp(a*in.query[j]) }
		chosen := choose(t, selector, in, 4).Rows()
		for at := 1; at < 4; at++ {
			best, row := none, -1
			for c := range in.n {
				if slices.Contains(chosen[:at], c) {
					continue
				}
				if value := logDet(append(slices.Clone(chosen[:at]), c), kernel); value > best {
					best, row = value, c
				}
			}
			if row != chosen[at] {
				t.Fatalf("seed %d, step %d: chose %d, the determinant wants %d", seed, at, chosen[at], row)
			}
		}
	}
}

func TestDPPFillsByRelevanceWhereTheDeterminantVanishes(t *testing.T) {
	selector := newSelector(t, "dpp", pick.DefaultOptions())
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 14))
		points := directions(r, 3, 5)
		points = append(points, points...) // each passage twice
		in := build(r, points, 5)
		result := choose(t, selector, in, 6)
		rows := result.Rows()
		for at, row := range rows[:3] {
			if slices.ContainsFunc(rows[:at], func(s int) bool { return s%3 == row%3 }) {
				t.Fatalf("chose %v: a duplicate before all passages were in", rows)
			}
		}
		rest := rows[3:]
		if len(result.Degraded) != 1 || !slices.IsSortedFunc(rest, func(a, b int) int {
			if in.query[a] > in.query[b] {
				return -1
			}
			return 1
		}) {
			t.Fatalf("the rest is %v, degraded %q", rest, result.Degraded)
		}
	}
}

// TestSmartAgainstPlainDeterminants compares with the determinant of r_i·K_ij·exp(−γ(1−C_ij))·r_j in the pool.
func TestSmartAgainstPlainDeterminants(t *testing.T) {
	for _, gamma := range []float64{0, 1, 4} {
		o := pick.DefaultOptions()
		o.Smart.Gamma, o.Smart.Pool = gamma, 6
		selector := newSelector(t, "smart", o)
		for seed := range uint64(150) {
			in := generic(rand.New(rand.NewPCG(seed, 15)), 9, 14)
			for i := range in.query {
				in.query[i] = 0.2 + 0.7*math.Abs(in.query[i])
			}
			pool := make([]int, in.n)
			for i := range pool {
				pool[i] = i
			}
			slices.SortFunc(pool, func(a, b int) int {
				if in.query[a] > in.query[b] {
					return -1
				}
				return 1
			})
			pool = pool[:6]
			kernel := func(i, j int) float64 {
				if i == j {
					return in.query[i] * in.query[i]
				}
				both := (in.conflict[i*in.n+j] + in.conflict[j*in.n+i]) / 2
				return in.query[i] * in.at(i, j) * math.Exp(-gamma*(1-both)) * in.query[j]
			}
			greedy(t, "smart", in, choose(t, selector, in, 4), 0, func(chosen []int, c int) float64 {
				if !slices.Contains(pool, c) {
					return none
				}
				return logDet(append(slices.Clone(chosen), c), kernel) - logDet(chosen, kernel)
			})
		}
	}
}

// sourceBeta is β = α·E[cos(x,Q)] / ((k̄−1)/2·E[cos(x,y)]) with both means taken over pairs written out.
func sourceBeta(in *instance, alpha float64, k, budget int) float64 {
	size := k
	if budget > 0 {
		tokens := 0
		for _, n := range in.tokens {
			tokens += n
		}
		size = min(k, int(math.Floor(float64(budget)/(float64(tokens)/float64(in.n)))))
	}
	relevance, redundancy, pairs := 0.0, 0.0, 0.0
	for i := range in.n {
		relevance += in.query[i] / float64(in.n)
		for j := i + 1; j < in.n; j++ {
			redundancy += in.at(i, j)
			pairs++
		}
	}
	if size <= 1 || relevance <= 0 || redundancy <= 0 {
		return 0
	}
	return alpha * relevance / (float64(size-1) / 2 * (redundancy / pairs))
}

func TestAdaGReSAgainstPlainScores(t *testing.T) {
	positive := 0
	for _, c := range []struct {
		alpha, beta float64
		adaptive    bool
		budget      int
	}{{1, 0, true, 0}, {0.7, 0, true, 0}, {1, 0, true, 200}, {1, 0.4, false, 0}, {1, 0, false, 0}, {2, 0.1, false, 150}} {
		o := pick.DefaultOptions()
		o.AdaGReS = pick.AdaGReSOptions{Alpha: c.alpha, Beta: c.beta, AdaptiveBeta: c.adaptive, TokenBudget: c.budget}
		selector := newSelector(t, "adagres", o)
		instances(t, func(_ *rand.Rand, in *instance, k int) {
			result := choose(t, selector, in, k)
			beta, room := c.beta, c.budget
			if c.adaptive {
				if beta = sourceBeta(in, c.alpha, k, c.budget); beta > 0 {
					positive++
				}
			}
			// A β of a vanishing mean cosine magnifies the rounding of that mean.
			if beta > 1e5 {
				return
			}
			greedy(t, "adagres", in, result, 0, func(chosen []int, c0 int) float64 {
				left, overlap := room, 0.0
				for _, s := range chosen {
					left -= in.tokens[s]
					overlap += in.at(c0, s)
				}
				if c.budget > 0 && in.tokens[c0] > left {
					return none
				}
				return c.alpha*in.query[c0] - beta*overlap
			})
			used := 0
			for _, row := range result.Rows() {
				used += in.tokens[row]
			}
			if c.budget == 0 && len(result.Steps) != k {
				t.Fatalf("%d steps of %d without a budget", len(result.Steps), k)
			}
			if c.budget > 0 && used > c.budget {
				t.Fatalf("%d tokens in a budget of %d", used, c.budget)
			}
		})
	}
	if positive < 100 {
		t.Errorf("the closed form was positive in %d instances only", positive)
	}
}

func TestAdaGReSStopsAtLoss(t *testing.T) {
	o := pick.DefaultOptions()
	o.AdaGReS = pick.AdaGReSOptions{Alpha: 1, Beta: 0.8, StopAtLoss: true}
	selector := newSelector(t, "adagres", o)
	stopped := 0
	instances(t, func(_ *rand.Rand, in *instance, k int) {
		result := choose(t, selector, in, k)
		for _, s := range result.Steps {
			if s.Gain <= 0 {
				t.Fatalf("a step of gain %v", s.Gain)
			}
		}
		rows := result.Rows()
		if len(rows) == k {
			return
		}
		stopped++
		for c := range in.n {
			overlap := 0.0
			for _, s := range rows {
				overlap += in.at(c, s)
			}
			if !slices.Contains(rows, c) && in.query[c]-0.8*overlap > tie {
				t.Fatalf("stopped after %v although row %d raises the objective", rows, c)
			}
		}
	})
	if stopped == 0 {
		t.Error("no selection was stopped")
	}
}

func TestFacilityAgainstPlainObjective(t *testing.T) {
	for _, cold := range []bool{false, true} {
		o := pick.DefaultOptions()
		o.Facility.ColdStart = cold
		selector := newSelector(t, "facility", o)
		instances(t, func(_ *rand.Rand, in *instance, k int) {
			result, first := choose(t, selector, in, k), 0
			if cold {
				checkColdStart(t, in, result, k)
				first = 1
			}
			greedy(t, "facility", in, result, first, func(chosen []int, c int) float64 {
				rise := in.objective(append(slices.Clone(chosen), c)) - in.objective(chosen)
				if result.Steps[len(chosen)].Rule == pick.RuleGain {
					return rise
				}
				if rise > 2*tie { // one tie to count as a rise, one to the lowest row
					t.Fatalf("row %d of gain %v was passed over", c, rise)
				}
				return in.query[c]
			})
			for at, s := range result.Steps {
				want := 1.0
				if at > 0 {
					want = 1 - in.closest(result.Rows()[:at], s.Row)
				}
				if s.Rule != pick.RuleRank && math.Abs(s.Gate-want) > slack {
					t.Fatalf("gate %v, want %v", s.Gate, want)
				}
			}
		})
	}
}

// checkColdStart checks the first step, which the cosines decide and F_P describes.
func checkColdStart(t *testing.T, in *instance, r pick.Result, k int) {
	t.Helper()
	s := r.Steps[0]
	if s.Rule != pick.RuleColdStart || math.Abs(s.Gain-in.objective([]int{s.Row})) > slack {
		t.Fatalf("cold start %+v, want gain %v", s, in.objective([]int{s.Row}))
	}
	r.Steps = slices.Clone(r.Steps)
	r.Steps[0].Gain = in.query[s.Row]
	if s.RunnerUp >= 0 {
		if math.Abs(s.RunnerUpGain-in.objective([]int{s.RunnerUp})) > slack {
			t.Fatalf("cold start %+v, want a runner-up gain of %v", s, in.objective([]int{s.RunnerUp}))
		}
		r.Steps[0].RunnerUpGain = in.query[s.RunnerUp]
	}
	checkNearest(t, in, r, k, 1)
}
