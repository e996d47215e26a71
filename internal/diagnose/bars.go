package diagnose

import (
	"fmt"
	"html"
)

// bar is one named value.
type bar struct {
	name, colour string
	value        float64
	hollow       bool // drawn as an outline
}

// bars is a chart of horizontal bars from 0, the name above each.
type bars struct {
	entries []bar
	axis    string
	tick    func(float64) string // writes a number of the axis
	show    func(float64) string // writes the value of a bar
	legend  []bar                // name and colour
	// limit, where it is not 0, is marked by a dashed line with its own words.
	limit      float64
	limitWords string
}

// draw makes the image; label tells a screen reader what it shows.
func (b bars) draw(label string) string {
	const step, line = 28.0, 18.0
	head := line*float64((len(b.legend)+1)/2) + 8
	if b.limit > 0 {
		head += line
	}
	image := &drawing{height: head + 40 + step*float64(len(b.entries))}
	f := frame{left: 12, top: head, right: chartWidth - 46, bottom: image.height - 38, xHigh: max(b.limit, 1e-9)}
	for _, e := range b.entries {
		f.xHigh = max(f.xHigh, e.value)
	}
	for _, v := range ticks(0, f.xHigh) {
		image.line(f.x(v), f.top, f.x(v), f.bottom, faint, "")
		image.text(f.x(v), f.bottom+14, "middle", b.tick(v))
	}
	image.line(f.left, f.bottom, f.right, f.bottom, ink, "")
	image.text((f.left+f.right)/2, f.bottom+30, "middle", b.axis)
	for i, entry := range b.legend {
		x, y := f.left+165*float64(i%2), 4+line*float64(i/2)
		entry.rect(image, x, y, 12, 10)
		image.text(x+18, y+9, "start", entry.name)
	}
	row := func(i int) float64 { return f.top + step*float64(i) }
	for i, e := range b.entries {
		e.rect(image, f.left, row(i)+17, max(0.8, f.x(e.value)-f.left), 7)
	}
	if b.limit > 0 {
		x := f.x(b.limit)
		image.line(x, f.top-4, x, f.bottom, ink, "4 3")
		image.text(min(x, chartWidth-4-3*float64(len(b.limitWords))), f.top-8, "middle", b.limitWords)
	}
	// Words lie above bars and lines, on a white rim.
	for i, e := range b.entries {
		image.text(f.left, row(i)+13, "start", shorten(e.name, 52))
		image.text(f.x(e.value)+5, row(i)+25, "start", b.show(e.value))
	}
	return image.String(label)
}

func (e bar) rect(image *drawing, x, y, width, height float64) {
	fill := e.colour
	if e.hollow {
		fill = "#fff"
	}
	image.printf(`<rect x="%g" y="%.1f" width="%.1f" height="%g" fill="%s" stroke="%s"><title>%s</title></rect>`,
		x, y, width, height, fill, e.colour, html.EscapeString(e.name))
}

// communityColours are of Okabe and Ito's set; the question's own community comes first, and communities of a single
// candidate share grey. Numbers beside the names tell what colours cannot.
var communityColours = []string{blue, "#E69F00", green, "#CC79A7", "#56B4E9", orange}

// bars draws what the filter went by: the candidates' lengths, coloured by community, dropped ones as outlines.
func (f *DetailFilter) bars() string {
	size := map[int]int{}
	for _, look := range f.Looks {
		size[*look.Community]++
	}
	b := bars{axis: f.measure(), tick: tenths, show: hundredths, legend: []bar{{name: "question's community", colour: blue}}}
	if f.Eta > 0 {
		b.limit, b.limitWords = f.Eta, fmt.Sprintf("η = %g: kept to here", f.Eta)
	}
	colours, alone := map[int]string{0: blue}, false
	for _, look := range f.Looks {
		community, colour := *look.Community, grey
		if known, ok := colours[community]; ok {
			colour = known
		} else if size[community] > 1 && len(colours) < len(communityColours) {
			colour = communityColours[len(colours)]
			colours[community] = colour
			b.legend = append(b.legend, bar{name: fmt.Sprintf("community %d", community), colour: colour})
		} else {
			alone = true
		}
		words := fmt.Sprintf("%d. ", community)
		if look.Saved {
			words += "(kept for a sub-query) "
		}
		b.entries = append(b.entries, bar{name: words + look.name(), colour: colour, value: *look.Length, hollow: !look.Kept})
	}
	if alone {
		b.legend = append(b.legend, bar{name: "other communities, by number", colour: grey})
	}
	b.legend = append(b.legend, bar{name: "dropped", colour: ink, hollow: true})
	return b.draw("How filter " + f.Name + " saw each candidate of one question")
}
