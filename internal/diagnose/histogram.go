package diagnose

import (
	"fmt"
	"math"
)

// series is one distribution of a histogram.
type series struct {
	name, colour, dash string
	of                 Distribution
}

// histogram draws distributions over the same bins as outlines, with their means in the legend. The x axis spans the
// bins that hold anything.
func histogram(label, xName string, show func(float64) string, all []series) string {
	first, last, top := span(all)
	step := (all[0].of.High - all[0].of.Low) / float64(len(all[0].of.Bins))
	d := &drawing{height: 250 + 15*float64(len(all))}
	f := frame{
		left: 48, top: 10 + 15*float64(len(all)), right: chartWidth - 20, bottom: d.height - 40,
		xLow: all[0].of.Low + float64(first)*step, xHigh: all[0].of.Low + float64(last+1)*step, yHigh: top * 1.05,
	}
	f.axes(d, xName, "share of the queries", show, asPercent)
	for i, s := range all {
		y := 12 + 15*float64(i)
		d.printf(`<line x1="%g" y1="%g" x2="%g" y2="%g" stroke="%s" stroke-width="2.5" stroke-dasharray="%s"/>`, f.left, y-4, f.left+28, y-4, s.colour, s.dash)
		d.text(f.left+34, y, "start", fmt.Sprintf("%s (mean %.2f)", s.name, s.of.Mean))
		path := fmt.Sprintf("M%.1f %.1f", f.x(f.xLow), f.y(0))
		for bin := first; bin <= last; bin++ {
			height := f.y(float64(s.of.Bins[bin]) / float64(max(1, s.of.Count)))
			low := s.of.Low + float64(bin)*step
			path += fmt.Sprintf("V%.1fH%.1f", height, f.x(low+step))
		}
		path += fmt.Sprintf("V%.1f", f.y(0))
		d.printf(`<path d="%s" fill="%s" fill-opacity="0.07" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>`, path, s.colour, s.colour, s.dash)
	}
	return d.String(label)
}

// span returns the first and last bin that hold anything and the largest share in one.
func span(all []series) (first, last int, top float64) {
	first, last, top = math.MaxInt, 0, 0.01
	for _, s := range all {
		for bin, n := range s.of.Bins {
			if n > 0 {
				first, last = min(first, bin), max(last, bin)
				top = max(top, float64(n)/float64(s.of.Count))
			}
		}
	}
	if last < first {
		return 0, len(all[0].of.Bins) - 1, top
	}
	return first, last, top
}
