package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/measure"
	"github.com/georag/georag/core/vec"
	"github.com/georag/georag/internal/plane"
)

// Detail shows one query: where its candidates, sub-queries and chosen passages lie, and where the demand is.
type Detail struct {
	ID   string `json:"id"`
	Text string `json:"text,omitempty"`
	// Points lie in the plane of the first two principal components of the candidates, sub-queries and question.
	Points []Point `json:"points"`
	// Explained is the share of the variance along each of the two axes.
	Explained  [2]float64     `json:"explained"`
	Picks      []Pick         `json:"picks"`   // in selection order
	Nearest    []Pick         `json:"nearest"` // what the nearest k would have been
	SubQueries []DetailClause `json:"subqueries"`
	Filter     *DetailFilter  `json:"filter,omitempty"` // where one ran
}

// PointKind says what a point stands for.
type PointKind string

const (
	PointCandidate PointKind = "candidate"
	PointSubQuery  PointKind = "sub-query"
	PointQuestion  PointKind = "question"
)

// Point is one vector in the plane.
type Point struct {
	Kind   PointKind `json:"kind"`
	X      float64   `json:"x"`
	Y      float64   `json:"y"`
	Name   string    `json:"name"`
	Demand float64   `json:"demand,omitempty"` // share of the question's demand at a candidate
	Step   int       `json:"step,omitempty"`   // from 1, where a candidate was chosen
	Near   int       `json:"near,omitempty"`   // from 1, where it is among the k nearest
}

// Pick is a passage of the answer.
type Pick struct {
	ID     core.ID `json:"id"`
	Title  string  `json:"title,omitempty"`
	Cosine float64 `json:"cosine"`
	Demand float64 `json:"demand"`
	Covers []int   `json:"covers"` // kept sub-queries, as indices of Detail.SubQueries
}

// DetailClause is one kept sub-query.
type DetailClause struct {
	Text    string  `json:"text"`
	Weight  float64 `json:"weight"`
	Drifted bool    `json:"drifted,omitempty"`
	Nearest float64 `json:"nearest"` // cosine of the nearest candidate
	Chosen  float64 `json:"chosen"`  // cosine of the nearest chosen passage
}

// detail looks at the featured query again; nil where there is none to show.
func (d *diagnosis) detail(ctx context.Context) (*Detail, error) {
	row := d.summary.featured(d.cfg.Featured)
	if row < 0 {
		if d.cfg.Featured != "" {
			return nil, fmt.Errorf("internal/diagnose: %w: no answered query has the id %q", core.ErrNotFound, d.cfg.Featured)
		}
		return nil, nil
	}
	q, err := d.queries.At(row)
	if err != nil {
		return nil, fmt.Errorf("internal/diagnose: query %d: %w", row+1, err)
	}
	e, err := d.examine(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("internal/diagnose: query %s: %w", q.ID, err)
	}
	return e.detail(d.cfg.Stage.Settings.K), nil
}

// featured returns the row of the named query, or of the one whose coverage selection raises most; -1 for none.
func (s *summary) featured(id string) int {
	best, most := -1, 0
	for i, r := range s.records {
		if !s.asked[i] || r.Error != "" {
			continue
		}
		if id != "" {
			if r.ID == id {
				return i
			}
			continue
		}
		if gain := r.After - r.Before; best < 0 || gain > most {
			best, most = i, gain
		}
	}
	return best
}

func (e *examination) detail(k int) *Detail {
	demand := map[core.ID]float64{}
	for _, share := range e.selection.Trace.Demand {
		demand[share.ID] = share.Share
	}
	kept := e.keptVectors()
	detail := &Detail{ID: e.query.ID, Text: e.query.Text, Filter: e.filter()}
	for _, item := range e.selection.Items {
		detail.Picks = append(detail.Picks, e.pick(item.Candidate, demand, kept))
	}
	for _, c := range e.main[:min(k, len(e.main))] {
		detail.Nearest = append(detail.Nearest, e.pick(c, demand, kept))
	}
	toAll, toChosen := measure.Cosines(kept, vectors(e.competed)), measure.Cosines(kept, e.chosen())
	for i, j := range e.kept {
		t := e.selection.Trace.SubQueries[j]
		detail.SubQueries = append(detail.SubQueries, DetailClause{
			Text: e.subQueryName(j), Weight: t.Weight, Drifted: t.Drifted, Nearest: slices.Max(toAll[i]), Chosen: slices.Max(toChosen[i]),
		})
	}
	detail.project(e, demand)
	return detail
}

func (e *examination) pick(c core.Candidate, demand map[core.ID]float64, kept [][]float32) Pick {
	p := Pick{ID: c.ID, Cosine: vec.Cosine(c.Vector, e.query.Vector), Demand: demand[c.ID], Covers: []int{}}
	p.Title = c.PayloadTitle()
	for i, q := range kept {
		if vec.Cosine(c.Vector, q) > core.CoverageThreshold {
			p.Covers = append(p.Covers, i)
		}
	}
	return p
}

// project fits the plane to all unit vectors and places them in it.
func (d *Detail) project(e *examination, demand map[core.ID]float64) {
	var rows [][]float32
	add := func(p Point, v []float32) {
		d.Points, rows = append(d.Points, p), append(rows, v)
	}
	for _, c := range e.competed {
		add(Point{
			Kind: PointCandidate, Name: cmp.Or(c.PayloadTitle(), c.ID.String()), Demand: demand[c.ID],
			Step: 1 + slices.IndexFunc(d.Picks, func(p Pick) bool { return p.ID == c.ID }),
			Near: 1 + slices.IndexFunc(d.Nearest, func(p Pick) bool { return p.ID == c.ID }),
		}, c.Vector)
	}
	for i, q := range e.keptVectors() {
		add(Point{Kind: PointSubQuery, Name: d.SubQueries[i].Text}, q)
	}
	add(Point{Kind: PointQuestion, Name: cmp.Or(e.query.Text, e.query.ID)}, e.query.Vector)

	points, explained, ok := plane.Fit(rows, e.dim)
	if !ok {
		d.Points = nil // too few points span no plane
		return
	}
	d.Explained = explained
	for i := range d.Points {
		d.Points[i].X, d.Points[i].Y = points[i][0], points[i][1]
	}
}
