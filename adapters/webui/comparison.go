package webui

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
	"github.com/georag/georag/internal/plane"
)

// Comparison is what the page shows of one question.
type Comparison struct {
	Question   string          `json:"question"`
	Collection string          `json:"collection"`
	Preset     string          `json:"preset"`
	Selector   string          `json:"selector"`
	Mode       string          `json:"mode"` // the computation that ran, which a fallback can change
	Models     core.ModelNames `json:"models"`
	Candidates int             `json:"candidates"`
	Outside    int             `json:"outside"`
	Objective  float64         `json:"demand_objective"`
	Nearest    []Passage       `json:"nearest"`  // by cosine, the nearest first
	Selected   []Passage       `json:"selected"` // in selection order
	SubQueries []SubQuery      `json:"subqueries"`
	Steps      []Step          `json:"steps"`
	Demand     []Share         `json:"demand"` // largest first
	Plane      *Plane          `json:"plane"`  // null where too few points span one
	Degraded   []core.Reason   `json:"degraded"`
	Timings    core.Timings    `json:"timings"`
}

// Passage is one of either list.
type Passage struct {
	ID     string  `json:"id"`
	Title  string  `json:"title"`
	Text   string  `json:"text"`
	Cut    bool    `json:"cut,omitempty"` // the text goes on
	Cosine float64 `json:"cosine"`
	Demand float64 `json:"demand"` // its share
	Covers []int   `json:"covers"` // sub-queries by position
	Both   bool    `json:"both"`   // it is in the other list too
}

// SubQuery is one part of the question and the places, from 1, of the passages that cover it.
type SubQuery struct {
	core.SubQueryTrace
	Nearest  []int `json:"nearest"`
	Selected []int `json:"selected"`
}

// Step is one step of the selection.
type Step struct {
	core.StepTrace
	Title         string `json:"title"`
	RunnerUpTitle string `json:"runner_up_title"`
}

// Share is the demand at one candidate.
type Share struct {
	ID    string  `json:"id"`
	Title string  `json:"title"`
	Share float64 `json:"share"`
	Place int     `json:"place"` // from 1, where it is selected
}

// Plane is a flat picture of the vectors.
type Plane struct {
	Points []Point `json:"points"`
	// Explained is the share of the variance along each of the two axes.
	Explained [2]float64 `json:"explained"`
}

// Point is one vector in the plane.
type Point struct {
	Kind   string  `json:"kind"` // candidate, sub-query or question
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Name   string  `json:"name"`
	Demand float64 `json:"demand,omitempty"`
	Place  int     `json:"place,omitempty"` // from 1, where it is selected
	Near   int     `json:"near,omitempty"`  // from 1, where it is among the nearest
}

// What is shown at most, so that the page stays small whatever the index holds.
const (
	shownText   = 4 << 10 // bytes of a passage
	shownDemand = 12
	shownPoints = 300
)

func (s *sight) comparison(collection string) Comparison {
	t := s.selection.Trace
	c := Comparison{
		Question: s.query.Text, Collection: collection, Preset: t.Preset, Selector: t.Selector, Mode: t.Mode, Models: t.Models,
		Candidates: t.Candidates, Outside: t.Outside, Objective: t.Objective, Degraded: t.Degraded, Timings: s.selection.Timings,
		Nearest: []Passage{}, Selected: []Passage{}, SubQueries: []SubQuery{}, Steps: []Step{},
	}
	for _, item := range s.selection.Items {
		c.Selected = append(c.Selected, s.passage(item.Candidate, item.Cosine, item.Covers, place(s.nearest, item.ID) > 0))
	}
	for _, near := range s.nearest {
		c.Nearest = append(c.Nearest, s.passage(near, vec.Cosine(near.Vector, s.question), s.covers(near), s.place(near.ID) > 0))
	}
	for j, q := range t.SubQueries {
		c.SubQueries = append(c.SubQueries, SubQuery{q, covering(c.Nearest, j), covering(c.Selected, j)})
	}
	titles := s.titles()
	for _, step := range t.Steps {
		c.Steps = append(c.Steps, Step{step, titles[step.ID], titles[step.RunnerUp]})
	}
	c.Demand, c.Plane = s.shares(titles), s.plane()
	return c
}

func (s *sight) passage(c core.Candidate, cosine float64, covers []int, both bool) Passage {
	p := Passage{ID: c.ID.String(), Title: c.PayloadTitle(), Cosine: cosine, Demand: s.demand[c.ID], Covers: covers, Both: both}
	p.Text, p.Cut = cut(c.PayloadBody())
	return p
}

// cut shortens a text at the end of a letter.
func cut(text string) (string, bool) {
	if len(text) <= shownText {
		return text, false
	}
	end := shownText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end], true
}

// covering lists the places, from 1, of the passages that cover sub-query j.
func covering(passages []Passage, j int) []int {
	places := []int{}
	for i, p := range passages {
		if slices.Contains(p.Covers, j) {
			places = append(places, i+1)
		}
	}
	return places
}

// place is where, from 1, an ID stands among candidates; 0 where it does not.
func place(among []core.Candidate, id core.ID) int {
	return 1 + slices.IndexFunc(among, func(c core.Candidate) bool { return c.ID == id })
}

// place is where, from 1, an ID stands among the selected.
func (s *sight) place(id core.ID) int {
	return 1 + slices.IndexFunc(s.selection.Items, func(i core.Selected) bool { return i.ID == id })
}

// titles names every candidate.
func (s *sight) titles() map[core.ID]string {
	titles := map[core.ID]string{}
	for _, c := range s.competed {
		titles[c.ID] = cmp.Or(c.PayloadTitle(), c.ID.String())
	}
	return titles
}

// shares lists the largest shares of the demand, and those of the selected passages.
func (s *sight) shares(titles map[core.ID]string) []Share {
	sorted := slices.Clone(s.selection.Trace.Demand)
	slices.SortStableFunc(sorted, func(a, b core.DemandShare) int { return cmp.Compare(b.Share, a.Share) })
	shown := []Share{}
	for i, d := range sorted {
		if at := s.place(d.ID); i < shownDemand || at > 0 {
			shown = append(shown, Share{d.ID.String(), titles[d.ID], d.Share, at})
		}
	}
	return shown
}

// plane places candidates, sub-queries and the question; nil where too few span a plane.
func (s *sight) plane() *Plane {
	var picture Plane
	var vectors [][]float32
	add := func(p Point, v []float32) {
		picture.Points, vectors = append(picture.Points, p), append(vectors, v)
	}
	for _, c := range s.shownCandidates() {
		add(Point{Kind: "candidate", Name: cmp.Or(c.PayloadTitle(), c.ID.String()), Demand: s.demand[c.ID], Place: s.place(c.ID), Near: place(s.nearest, c.ID)}, c.Vector)
	}
	for _, q := range s.kept {
		add(Point{Kind: "sub-query", Name: s.selection.Trace.SubQueries[q.at].Text}, q.vector)
	}
	add(Point{Kind: "question", Name: s.query.Text}, s.question)
	points, explained, ok := plane.Fit(vectors, len(s.question))
	if !ok {
		return nil
	}
	picture.Explained = explained
	for i, at := range points {
		picture.Points[i].X, picture.Points[i].Y = at[0], at[1]
	}
	return &picture
}

// shownCandidates are those of either list, and of the others the ones with the largest shares of the demand.
func (s *sight) shownCandidates() []core.Candidate {
	listed := func(c core.Candidate) int {
		if s.place(c.ID) > 0 || place(s.nearest, c.ID) > 0 {
			return 0
		}
		return 1
	}
	all := slices.Clone(s.competed)
	slices.SortFunc(all, func(a, b core.Candidate) int {
		return cmp.Or(listed(a)-listed(b), cmp.Compare(s.demand[b.ID], s.demand[a.ID]), core.CompareID(a.ID, b.ID))
	})
	return all[:min(shownPoints, len(all))]
}
