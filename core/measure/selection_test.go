package measure

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func near(t interface{ Errorf(string, ...any) }, what string, got, want float64) {
	if !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// symmetric draws an n×n matrix of cosines.
func symmetric(t *rapid.T, n int) [][]float64 {
	matrix := make([][]float64, n)
	for i := range matrix {
		matrix[i] = make([]float64, n)
		matrix[i][i] = 1
		for j := range i {
			c := rapid.Float64Range(-1, 1).Draw(t, "cosine")
			matrix[i][j], matrix[j][i] = c, c
		}
	}
	return matrix
}

func TestCosinesOfVectorsOfAnyNorm(t *testing.T) {
	got := Cosines([][]float32{{3, 0}, {0, 0}, {-2, 2}}, [][]float32{{5, 0}, {1, 1}})
	for i, want := range [][]float64{{1, math.Sqrt2 / 2}, {0, 0}, {-math.Sqrt2 / 2, 0}} {
		for j := range want {
			if math.Abs(got[i][j]-want[j]) > 1e-7 {
				t.Errorf("row %d is %v, want %v", i, got[i], want)
			}
		}
	}
}

func TestRedundancyIsTheMeanOverPairs(t *testing.T) {
	near(t, "redundancy", Redundancy([][]float64{{1, 0.5, -0.2}, {0.5, 1, 0.9}, {-0.2, 0.9, 1}}), 0.4)
	near(t, "redundancy of one passage", Redundancy([][]float64{{1}}), 0)
	near(t, "redundancy of nothing", Redundancy(nil), 0)
}

func TestCoverageNeedsMoreThanTheThreshold(t *testing.T) {
	cosines := [][]float64{{0.1, 0.61}, {0.6, -1}, {0.7, 0.8}, {0, 0}}
	if got := Covered(cosines); !slices.Equal(got, []bool{true, false, true, false}) {
		t.Errorf("covered %v", got)
	}
	near(t, "coverage", Coverage(cosines), 0.5)
	near(t, "coverage without sub-queries", Coverage(nil), 0)
	near(t, "coverage without passages", Coverage([][]float64{{}, {}}), 0)
}

func TestDimensionCoverageWantsEveryPeak(t *testing.T) {
	for _, c := range []struct {
		cosines [][]float64
		peaks   []bool
		all     bool
	}{
		{[][]float64{{0.9, 0.1}, {0.1, 0.7}}, []bool{true, true}, true},
		{[][]float64{{0.9, 0.1}, {0.1, 0.6}}, []bool{true, false}, false},
		{[][]float64{{0.9}, {0.9}, {0.2}}, []bool{true, true, false}, false},
		{nil, []bool{}, false},
	} {
		got := DimensionCoverage(c.cosines)
		if !slices.Equal(got.Peaks, c.peaks) || got.All != c.all {
			t.Errorf("%v: %+v, want %v %v", c.cosines, got, c.peaks, c.all)
		}
	}
}

func TestGoldRecallCountsEachGoldOnce(t *testing.T) {
	for _, c := range []struct {
		chosen, gold []string
		recall       float64
	}{
		{[]string{"a", "b", "c"}, []string{"a", "z"}, 0.5},
		{[]string{"a", "a", "a"}, []string{"a", "b", "a"}, 0.5},
		{[]string{"b", "a"}, []string{"a", "b"}, 1},
		{[]string{"c"}, []string{"a"}, 0},
		{[]string{"c"}, nil, 0},
		{nil, []string{"a"}, 0},
	} {
		near(t, "recall", GoldRecall(c.chosen, c.gold), c.recall)
		if got := AllGold(c.chosen, c.gold); got != (c.recall == 1) {
			t.Errorf("%v of %v: all gold %v", c.chosen, c.gold, got)
		}
	}
}

func TestGoldRecallGrowsWithTheSelection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOf(rapid.IntRange(0, 20))
		chosen, gold := rows.Draw(t, "chosen"), rows.Draw(t, "gold")
		part := chosen[:rapid.IntRange(0, len(chosen)).Draw(t, "part")]
		if less, more := GoldRecall(part, gold), GoldRecall(chosen, gold); less > more {
			t.Errorf("recall fell from %v to %v", less, more)
		}
		if len(gold) > 0 && !AllGold(slices.Concat(chosen, gold), gold) {
			t.Error("a selection that holds the gold misses some of it")
		}
	})
}

func TestFacilityObjective(t *testing.T) {
	demand := []float64{0.5, 0.3, 0.2}
	near(t, "F_P", FacilityObjective(demand, [][]float64{{0.2, 1}, {-0.4, -0.1}, {0.5, 0.3}}), 0.6)
	near(t, "F_P of nothing", FacilityObjective(demand, [][]float64{{}, {}, {}}), 0)
}

func TestFacilityObjectiveIsMonotoneAndSubmodular(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "n")
		cosines := symmetric(t, n)
		demand := make([]float64, n)
		for i := range demand {
			demand[i] = 1 / float64(n)
		}
		objective := func(chosen ...int) float64 {
			columns := make([][]float64, n)
			for i := range columns {
				for _, s := range chosen {
					columns[i] = append(columns[i], cosines[i][s])
				}
			}
			return FacilityObjective(demand, columns)
		}
		s := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7}[:n]).Draw(t, "order")
		small, large := s[:rapid.IntRange(0, n-1).Draw(t, "small")], s[:n-1]
		added := s[n-1]
		early := objective(append(slices.Clone(small), added)...) - objective(small...)
		late := objective(s...) - objective(large...)
		if late < -1e-12 || late > early+1e-12 {
			t.Errorf("gain %v early, %v late", early, late)
		}
	})
}

func TestNearDuplicatesAreConnectedByChains(t *testing.T) {
	cosines := [][]float64{
		{1, 0.2, 0.96, 0.1, 0.1},
		{0.2, 1, 0.1, 0.95, 0.1},
		{0.96, 0.1, 1, 0.3, 0.97},
		{0.1, 0.95, 0.3, 1, 0.1},
		{0.1, 0.1, 0.97, 0.1, 1},
	}
	got := NearDuplicates(cosines, DuplicateThreshold)
	if want := [][]int{{0, 2, 4}, {1, 3}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("groups %v, want %v", got, want)
	}
	if got := NearDuplicates(cosines, 0.99); len(got) != 0 {
		t.Errorf("groups %v at 0.99", got)
	}
}

// TestNearDuplicatesAgreeWithFlooding compares with the components that flooding from each passage finds.
func TestNearDuplicatesAgreeWithFlooding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cosines := symmetric(t, rapid.IntRange(0, 9).Draw(t, "n"))
		threshold := rapid.Float64Range(0, 1).Draw(t, "threshold")
		want, seen := [][]int{}, make([]bool, len(cosines))
		for i := range cosines {
			var group []int
			for front := []int{i}; len(front) > 0; front = front[1:] {
				at := front[0]
				if seen[at] {
					continue
				}
				seen[at] = true
				group = append(group, at)
				for j, c := range cosines[at] {
					if c >= threshold {
						front = append(front, j)
					}
				}
			}
			if slices.Sort(group); len(group) > 1 {
				want = append(want, group)
			}
		}
		if got := NearDuplicates(cosines, threshold); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("groups %v, want %v", got, want)
		}
	})
}

func TestHubness(t *testing.T) {
	counts := KOccurrences([][]int{{0, 1}, {0, 2}, {0, 3}}, 4)
	if !slices.Equal(counts, []int{3, 1, 1, 1}) {
		t.Errorf("counts %v", counts)
	}
	// Mean 1.5, deviations 1.5, −0.5 three times: m₂ = 3/4, m₃ = 3/4, and m₃/m₂^1.5 = 2/√3.
	near(t, "hubness", Hubness(counts), 2/math.Sqrt(3))
	near(t, "hubness of equal counts", Hubness([]int{2, 2, 2}), 0)
	near(t, "hubness of nothing", Hubness(nil), 0)
	near(t, "hubness of anti-hubs", Hubness([]int{0, 2, 2, 2}), -2/math.Sqrt(3))
}
