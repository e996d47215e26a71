package diagnose

import (
	"fmt"
	"strings"

	"github.com/georag/georag/core"
)

// section is a table that both the terminal and the page show.
type section struct {
	Title  string
	Header []string
	Rows   [][]string
}

// sections lays out the figures of a report.
func (r *Report) sections() []section {
	k := r.Settings.K
	all := []section{
		{
			"Redundancy (mean pairwise cosine per query)", distributionHeader, [][]string{
				distributionRow(fmt.Sprintf("%d nearest", k), r.Redundant.TopK),
				distributionRow(fmt.Sprintf("%d selected", k), r.Redundant.Selected),
				distributionRow(fmt.Sprintf("%d candidates", r.Settings.Candidates), r.Redundant.Candidates),
			},
		},
		{"Repetition", figureHeader, [][]string{
			{fmt.Sprintf("queries with near-duplicates among the %d nearest", k), percent1(r.Redundant.DuplicateInTopK)},
			{"candidates that only repeat another", percent1(r.Redundant.RedundantCandidates)},
			{fmt.Sprintf("queries whose %d nearest sit in one cluster", k), percent1(r.Redundant.Crowded)},
			{"groups of near-duplicates met (cosine ≥ 0.95)", fmt.Sprint(r.Redundant.GroupCount)},
		}},
	}
	if len(r.Redundant.Groups) > 0 {
		all = append(all, groupSection("Largest groups of near-duplicates", r.Redundant.Groups))
	}
	if r.Coverage.Before.Count > 0 {
		all = append(all, r.coverageSections()...)
	}
	if r.Filter != nil {
		all = append(all, r.Filter.section())
	}
	all = append(all, r.healthSection())
	if len(r.Health.DuplicateGroups) > 0 {
		all = append(all, groupSection("Passages with one and the same vector", r.Health.DuplicateGroups))
	}
	if len(r.Failed) > 0 {
		failed := section{"Queries without an answer", []string{"query", "error"}, nil}
		for _, f := range r.Failed[:min(len(r.Failed), shownRows)] {
			failed.Rows = append(failed.Rows, []string{f.ID, f.Error})
		}
		all = append(all, failed)
	}
	return all
}

// shownRows is how many rows of a long list are shown; the JSON report has more.
const shownRows = 10

var (
	distributionHeader = []string{"", "mean", "5%", "median", "95%"}
	figureHeader       = []string{"", "value"}
)

func distributionRow(name string, d Distribution) []string {
	return []string{name, decimals(d.Mean), decimals(d.P5), decimals(d.Median), decimals(d.P95)}
}

func decimals(x float64) string { return fmt.Sprintf("%.3f", x) }

func percent1(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

func groupSection(title string, groups [][]core.ID) section {
	s := section{title, []string{"passages", "ids"}, nil}
	for _, group := range groups[:min(len(groups), shownRows)] {
		names := make([]string, 0, shownRows+1)
		for _, id := range group[:min(len(group), shownRows)] {
			names = append(names, id.String())
		}
		if len(group) > shownRows {
			names = append(names, "…")
		}
		s.Rows = append(s.Rows, []string{fmt.Sprint(len(group)), strings.Join(names, ", ")})
	}
	return s
}

func (r *Report) coverageSections() []section {
	k, c, s := r.Settings.K, r.Coverage, r.SubQuery
	sections := []section{
		{
			fmt.Sprintf("Coverage (share of a query's sub-queries with a passage above cosine %.2g)", core.CoverageThreshold), distributionHeader, [][]string{
				distributionRow(fmt.Sprintf("%d nearest", k), c.Before),
				distributionRow(fmt.Sprintf("%d selected", k), c.After),
				distributionRow("all candidates", c.Ceiling),
			},
		},
		{"Demand gap", figureHeader, [][]string{
			{"sub-queries that no candidate covers (recall)", percent1(c.RecallGap)},
			{"sub-queries that a candidate covers and no selected passage (selection)", percent1(c.SelectionGap)},
			{"queries already covered by the nearest passages", percent1(c.AlreadyCovered)},
			{"queries that the index holds nothing near to", percent1(c.StarvedShare)},
		}},
		{"Sub-queries", distributionHeader, [][]string{
			distributionRow("overlap", s.Overlap), distributionRow("novelty", s.Novelty),
			distributionRow("pairwise cosine, written", s.CosineBefore), distributionRow("pairwise cosine, kept", s.CosineAfter),
		}},
		{"Sub-queries, counted", figureHeader, [][]string{
			{"written per query", fmt.Sprintf("%.1f", s.Written)}, {"kept by max-min", fmt.Sprintf("%.1f", s.Kept)},
			{"drifted, of the kept", percent1(s.Drifted)},
		}},
	}
	if len(c.Starved) > 0 {
		starved := section{"Queries that the index holds nothing near to", []string{"query", "best cosine", "question or first sub-query"}, nil}
		for _, q := range c.Starved[:min(len(c.Starved), shownRows)] {
			text := q.Text
			if text == "" {
				text = q.Uncovered[0]
			}
			starved.Rows = append(starved.Rows, []string{q.ID, decimals(q.Best), text})
		}
		sections = append(sections, starved)
	}
	return sections
}

func (r *Report) healthSection() section {
	h := r.Health
	s := section{"Index", figureHeader, [][]string{
		{"store", r.Index.Store}, {"collection", r.Index.Collection}, {"index", r.Index.Index},
		{"metric, dimension", fmt.Sprintf("%s, %d", r.Index.Metric, r.Index.Dimension)},
	}}
	add := func(name, format string, values ...any) {
		s.Rows = append(s.Rows, []string{name, fmt.Sprintf(format, values...)})
	}
	if h.Scanned > 0 {
		add("passages read", "%d", h.Scanned)
		add("zero, not finite, missing, wrong dimension", "%d, %d, %d, %d", h.Zero, h.NotFinite, h.Missing, h.WrongDimension)
		add("not of norm 1", "%d", h.Unnormalised)
		add("norms, least to most", "%.4g to %.4g", h.Norms.Least, h.Norms.Most)
		add("vectors that repeat another", "%d", h.Duplicates)
		add("skewness of 10-occurrences", "%.2f (sample of %d)", h.Hubs.Skewness, h.Hubs.Sample)
		add("median cosine of two random passages", "%.3f", h.RandomCosine)
	}
	if h.Exact != nil {
		add("recall@20, @200 against exact search", "%s, %s (%d queries, by %s)", percent1(h.Exact.Shallow), percent1(h.Exact.Deep), h.Exact.Queries, h.Exact.Metric)
		add("of the 20 nearest by cosine, found", "%s", percent1(h.Exact.Cosine))
	}
	if h.Scope != nil {
		add("passages in the scope", "%d of %d (%s)", h.Scope.Matching, h.Scope.Total, percent1(h.Scope.Share))
	}
	if len(h.Hubs.Most) > 0 {
		add("passage found most often", "%s, for %s of the queries", h.Hubs.Most[0].ID, percent1(h.Hubs.Most[0].Share))
	}
	for _, why := range h.Unmeasured {
		add("not measured", "%s", why)
	}
	return s
}
