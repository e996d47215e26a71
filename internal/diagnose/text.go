package diagnose

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// tableWidth is how wide a column of running text may become on a terminal.
const tableWidth = 90

// WriteText writes the report as tables for a terminal, advice first.
func (r *Report) WriteText(out io.Writer) error {
	w := &writer{out: out}
	w.printf("%d queries, preset %s, selector %s, pool %s\n\n", r.Queries, r.Settings.Preset, r.Settings.Selector, r.Settings.Pool)
	for _, a := range r.Advice {
		for line := range strings.Lines(text.WrapSoft(fmt.Sprintf("%s: %s", a.Level, a.Text), tableWidth+20)) {
			w.printf("%s\n", strings.TrimSpace(line))
		}
	}
	if len(r.Advice) == 0 {
		w.printf("Nothing to remark.\n")
	}
	for _, s := range r.sections() {
		w.printf("\n%s\n%s\n", s.Title, s.render())
	}
	if d := r.Detail; d != nil && d.Filter != nil {
		s := d.Filter.section()
		w.printf("\n%s: %s\n%s\n", s.Title, cmp.Or(d.Text, d.ID), s.render())
	}
	return w.err
}

func (s section) render() string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.Options{SeparateHeader: true}
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(row(s.Header))
	for _, cells := range s.Rows {
		t.AppendRow(row(cells))
	}
	columns := make([]table.ColumnConfig, len(s.Header))
	for i := range columns {
		columns[i] = table.ColumnConfig{Number: i + 1, WidthMax: tableWidth}
	}
	t.SetColumnConfigs(columns)
	return t.Render()
}

func row(cells []string) table.Row {
	r := make(table.Row, len(cells))
	for i, cell := range cells {
		r[i] = cell
	}
	return r
}

// writer remembers the first error.
type writer struct {
	out io.Writer
	err error
}

func (w *writer) printf(format string, values ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.out, format, values...)
	}
}
