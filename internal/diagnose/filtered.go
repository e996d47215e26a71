package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/georag/georag/core"
)

// Filtered tells what the filter of the candidates does, over all queries. What it does to the gold passages is not
// known here, since a sample of questions names none; `georag eval` measures it.
type Filtered struct {
	Name        string       `json:"name"`
	Looked      float64      `json:"looked"`      // mean number of candidates it looks at
	Kept        Distribution `json:"kept"`        // over queries, share of those that stay
	Saved       float64      `json:"saved"`       // mean number that stay only because a sub-query needs them
	Communities float64      `json:"communities"` // mean number of communities, or clusters, among them
	// Notes counts the queries where it told nothing apart, by what it says.
	Notes map[string]int `json:"notes"`
}

// filterRecord is what the filter did on one query.
type filterRecord struct {
	Looked      int    `json:"looked"`
	Kept        int    `json:"kept"`
	Saved       int    `json:"saved,omitempty"`
	Communities int    `json:"communities"`
	Note        string `json:"note,omitempty"`
}

// filterRecord is nil where no filter ran.
func (e *examination) filterRecord() *filterRecord {
	f := e.selection.Trace.Filter
	if f == nil {
		return nil
	}
	r := &filterRecord{Looked: len(f.Looked), Saved: len(f.Saved), Note: f.Note}
	for _, look := range f.Looked {
		if look.Kept {
			r.Kept++
		}
		if look.Community != nil {
			r.Communities = max(r.Communities, *look.Community+1)
		}
	}
	return r
}

// filtered sums up the filter's work under its name; nil where none ran.
func filtered(name string, answered []record) *Filtered {
	ran := filter(answered, func(r record) bool { return r.Filter != nil })
	if len(ran) == 0 {
		return nil
	}
	f := &Filtered{Name: name, Notes: map[string]int{}}
	for _, r := range ran {
		n := float64(len(ran))
		f.Looked += float64(r.Filter.Looked) / n
		f.Saved += float64(r.Filter.Saved) / n
		f.Communities += float64(r.Filter.Communities) / n
		if r.Filter.Note != "" {
			f.Notes[r.Filter.Note]++
		}
	}
	f.Kept = distributeIn(shareBins, column(ran, func(r record) float64 { return float64(r.Filter.Kept) / float64(max(1, r.Filter.Looked)) }), 0, 1)
	return f
}

// section lays out the figures.
func (f *Filtered) section() section {
	s := section{"Filter " + f.Name, figureHeader, [][]string{
		{"candidates it looks at, per query", fmt.Sprintf("%.1f", f.Looked)},
		{"share of them that stays: mean", percent1(f.Kept.Mean)},
		{"share of them that stays: 5%, median, 95%", percent1(f.Kept.P5) + ", " + percent1(f.Kept.Median) + ", " + percent1(f.Kept.P95)},
		{"kept only because a sub-query needs them, per query", fmt.Sprintf("%.1f", f.Saved)},
		{"communities, per query", fmt.Sprintf("%.1f", f.Communities)},
	}}
	for _, note := range sortedKeys(f.Notes) {
		s.Rows = append(s.Rows, []string{"queries: " + note, fmt.Sprint(f.Notes[note])})
	}
	s.Rows = append(s.Rows, []string{"gold passages that stay", "n/a: diagnosis knows no gold; georag eval measures it"})
	return s
}

func sortedKeys(counts map[string]int) []string {
	keys := make([]string, 0, len(counts))
	for key := range counts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// DetailFilter is how the filter saw the featured query's candidates, nearest first.
type DetailFilter struct {
	Name  string         `json:"name"`
	Eta   float64        `json:"eta,omitempty"` // the longest edge that keeps a candidate (ricci)
	Note  string         `json:"note,omitempty"`
	Looks []FilteredLook `json:"looked"`
}

// FilteredLook is how the filter saw one candidate.
type FilteredLook struct {
	core.FilterLook
	Title string `json:"title,omitempty"`
	Saved bool   `json:"saved,omitempty"` // stays only because a sub-query needs it
}

// filter explains the filter of the featured query; nil where none could be applied.
func (e *examination) filter() *DetailFilter {
	f := e.selection.Trace.Filter
	if f == nil || len(f.Looked) == 0 || f.Looked[0].Length == nil {
		return nil
	}
	titles := map[core.ID]string{}
	for _, c := range e.competed {
		titles[c.ID] = c.PayloadTitle()
	}
	d := &DetailFilter{Name: f.Name, Eta: f.Eta, Note: f.Note}
	for _, look := range f.Looked {
		d.Looks = append(d.Looks, FilteredLook{look, titles[look.ID], slices.Contains(f.Saved, look.ID)})
	}
	return d
}

// section lists the candidates.
func (f *DetailFilter) section() section {
	s := section{"What filter " + f.Name + " saw, nearest first: " + f.measure(), []string{"passage", "length", "community", ""}, nil}
	for _, look := range f.Looks {
		s.Rows = append(s.Rows, []string{look.name(), fmt.Sprintf("%.3f", *look.Length), fmt.Sprint(*look.Community), look.verdict()})
	}
	return s
}

// measure names the length that the filter goes by.
func (f *DetailFilter) measure() string {
	if f.Name == core.FilterRicci {
		return "final length of the edge to the question"
	}
	return "distance to the question's cluster"
}

func (l FilteredLook) name() string { return cmp.Or(l.Title, l.ID.String()) }

func (l FilteredLook) verdict() string {
	switch {
	case l.Saved:
		return "kept for a sub-query"
	case l.Kept:
		return "kept"
	}
	return "dropped"
}
