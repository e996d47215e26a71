package diagnose

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/georag/georag/core"
)

//go:embed page.html
var pageSource string

var page = template.Must(template.New("page").Parse(pageSource))

// figure is one chart with its caption.
type figure struct {
	Title, Caption string
	Image          template.HTML // made by this package, every word of data escaped
}

// WriteHTML writes the report as one page that needs nothing else: no script, no font, no network.
func (r *Report) WriteHTML(out io.Writer) error {
	return page.Execute(out, struct {
		*Report
		Figures  []figure
		Question []figure
		Passages []section
		Sections []section
	}{r, r.distributions(), r.question(), r.passages(), r.sections()})
}

func (r *Report) distributions() []figure {
	k := r.Settings.K
	nearest, selected := fmt.Sprintf("%d nearest", k), fmt.Sprintf("%d selected", k)
	figures := []figure{{
		"Redundancy", "Mean pairwise cosine among the passages of each query. Further left is more diverse.",
		template.HTML(histogram("Distribution of redundancy over the queries", "mean pairwise cosine", hundredths, []series{
			{nearest, orange, "6 4", r.Redundant.TopK},
			{selected, blue, "", r.Redundant.Selected},
			{"all candidates", grey, "2 3", r.Redundant.Candidates},
		})),
	}}
	if r.Coverage.Before.Count == 0 {
		return figures
	}
	return append(figures, figure{
		"Coverage", fmt.Sprintf("Share of each query's sub-queries that have a passage at a cosine above %.2g. Further right is better; what no candidate covers, no selection can.", core.CoverageThreshold),
		template.HTML(histogram("Distribution of coverage over the queries", "share of the sub-queries covered", asPercent, []series{
			{nearest, orange, "6 4", r.Coverage.Before},
			{selected, blue, "", r.Coverage.After},
			{"all candidates", grey, "2 3", r.Coverage.Ceiling},
		})),
	})
}

// question shows the featured query.
func (r *Report) question() []figure {
	if r.Detail == nil {
		return nil
	}
	var figures []figure
	for _, f := range []struct{ title, caption, image string }{
		{"Where everything lies", "A flat picture of a space of many dimensions: near points are usually near, far points may not be far. Numbers that would hide each other are moved apart.", r.Detail.plane()},
		{"Where the question needs evidence", "The demand over the candidates; selection places passages so that together they cover it.", r.Detail.demandBars()},
		{"What each sub-query gets", "Where the circle lies on the diamond, the selection holds the best candidate there is.", r.Detail.clauses()},
		{"What the filter went by", r.Detail.filterCaption(), r.Detail.filterBars()},
	} {
		if f.image != "" {
			figures = append(figures, figure{f.title, f.caption, template.HTML(f.image)})
		}
	}
	return figures
}

// passages lists what was selected for the featured query, and what the nearest would have been.
func (r *Report) passages() []section {
	if r.Detail == nil {
		return nil
	}
	list := func(title string, picks []Pick) section {
		s := section{title, []string{"passage", "cosine", "demand", "covers"}, nil}
		for _, p := range picks {
			s.Rows = append(s.Rows, []string{
				cmp.Or(p.Title, p.ID.String()), hundredths(p.Cosine), percent1(p.Demand), fmt.Sprintf("%d of %d", len(p.Covers), len(r.Detail.SubQueries)),
			})
		}
		return s
	}
	tables := []section{list("Selected, in this order", r.Detail.Picks), list("The nearest, for comparison", r.Detail.Nearest)}
	if r.Detail.Filter != nil {
		tables = append(tables, r.Detail.Filter.section())
	}
	return tables
}

// filterBars is the chart of the filter, "" where none ran.
func (d *Detail) filterBars() string {
	if d.Filter == nil {
		return ""
	}
	return d.Filter.bars()
}

// filterCaption explains that chart.
func (d *Detail) filterCaption() string {
	if d.Filter == nil || d.Filter.Eta == 0 {
		return "The candidates in the question's cluster stay. Candidates are numbered by their cluster, nearest first."
	}
	return "The flow stretches what bridges communities; a candidate stays while its edge to the question is no longer than η. Candidates are numbered by their community, 0 being the question's, nearest first."
}

// plane is the projection, "" where there is none.
func (d *Detail) plane() string {
	if len(d.Points) == 0 {
		return ""
	}
	return d.projection()
}
