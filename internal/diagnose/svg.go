package diagnose

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// The charts are drawn for a phone: 360 units wide with letters of 11, and enlarged on a wider screen.
const (
	chartWidth = 360.0
	letters    = 11.0
)

// Colours are of Okabe and Ito's set, which colour-blind people can tell apart; shapes and dashes differ too.
const (
	blue   = "#0072B2"
	orange = "#D55E00"
	green  = "#009E73"
	grey   = "#8a8a8a"
	ink    = "#1f2328"
	faint  = "#d8dbe0"
)

// drawing is an SVG image being drawn.
type drawing struct {
	body   strings.Builder
	height float64
}

func (d *drawing) printf(format string, values ...any) { fmt.Fprintf(&d.body, format+"\n", values...) }

// text writes words at a point; anchor is start, middle or end.
func (d *drawing) text(x, y float64, anchor, words string) {
	d.printf(`<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, html.EscapeString(words))
}

// line draws a line; dash is "" for a solid one.
func (d *drawing) line(x1, y1, x2, y2 float64, colour, dash string) {
	d.printf(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-dasharray="%s"/>`, x1, y1, x2, y2, colour, dash)
}

// String is the image; label tells a screen reader what it shows.
func (d *drawing) String(label string) string {
	return fmt.Sprintf(`<svg viewBox="0 0 %g %.0f" role="img" aria-label="%s" font-size="%g" fill="%s">`, chartWidth, d.height, html.EscapeString(label), letters, ink) +
		"\n" + d.body.String() + "</svg>"
}

// frame maps values to the rectangle of a plot.
type frame struct {
	left, top, right, bottom float64
	xLow, xHigh, yLow, yHigh float64
}

func (f frame) x(v float64) float64 { return f.left + (v-f.xLow)/(f.xHigh-f.xLow)*(f.right-f.left) }
func (f frame) y(v float64) float64 {
	return f.bottom - (v-f.yLow)/(f.yHigh-f.yLow)*(f.bottom-f.top)
}

// axes draws grid lines, numbers and names; show formats a number of each axis.
func (f frame) axes(d *drawing, xName, yName string, showX, showY func(float64) string) {
	for _, v := range ticks(f.xLow, f.xHigh) {
		d.line(f.x(v), f.top, f.x(v), f.bottom, faint, "")
		d.text(f.x(v), f.bottom+14, "middle", showX(v))
	}
	for _, v := range ticks(f.yLow, f.yHigh) {
		d.line(f.left, f.y(v), f.right, f.y(v), faint, "")
		d.text(f.left-5, f.y(v)+4, "end", showY(v))
	}
	d.line(f.left, f.bottom, f.right, f.bottom, ink, "")
	d.line(f.left, f.top, f.left, f.bottom, ink, "")
	d.text((f.left+f.right)/2, f.bottom+30, "middle", xName)
	d.printf(`<text transform="translate(11 %.1f) rotate(-90)" text-anchor="middle">%s</text>`, (f.top+f.bottom)/2, html.EscapeString(yName))
}

// ticks returns about five round numbers from low to high.
func ticks(low, high float64) []float64 {
	raw := (high - low) / 5
	if !(raw > 0) {
		return []float64{low}
	}
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if step*factor >= raw {
			step *= factor
			break
		}
	}
	var values []float64
	for i := math.Ceil(low/step - 1e-9); i*step <= high+step*1e-9; i++ {
		values = append(values, i*step+0) // + 0 turns −0 into 0
	}
	return values
}

func asPercent(v float64) string  { return fmt.Sprintf("%.0f%%", 100*v) }
func tenths(v float64) string     { return fmt.Sprintf("%.1f", v) }
func hundredths(v float64) string { return fmt.Sprintf("%.2f", v) }

// shorten cuts words to at most n letters.
func shorten(words string, n int) string {
	runes := []rune(words)
	if len(runes) <= n {
		return words
	}
	return strings.TrimSpace(string(runes[:n-1])) + "…"
}
