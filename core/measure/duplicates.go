package measure

// DuplicateThreshold is the cosine from which on two passages count as near-duplicates.
const DuplicateThreshold = 0.95

// NearDuplicates returns the groups of at least two among n passages that a chain of pairs with cosine at or above
// threshold connects. Members are ascending row numbers, groups are ordered by their first member. cosines is the
// symmetric n×n matrix of the passages; only what is below its diagonal is read.
func NearDuplicates(cosines [][]float64, threshold float64) [][]int {
	sets := newDisjointSets(len(cosines))
	for i, row := range cosines {
		for j, c := range row[:i] {
			if c >= threshold {
				sets.join(i, j)
			}
		}
	}
	members := make([][]int, len(cosines))
	for i := range cosines {
		root := sets.find(i)
		members[root] = append(members[root], i)
	}
	groups := [][]int{}
	for _, group := range members {
		if len(group) > 1 {
			groups = append(groups, group)
		}
	}
	return groups
}

// disjointSets is a union-find forest in which the root of a set is its smallest member.
type disjointSets []int

func newDisjointSets(n int) disjointSets {
	parent := make(disjointSets, n)
	for i := range parent {
		parent[i] = i
	}
	return parent
}

func (s disjointSets) find(i int) int {
	for s[i] != i {
		s[i] = s[s[i]] // halving the path keeps later searches short
		i = s[i]
	}
	return i
}

func (s disjointSets) join(i, j int) {
	a, b := s.find(i), s.find(j)
	s[max(a, b)] = min(a, b)
}
