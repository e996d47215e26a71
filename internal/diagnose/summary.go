package diagnose

import (
	"cmp"
	"slices"

	"github.com/georag/georag/core"
)

// summary gathers records, in whatever order they come. Of each it keeps the figures; IDs it only counts.
type summary struct {
	records []record // by row, without IDs and texts other than a starved query's
	asked   []bool
	found   map[core.ID]int // in how many queries' first hubDepth an ID stands
	groups  groups
	starved int
}

func newSummary(queries int) *summary {
	return &summary{records: make([]record, queries), asked: make([]bool, queries), found: map[core.ID]int{}, groups: groups{}}
}

func (s *summary) add(r record) {
	for _, id := range r.Nearest[:min(hubDepth, len(r.Nearest))] {
		s.found[id]++
	}
	for _, group := range r.Groups {
		for _, id := range group[1:] {
			s.groups.join(group[0], id)
		}
	}
	if r.starved() {
		if s.starved++; s.starved > maxStarved {
			r.Text, r.Uncovered = "", nil // only so many are listed
		}
	}
	r.Nearest, r.Groups = nil, nil
	s.records[r.Row], s.asked[r.Row] = r, true
}

// report works out everything but the index's own health. filter is the name of the one that ran.
func (s *summary) report(filter string) *Report {
	report := &Report{Failed: []Failure{}, Degraded: map[string]int{}}
	var answered []record
	for i, r := range s.records {
		switch {
		case !s.asked[i]:
		case r.Error != "":
			report.Failed = append(report.Failed, Failure{r.ID, r.Error})
		default:
			answered = append(answered, r)
			reasons := slices.Compact(slices.Sorted(slices.Values(r.Degraded)))
			for _, reason := range reasons {
				report.Degraded[reason]++
			}
		}
	}
	report.Queries = len(answered) + len(report.Failed)
	report.Redundant = s.redundancy(answered)
	report.Coverage = coverage(answered)
	report.SubQuery = subQueries(answered)
	report.Filter = filtered(filter, answered)
	return report
}

func (s *summary) redundancy(answered []record) Redundancy {
	r := Redundancy{
		TopK:                distribute(column(answered, func(r record) float64 { return r.TopK }), 0, 1),
		Candidates:          distribute(column(answered, func(r record) float64 { return r.Candidates }), 0, 1),
		Selected:            distribute(column(answered, func(r record) float64 { return r.Selected }), 0, 1),
		DuplicateInTopK:     share(answered, func(r record) bool { return r.Twins }),
		RedundantCandidates: distribute(column(answered, func(r record) float64 { return r.Redundant }), 0, 1).Mean,
		Crowded:             share(answered, func(r record) bool { return r.Crowded }),
	}
	all := s.groups.sorted()
	r.GroupCount, r.Groups = len(all), all[:min(maxGroups, len(all))]
	return r
}

func coverage(answered []record) Coverage {
	asked := filter(answered, func(r record) bool { return r.Kept > 0 })
	part := func(covered func(record) int) Distribution {
		return distributeIn(shareBins, column(asked, func(r record) float64 { return float64(covered(r)) / float64(r.Kept) }), 0, 1)
	}
	c := Coverage{
		Before:         part(func(r record) int { return r.Before }),
		After:          part(func(r record) int { return r.After }),
		Ceiling:        part(func(r record) int { return r.Ceiling }),
		AlreadyCovered: share(asked, func(r record) bool { return r.Before == r.Ceiling }),
		StarvedShare:   share(asked, record.starved),
		Starved:        []Starved{},
	}
	var all, uncovered, missed int
	for _, r := range asked {
		all, uncovered, missed = all+r.Kept, uncovered+r.Kept-r.Ceiling, missed+r.Ceiling-r.After
		if r.starved() && len(c.Starved) < maxStarved && r.Uncovered != nil {
			c.Starved = append(c.Starved, Starved{ID: r.ID, Text: r.Text, Uncovered: r.Uncovered, Of: r.Kept, Best: r.Best})
		}
	}
	if all > 0 {
		c.RecallGap, c.SelectionGap = float64(uncovered)/float64(all), float64(missed)/float64(all)
	}
	return c
}

func subQueries(answered []record) SubQueryHealth {
	asked := filter(answered, func(r record) bool { return r.Kept > 0 })
	h := SubQueryHealth{
		Written:      distribute(column(answered, func(r record) float64 { return float64(r.Written) }), 0, core.MaxSubQueries).Mean,
		Kept:         distribute(column(answered, func(r record) float64 { return float64(r.Kept) }), 0, core.MaxSubQueries).Mean,
		Overlap:      distribute(column(asked, func(r record) float64 { return r.Overlap }), 0, 1),
		Novelty:      distribute(column(asked, func(r record) float64 { return r.Novelty }), 0, 1),
		CosineBefore: distribute(column(asked, func(r record) float64 { return r.CosineBefore }), 0, 1),
		CosineAfter:  distribute(column(asked, func(r record) float64 { return r.CosineAfter }), 0, 1),
	}
	kept, drifted := 0, 0
	for _, r := range asked {
		kept, drifted = kept+r.Kept, drifted+r.Drifted
	}
	if kept > 0 {
		h.Drifted = float64(drifted) / float64(kept)
	}
	return h
}

func column(records []record, figure func(record) float64) []float64 {
	values := make([]float64, len(records))
	for i, r := range records {
		values[i] = figure(r)
	}
	return values
}

func filter(records []record, keep func(record) bool) []record {
	var kept []record
	for _, r := range records {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

func share(records []record, is func(record) bool) float64 {
	if len(records) == 0 {
		return 0
	}
	return float64(len(filter(records, is))) / float64(len(records))
}

// groups is a union-find forest over the IDs that have a near-duplicate; the root of a group is its lowest ID.
type groups map[core.ID]core.ID

func (g groups) find(id core.ID) core.ID {
	for {
		parent, ok := g[id]
		if !ok || parent == id {
			return id
		}
		if grandparent, ok := g[parent]; ok {
			g[id] = grandparent // halving the path keeps later searches short
		}
		id = parent
	}
}

func (g groups) join(a, b core.ID) {
	low, high := g.find(a), g.find(b)
	if core.CompareID(low, high) > 0 {
		low, high = high, low
	}
	g[low], g[high] = low, low
}

// sorted returns the groups, the largest first, members ascending.
func (g groups) sorted() [][]core.ID {
	byRoot := map[core.ID][]core.ID{}
	for id := range g {
		root := g.find(id)
		byRoot[root] = append(byRoot[root], id)
	}
	all := make([][]core.ID, 0, len(byRoot))
	for _, members := range byRoot {
		slices.SortFunc(members, core.CompareID)
		all = append(all, members)
	}
	slices.SortFunc(all, func(a, b []core.ID) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), core.CompareID(a[0], b[0]))
	})
	return all
}
