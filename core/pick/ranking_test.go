package pick_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/georag/georag/core/pick"
)

// TestRankingsAgainstPlainScores checks the selectors that score each passage once.
func TestRankingsAgainstPlainScores(t *testing.T) {
	o := pick.DefaultOptions()
	for name, score := range map[string]func(in *instance, c int) float64{
		"cosine": func(in *instance, c int) float64 { return in.query[c] },
		"rerank": func(in *instance, c int) float64 { return in.rerank[c] },
		"subq-max": func(in *instance, c int) float64 {
			best := none
			for _, column := range in.subQueries {
				best = max(best, column[c])
			}
			return best
		},
		"subq-avg": func(in *instance, c int) float64 {
			sum := 0.0
			for _, column := range in.subQueries {
				sum += column[c]
			}
			return sum / float64(len(in.subQueries))
		},
	} {
		selector := newSelector(t, name, o)
		instances(t, func(_ *rand.Rand, in *instance, k int) {
			greedy(t, name, in, choose(t, selector, in, k), 0, func(_ []int, c int) float64 { return score(in, c) })
		})
	}
}

// rrfScore is Σ_j 1/(K + rank of c in R_j), each list naming a row at most once.
func rrfScore(in *instance, constant float64, c int) (score float64) {
	for _, list := range in.lists {
		if rank := slices.Index(list, c); rank >= 0 {
			score += 1 / (constant + float64(rank+1))
		}
	}
	return score
}

func TestRRFAgainstPlainScores(t *testing.T) {
	for _, constant := range []float64{0, 1, 60, 1e6} {
		o := pick.DefaultOptions()
		o.RRF.K = constant
		selector := newSelector(t, "rrf", o)
		instances(t, func(r *rand.Rand, in *instance, k int) {
			for j, list := range in.lists { // a row that is named again counts where it stands first
				in.lists[j] = append(list, list[r.IntN(len(list))])
			}
			result := choose(t, selector, in, k)
			rows := result.Rows()
			for at, row := range rows {
				score := rrfScore(in, constant, row)
				if score > 0 && result.Steps[at].Gain != score {
					t.Fatalf("gain %v, want %v", result.Steps[at].Gain, score)
				}
				for c := range in.n {
					other := rrfScore(in, constant, c)
					better := other > score || (other == score && score > 0 && c < row) ||
						(other == 0 && score == 0 && in.query[c] > in.query[row]+tie+slack)
					if better && !slices.Contains(rows[:at], c) {
						t.Fatalf("chose %v: row %d of score %v comes before row %d of %v", rows, row, score, c, other)
					}
				}
			}
			if len(rows) != k {
				t.Fatalf("%d rows of %d", len(rows), k)
			}
		})
	}
}

func TestFacilityReachesTheGuarantee(t *testing.T) {
	selector := newSelector(t, "facility", pick.DefaultOptions())
	worst := 1.0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 16))
		n := 1 + r.IntN(10)
		in := generic(r, n, 1+r.IntN(4))
		if seed%2 == 1 {
			in = nasty(r, n, 1+r.IntN(4))
		}
		k := 1 + r.IntN(min(n, 5))
		best := bestObjective(in, k, 0, nil)
		if best <= 0 {
			continue
		}
		got := in.objective(choose(t, selector, in, k).Rows()) / best
		if worst = min(worst, got); got < 1-1/math.E {
			t.Fatalf("seed %d: greedy reaches %v of the best", seed, got)
		}
	}
	if worst > 0.9999 {
		t.Errorf("greedy was the best everywhere (at least %v): the instances show nothing", worst)
	}
}

// bestObjective is the largest F_P of any k rows from the given one on, joined with those chosen.
func bestObjective(in *instance, k, from int, chosen []int) float64 {
	if len(chosen) == k {
		return in.objective(chosen)
	}
	best := 0.0
	for c := from; c <= in.n-(k-len(chosen)); c++ {
		best = max(best, bestObjective(in, k, c+1, append(chosen, c)))
	}
	return best
}
