package diagnose

import (
	"context"
	"fmt"
	"strconv"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/measure"
	"github.com/georag/georag/core/vec"
)

// record holds the figures of one query; a line of the state file.
type record struct {
	Row      int      `json:"row"`
	ID       string   `json:"id"`
	Error    string   `json:"error,omitempty"` // then nothing below is set
	Degraded []string `json:"degraded,omitempty"`

	TopK       float64     `json:"top_k"` // mean pairwise cosines
	Candidates float64     `json:"candidates"`
	Selected   float64     `json:"selected"`
	Groups     [][]core.ID `json:"groups,omitempty"` // near-duplicates among the candidates
	Redundant  float64     `json:"redundant"`
	Twins      bool        `json:"twins,omitempty"` // near-duplicates among the k nearest
	Crowded    bool        `json:"crowded,omitempty"`

	Written      int     `json:"written"`
	Kept         int     `json:"kept"`
	Drifted      int     `json:"drifted"`
	Overlap      float64 `json:"overlap"`
	Novelty      float64 `json:"novelty"`
	CosineBefore float64 `json:"cosine_before"`
	CosineAfter  float64 `json:"cosine_after"`

	Before    int      `json:"before"` // covered sub-queries
	After     int      `json:"after"`
	Ceiling   int      `json:"ceiling"`
	Best      float64  `json:"best"`
	Text      string   `json:"text,omitempty"`      // of a starved query
	Uncovered []string `json:"uncovered,omitempty"` // of a starved query

	Filter *filterRecord `json:"filter,omitempty"`

	Nearest []core.ID `json:"nearest"` // the first hubDepth; of a query searched exactly, all of them
}

// starved reports whether no candidate is near the question or any of its sub-queries.
func (r record) starved() bool {
	return r.Kept > 0 && r.Ceiling == 0 && r.Best <= core.CoverageThreshold
}

// hubDepth is how many of the nearest passages count towards hubs.
const hubDepth = 10

// examination is one query being looked at.
type examination struct {
	query      Query
	selection  core.Selection
	main       []core.Candidate // with usable vectors, in the store's order
	competed   []core.Candidate // main, and what else competed
	subQueries [][]float32      // all usable vectors
	kept       []int            // positions in the trace, ascending
	dim        int
}

// examine selects for one query and looks at what happened.
func (d *diagnosis) examine(ctx context.Context, q Query) (examination, error) {
	if err := d.complete(ctx, &q); err != nil {
		return examination{}, err
	}
	selection, err := d.stage.Select(ctx, q.Query)
	if err != nil {
		return examination{}, err
	}
	e := examination{query: q, selection: selection, dim: len(q.Vector)}
	e.main = e.usable(d.watch.Found.Candidates)
	e.competed = e.usable(d.watch.Competed(d.cfg.Stage.Settings.Pool))
	for j, s := range selection.Trace.SubQueries {
		if s.Kept {
			e.kept = append(e.kept, j)
		}
	}
	for _, s := range q.SubQueries {
		if vec.Check(s.Vector, e.dim) == nil {
			e.subQueries = append(e.subQueries, s.Vector)
		}
	}
	return e, nil
}

// complete writes and embeds what the query does not bring, so that its vectors are known here too.
func (d *diagnosis) complete(ctx context.Context, q *Query) error {
	planner := d.stage.Planner
	if q.SubQueries == nil && q.Text != "" && planner.Writer != nil {
		written, err := planner.Writer.WriteSubQueries(ctx, q.Text, d.stage.Settings.SubQueries.Write)
		if err != nil {
			return fmt.Errorf("write sub-queries: %w", err)
		}
		for _, text := range written.Texts {
			q.SubQueries = append(q.SubQueries, core.SubQuery{Text: text})
		}
	}
	if planner.Embedder == nil {
		return nil
	}
	q.SubQueries = append([]core.SubQuery(nil), q.SubQueries...)
	var texts []string
	var targets []*[]float32
	add := func(text string, target *[]float32) {
		if *target == nil && text != "" {
			texts, targets = append(texts, text), append(targets, target)
		}
	}
	add(q.Text, &q.Vector)
	for j := range q.SubQueries {
		add(q.SubQueries[j].Text, &q.SubQueries[j].Vector)
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := planner.Embedder.EmbedQueries(ctx, texts)
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("%w: %d vectors for %d texts", core.ErrUnavailable, len(vectors), len(texts))
	}
	if err != nil {
		return fmt.Errorf("embed: %w", err)
	}
	for i, target := range targets {
		*target = vectors[i]
	}
	return nil
}

func (e *examination) usable(candidates []core.Candidate) []core.Candidate {
	kept := make([]core.Candidate, 0, len(candidates))
	for _, c := range candidates {
		if vec.Check(c.Vector, e.dim) == nil {
			kept = append(kept, c)
		}
	}
	return kept
}

// record works out the figures. wide keeps all IDs of the main search.
func (e *examination) record(row, k int, wide bool) record {
	r := record{Row: row, ID: e.query.ID}
	for _, reason := range e.selection.Trace.Degraded {
		r.Degraded = append(r.Degraded, string(reason.Code))
	}
	e.redundancy(&r, k)
	e.health(&r)
	e.coverage(&r, k)
	r.Filter = e.filterRecord()
	depth := min(hubDepth, len(e.main))
	if wide {
		depth = len(e.main)
	}
	for _, c := range e.main[:depth] {
		r.Nearest = append(r.Nearest, c.ID)
	}
	return r
}

func (e *examination) redundancy(r *record, k int) {
	n := len(e.main)
	cosines := measure.Cosines(vectors(e.main), vectors(e.main))
	top := cosines[:min(k, n)]
	r.TopK, r.Candidates = measure.Redundancy(top), measure.Redundancy(cosines)
	r.Twins = len(measure.NearDuplicates(top, measure.DuplicateThreshold)) > 0
	for _, group := range measure.NearDuplicates(cosines, measure.DuplicateThreshold) {
		ids := make([]core.ID, len(group))
		for i, member := range group {
			ids[i] = e.main[member].ID
		}
		r.Groups = append(r.Groups, ids)
		r.Redundant += float64(len(group)-1) / float64(n)
	}
	clusters := measure.NearDuplicates(top, CrowdingThreshold)
	r.Crowded = len(top) > 1 && len(clusters) == 1 && len(clusters[0]) == len(top)
	chosen := e.chosen()
	r.Selected = measure.Redundancy(measure.Cosines(chosen, chosen))
}

func (e *examination) chosen() [][]float32 {
	chosen := make([][]float32, len(e.selection.Items))
	for i, item := range e.selection.Items {
		chosen[i] = item.Vector
	}
	return chosen
}

func vectors(candidates []core.Candidate) [][]float32 {
	rows := make([][]float32, len(candidates))
	for i, c := range candidates {
		rows[i] = c.Vector
	}
	return rows
}

// health looks at the sub-queries.
func (e *examination) health(r *record) {
	r.Written, r.Kept = len(e.query.SubQueries), len(e.kept)
	for _, j := range e.kept {
		s := e.selection.Trace.SubQueries[j]
		r.Overlap += s.Overlap / float64(r.Kept)
		r.Novelty += s.Novelty / float64(r.Kept)
		if s.Drifted {
			r.Drifted++
		}
	}
	kept := e.keptVectors()
	r.CosineBefore = measure.Redundancy(measure.Cosines(e.subQueries, e.subQueries))
	r.CosineAfter = measure.Redundancy(measure.Cosines(kept, kept))
}

func (e *examination) keptVectors() [][]float32 {
	kept := make([][]float32, len(e.kept))
	for i, j := range e.kept {
		kept[i] = e.query.SubQueries[j].Vector
	}
	return kept
}

// coverage tells recall problems from selection problems.
func (e *examination) coverage(r *record, k int) {
	kept := e.keptVectors()
	before := measure.Covered(measure.Cosines(kept, vectors(e.main[:min(k, len(e.main))])))
	after := measure.Covered(measure.Cosines(kept, e.chosen()))
	ceiling := measure.Covered(measure.Cosines(kept, vectors(e.competed)))
	r.Before, r.After, r.Ceiling = count(before), count(after), count(ceiling)
	for _, c := range e.competed {
		r.Best = max(r.Best, vec.Cosine(c.Vector, e.query.Vector))
	}
	if !r.starved() {
		return
	}
	r.Text = e.query.Text
	for i, j := range e.kept {
		if !ceiling[i] {
			r.Uncovered = append(r.Uncovered, e.subQueryName(j))
		}
	}
}

// subQueryName is the sub-query's text, or its number from 1 where it has none.
func (e *examination) subQueryName(j int) string {
	if text := e.query.SubQueries[j].Text; text != "" {
		return text
	}
	return "sub-query " + strconv.Itoa(j+1)
}

func count(flags []bool) (n int) {
	for _, flag := range flags {
		if flag {
			n++
		}
	}
	return n
}
