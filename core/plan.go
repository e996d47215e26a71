package core

import (
	"context"
	"fmt"
	"slices"

	"github.com/georag/georag/core/demand"
	"github.com/georag/georag/core/vec"
)

// Planner turns a question into vectors. All fields are optional: a query that brings its vectors needs none.
type Planner struct {
	Embedder Embedder
	Writer   SubQueryWriter
	Passage  PassageWriter // for the pool "hyde"
}

// Plan is a question ready to be searched for.
type Plan struct {
	Query
	main       []float32   // what the main search looks for: the question, or a hypothetical passage
	question   []float32   // unit vector of the question
	subQueries [][]float32 // unit vectors of the kept sub-queries, length m
	kept       []int       // their positions in Query.SubQueries, length m
}

// plan writes, embeds and thins out the sub-queries. Only a question without a usable vector is an error.
func (r *selection) plan(q Query) (Plan, error) {
	defer r.clock(ArrowPlan, &r.timings.Plan)()
	plan := Plan{Query: q}
	plan.SubQueries = r.writeSubQueries(q)
	hypothetical := r.writePassage(q)
	if err := r.embed(&plan, hypothetical); err != nil {
		return plan, err
	}
	if err := vec.Check(plan.Vector, 0); err != nil {
		return plan, fmt.Errorf("core: query vector: %w", err)
	}
	plan.question = vec.Normalise(nil, plan.Vector)
	if plan.main == nil {
		plan.main = plan.Vector
	}
	r.keepSubQueries(&plan)
	return plan, nil
}

// writeSubQueries asks the writer, where the query brings none.
func (r *selection) writeSubQueries(q Query) []SubQuery {
	if q.SubQueries != nil || q.Text == "" || r.Planner.Writer == nil || r.settings.SubQueries.Write == 0 {
		return append([]SubQuery(nil), q.SubQueries...)
	}
	r.trace.Models.Writer = r.Planner.Writer.Model()
	written, err := r.Planner.Writer.WriteSubQueries(r.ctx, q.Text, r.settings.SubQueries.Write)
	switch {
	case err != nil:
		r.degrade(ReasonNoSubQueries, "writer: %v", err)
	case written.Degraded != "" && len(written.Texts) == 0:
		r.degrade(ReasonNoSubQueries, "writer: %s", written.Degraded)
	case written.Degraded != "":
		r.degrade(ReasonFewSubQueries, "writer: %s", written.Degraded)
	}
	var subQueries []SubQuery
	for _, text := range written.Texts {
		subQueries = append(subQueries, SubQuery{Text: text})
	}
	return subQueries
}

// writePassage asks for a hypothetical passage under pool "hyde"; "" is the question itself.
func (r *selection) writePassage(q Query) string {
	if r.settings.Pool.Base() != PoolHyDE {
		return ""
	}
	if r.Planner.Passage == nil || r.Planner.Embedder == nil || q.Text == "" {
		r.degrade(ReasonHyDE, "no model is configured to write and embed a hypothetical passage")
		return ""
	}
	passage, err := r.Planner.Passage.WritePassage(r.ctx, q.Text)
	if err != nil {
		r.degrade(ReasonHyDE, "hypothetical passage: %v", err)
		return ""
	}
	return passage
}

// embed fills in the missing vectors: one call for the question and all its sub-queries, and one for the
// hypothetical passage, which other models read with another prefix.
func (r *selection) embed(plan *Plan, hypothetical string) error {
	if r.Planner.Embedder == nil {
		if plan.Vector == nil {
			return fmt.Errorf("core: %w: the query has no vector and no embedder is configured", ErrInvalid)
		}
		return nil
	}
	var texts []string
	var targets []*[]float32
	add := func(text string, target *[]float32) {
		if *target == nil && text != "" {
			texts, targets = append(texts, text), append(targets, target)
		}
	}
	add(plan.Text, &plan.Vector)
	for j := range plan.SubQueries {
		add(plan.SubQueries[j].Text, &plan.SubQueries[j].Vector)
	}
	if len(texts) > 0 {
		r.trace.Models.Embedder = r.Planner.Embedder.Model()
		if err := embedInto(r.ctx, r.Planner.Embedder.EmbedQueries, texts, targets); err != nil {
			if plan.Vector == nil {
				return fmt.Errorf("core: embed the question: %w", err)
			}
			r.degrade(ReasonNoSubQueries, "embedder: %v", err)
		}
	}
	if hypothetical != "" {
		if err := embedInto(r.ctx, r.Planner.Embedder.EmbedPassages, []string{hypothetical}, []*[]float32{&plan.main}); err != nil {
			r.degrade(ReasonHyDE, "hypothetical passage: %v", err)
		}
	}
	return nil
}

func embedInto(ctx context.Context, embed func(context.Context, []string) ([][]float32, error), texts []string, targets []*[]float32) error {
	vectors, err := embed(ctx, texts)
	if err != nil {
		return err
	}
	if len(vectors) != len(texts) {
		return fmt.Errorf("core: %w: the embedder returned %d vectors for %d texts", ErrUnavailable, len(vectors), len(texts))
	}
	for i, target := range targets {
		*target = vectors[i]
	}
	return nil
}

// keepSubQueries sets aside sub-queries without a usable vector and keeps the m most dispersed of the others.
func (r *selection) keepSubQueries(plan *Plan) {
	r.trace.SubQueries = make([]SubQueryTrace, len(plan.SubQueries))
	var usable []int
	var units [][]float32
	for j, s := range plan.SubQueries {
		r.trace.SubQueries[j].Text = s.Text
		if err := vec.Check(s.Vector, len(plan.Vector)); err != nil {
			r.trace.SubQueries[j].Error = err.Error()
			r.degrade(ReasonSubQueryFailed, "sub-query %d: %v", j, err)
			continue
		}
		usable, units = append(usable, j), append(units, vec.Normalise(nil, s.Vector))
	}
	if len(usable) == 0 {
		if len(plan.SubQueries) > 0 || !r.toldWhyNone() {
			r.degrade(ReasonNoSubQueries, "no usable sub-queries: the demand is the question alone")
		}
		return
	}
	for _, u := range r.mostDispersed(plan.question, units) {
		plan.kept, plan.subQueries = append(plan.kept, usable[u]), append(plan.subQueries, units[u])
	}
}

// toldWhyNone reports whether the trace already says why there are no sub-queries.
func (r *selection) toldWhyNone() bool {
	return slices.ContainsFunc(r.trace.Degraded, func(reason Reason) bool { return reason.Code == ReasonNoSubQueries })
}

// mostDispersed applies max-min (eq. 6), where it is on, and returns the positions kept.
func (r *selection) mostDispersed(question []float32, units [][]float32) []int {
	n := len(units)
	if !r.settings.SubQueries.MaxMin {
		all := make([]int, n)
		for j := range all {
			all[j] = j
		}
		return all
	}
	toQuery, between := make([]float64, n), make([][]float64, n)
	for i, u := range units {
		toQuery[i] = vec.Dot(u, question)
		between[i] = make([]float64, n)
		for j, w := range units[:i+1] {
			cosine := vec.Dot(u, w)
			between[i][j], between[j][i] = cosine, cosine
		}
	}
	return demand.MaxMin(toQuery, between, r.settings.SubQueries.Keep)
}
