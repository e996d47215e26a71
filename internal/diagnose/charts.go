package diagnose

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"

	"github.com/georag/georag/core"
)

// projection draws the plane of the featured query.
func (d *Detail) projection() string {
	image := &drawing{height: 400}
	f := frame{left: 40, top: 62, right: chartWidth - 12, bottom: 356}
	f.xLow, f.xHigh, f.yLow, f.yHigh = d.bounds()
	f.axes(image, "first principal component ("+asPercent(d.Explained[0])+" of the variance)",
		"second ("+asPercent(d.Explained[1])+" of the variance)", tenths, tenths)
	d.legend(image)
	most := 0.0
	for _, p := range d.Points {
		most = max(most, p.Demand)
	}
	// What matters more is drawn later, on top.
	markers := d.markers(f)
	for _, rank := range []func(Point) bool{
		func(p Point) bool { return p.Kind == PointCandidate && p.Step == 0 && p.Near == 0 },
		func(p Point) bool { return p.Kind == PointCandidate && p.Step == 0 && p.Near > 0 },
		func(p Point) bool { return p.Kind == PointSubQuery },
		func(p Point) bool { return p.Step > 0 },
		func(p Point) bool { return p.Kind == PointQuestion },
	} {
		for i, p := range d.Points {
			if rank(p) {
				p.draw(image, markers[i][0], markers[i][1], most)
			}
		}
	}
	return image.String("Candidates, sub-queries and chosen passages of one question in the plane of two principal components")
}

// markers returns where on the image each point is drawn. Chosen passages that would hide each other are moved apart,
// the later one away from the earlier.
func (d *Detail) markers(f frame) [][2]float64 {
	const apart = 17
	at := make([][2]float64, len(d.Points))
	var chosen []int
	for i, p := range d.Points {
		at[i] = [2]float64{f.x(p.X), f.y(p.Y)}
		if p.Step > 0 {
			chosen = append(chosen, i)
		}
	}
	slices.SortFunc(chosen, func(a, b int) int { return d.Points[a].Step - d.Points[b].Step })
	for n, i := range chosen {
		for _, j := range chosen[:n] {
			dx, dy := at[i][0]-at[j][0], at[i][1]-at[j][1]
			distance := math.Hypot(dx, dy)
			if distance >= apart {
				continue
			}
			if distance < 1e-9 {
				dx, dy, distance = 0, 1, 1
			}
			at[i] = [2]float64{at[j][0] + dx/distance*apart, at[j][1] + dy/distance*apart}
		}
	}
	return at
}

func (d *Detail) bounds() (xLow, xHigh, yLow, yHigh float64) {
	xLow, yLow = math.Inf(1), math.Inf(1)
	xHigh, yHigh = math.Inf(-1), math.Inf(-1)
	for _, p := range d.Points {
		xLow, xHigh = min(xLow, p.X), max(xHigh, p.X)
		yLow, yHigh = min(yLow, p.Y), max(yHigh, p.Y)
	}
	dx, dy := 0.06*(xHigh-xLow)+1e-9, 0.06*(yHigh-yLow)+1e-9
	return xLow - dx, xHigh + dx, yLow - dy, yHigh + dy
}

// draw draws a point; the area of a candidate's disc grows with its share of the demand.
func (p Point) draw(image *drawing, x, y, mostDemand float64) {
	words := p.Name
	if p.Kind == PointCandidate {
		words = fmt.Sprintf("%s: demand %.1f%%", p.Name, 100*p.Demand)
	}
	title := "<title>" + html.EscapeString(words) + "</title>"
	radius := 2.2
	if mostDemand > 0 {
		radius += 6 * math.Sqrt(p.Demand/mostDemand)
	}
	switch {
	case p.Kind == PointQuestion:
		image.printf(`<path d="%s" fill="%s" stroke="#fff">%s</path>`, star(x, y, 9), ink, title)
	case p.Kind == PointSubQuery:
		image.printf(`<path d="M%.1f %.1fl5 9h-10z" fill="%s" stroke="#fff" stroke-width="0.8">%s</path>`, x, y-6, green, title)
	case p.Step > 0:
		image.printf(`<circle cx="%.1f" cy="%.1f" r="8" fill="%s" stroke="#fff">%s</circle>`, x, y, blue, title)
		image.printf(`<text x="%.1f" y="%.1f" text-anchor="middle" fill="#fff" font-weight="700" pointer-events="none">%d</text>`, x, y+4, p.Step)
		if p.Near > 0 {
			image.printf(`<rect x="%.1f" y="%.1f" width="21" height="21" fill="none" stroke="%s" stroke-width="1.6"/>`, x-10.5, y-10.5, orange)
		}
	case p.Near > 0:
		image.printf(`<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s" fill-opacity="0.5">%s</circle>`, x, y, radius, grey, title)
		image.printf(`<rect x="%.1f" y="%.1f" width="15" height="15" fill="none" stroke="%s" stroke-width="1.6"/>`, x-7.5, y-7.5, orange)
	default:
		image.printf(`<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s" fill-opacity="0.5">%s</circle>`, x, y, radius, grey, title)
	}
}

// star is the outline of a five-pointed star.
func star(x, y, radius float64) string {
	path := ""
	for i := range 10 {
		r := radius
		if i%2 == 1 {
			r *= 0.45
		}
		angle := math.Pi * (float64(i)/5 - 0.5)
		command := "L"
		if i == 0 {
			command = "M"
		}
		path += fmt.Sprintf("%s%.1f %.1f", command, x+r*math.Cos(angle), y+r*math.Sin(angle))
	}
	return path + "Z"
}

// legend explains the shapes in two columns above the plot.
func (d *Detail) legend(image *drawing) {
	for i, entry := range []struct {
		point Point
		words string
	}{
		{Point{Kind: PointQuestion}, "question"},
		{Point{Kind: PointSubQuery}, "sub-query"},
		{Point{Kind: PointCandidate, Step: 1}, "selected, in this order"},
		{Point{Kind: PointCandidate, Near: 1}, "among the nearest"},
		{Point{Kind: PointCandidate, Demand: 0.3}, "candidate, larger where the demand is"},
	} {
		x, y := 50+float64(i%2)*150, 12+float64(i/2)*19
		entry.point.Name = entry.words
		entry.point.draw(image, x, y, 1)
		image.text(x+14, y+4, "start", entry.words)
	}
}

// shownDemand is how many candidates the bars show.
const shownDemand = 12

// demandBars draws the candidates with the largest shares of the demand, and those chosen.
func (d *Detail) demandBars() string {
	var shown []Point
	for _, p := range d.Points {
		if p.Kind == PointCandidate {
			shown = append(shown, p)
		}
	}
	slices.SortStableFunc(shown, func(a, b Point) int { return cmp.Compare(b.Demand, a.Demand) })
	place := 0
	shown = slices.DeleteFunc(shown, func(p Point) bool {
		place++
		return place > shownDemand && p.Step == 0
	})
	if len(shown) == 0 {
		return ""
	}
	b := bars{
		axis: "share of the question's demand", tick: asPercent, show: percent1,
		legend: []bar{{name: "selected (with its place)", colour: blue}, {name: "not selected", colour: grey}},
	}
	for _, p := range shown {
		entry := bar{name: p.Name, colour: grey, value: p.Demand}
		if p.Step > 0 {
			entry.colour, entry.name = blue, fmt.Sprintf("%d. %s", p.Step, p.Name)
		}
		b.entries = append(b.entries, entry)
	}
	return b.draw("Share of the demand at each candidate")
}

// clauses draws, for each kept sub-query, how near the best candidate and the best chosen passage are.
func (d *Detail) clauses() string {
	if len(d.SubQueries) == 0 {
		return ""
	}
	const step = 30.0
	image := &drawing{height: 84 + step*float64(len(d.SubQueries))}
	f := frame{left: 12, top: 40, right: chartWidth - 14, bottom: image.height - 38, xHigh: 1}
	for _, s := range d.SubQueries {
		f.xLow = min(f.xLow, s.Chosen)
	}
	for _, v := range ticks(f.xLow, f.xHigh) {
		image.line(f.x(v), f.top, f.x(v), f.bottom, faint, "")
		image.text(f.x(v), f.bottom+14, "middle", tenths(v))
	}
	image.text((f.left+f.right)/2, f.bottom+30, "middle", "cosine to the sub-query")
	threshold := f.x(core.CoverageThreshold)
	image.line(threshold, f.top-4, threshold, f.bottom, ink, "4 3")
	mark := func(x, y float64, chosen bool) {
		if chosen {
			image.printf(`<circle cx="%.1f" cy="%.1f" r="5" fill="%s"/>`, x, y, blue)
		} else {
			image.printf(`<rect x="%.1f" y="%.1f" width="9" height="9" fill="none" stroke="%s" stroke-width="1.8" transform="rotate(45 %.1f %.1f)"/>`, x-4.5, y-4.5, orange, x, y)
		}
	}
	mark(f.left+6, 9, true)
	image.text(f.left+18, 13, "start", "nearest selected passage")
	mark(f.left+186, 9, false)
	image.text(f.left+198, 13, "start", "nearest candidate")
	image.text(threshold, 31, "middle", fmt.Sprintf("covered beyond %.2g", core.CoverageThreshold))
	for i, s := range d.SubQueries {
		y := f.top + step*float64(i)
		name := s.Text
		if s.Drifted {
			name = "(drifted) " + name
		}
		image.text(f.left, y+12, "start", shorten(name, 58))
		image.line(f.x(s.Chosen), y+21, f.x(s.Nearest), y+21, grey, "")
		mark(f.x(s.Nearest), y+21, false)
		mark(f.x(s.Chosen), y+21, true)
	}
	return image.String("How near the best candidate and the best selected passage are to each sub-query")
}
