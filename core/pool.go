package core

import (
	"fmt"
	"math"
	"slices"

	"github.com/georag/georag/core/demand"
	"github.com/georag/georag/core/pick"
	"github.com/georag/georag/core/vec"
)

// pool holds the n candidates that compete, in ID order, with their geometry.
type pool struct {
	candidates []Candidate
	row        map[ID]int // of each ID, while the pool is put together
	units      []float32  // n unit vectors, row after row
	dim        int
	geometry   *pick.Vectors

	query       []float64   // cos(c_i, Q), length n
	subQueries  [][]float64 // cos(c_i, q_j), m × n
	lists       [][]int     // R_j as rows, m
	validations []demand.Validation
}

// pool joins the main candidates with the hits of the sub-queries, under a union pool, sets aside what has no
// usable vector, and computes the geometry.
func (r *selection) pool(plan Plan, found SearchResult) (*pool, error) {
	defer r.clock(ArrowDemand, &r.timings.Demand)()
	p := &pool{row: make(map[ID]int), dim: len(plan.question)}
	main := r.admit(p, found.Candidates)
	if r.settings.Pool.Union() {
		r.admitOutside(p, found, p.lowestScore())
	}
	if len(p.candidates) == 0 && len(found.Candidates) > 0 {
		return nil, fmt.Errorf("core: %w: none of %d candidates came with a usable stored vector: %s",
			ErrNoVectors, len(found.Candidates), r.lastReason())
	}
	r.trace.Candidates, r.trace.Outside = len(p.candidates), len(p.candidates)-len(main)
	p.arrange()
	p.measure(plan)
	p.validate(plan, found, main)
	return p, nil
}

// admit adds candidates whose vector is usable, and returns the set of their IDs.
func (r *selection) admit(p *pool, candidates []Candidate) map[ID]bool {
	admitted := make(map[ID]bool, len(candidates))
	for _, c := range candidates {
		if _, twice := p.row[c.ID]; twice {
			r.degrade(ReasonDuplicateID, "the store returned %s twice", c.ID)
			continue
		}
		if err := usable(c, p.dim); err != nil {
			r.degrade(ReasonCandidate, "candidate %s: %v", c.ID, err)
			continue
		}
		p.row[c.ID] = len(p.candidates)
		p.candidates = append(p.candidates, c)
		admitted[c.ID] = true
	}
	return admitted
}

// usable reports why a candidate cannot compete.
func usable(c Candidate, dim int) error {
	if c.Vector == nil {
		return ErrNoVectors
	}
	// The vector first: a score that is not finite is most often its consequence.
	if err := vec.Check(c.Vector, dim); err != nil {
		return err
	}
	if math.IsNaN(c.Score) || math.IsInf(c.Score, 0) {
		return fmt.Errorf("%w: score is %v", ErrNotFinite, c.Score)
	}
	return nil
}

// lowestScore is that of the candidates admitted so far; 0 where there is none.
func (p *pool) lowestScore() float64 {
	if len(p.candidates) == 0 {
		return 0
	}
	lowest := math.Inf(1)
	for _, c := range p.candidates {
		lowest = min(lowest, c.Score)
	}
	return lowest
}

// admitOutside adds the hits of the sub-queries beyond the main candidates. Their score against a sub-query says
// nothing about the question, so they get the lowest of the admitted main scores, the most that the store would have
// given them. A score that is set aside as not finite must not become theirs.
func (r *selection) admitOutside(p *pool, found SearchResult, lowest float64) {
	seen := make(map[ID]bool)
	for _, c := range found.Candidates {
		seen[c.ID] = true
	}
	var outside []Candidate
	for _, result := range found.SubQueries {
		for _, hit := range result.Hits {
			if !seen[hit.ID] {
				seen[hit.ID] = true
				hit.Score = lowest
				outside = append(outside, hit)
			}
		}
	}
	r.admit(p, outside)
}

func (r *selection) lastReason() string {
	if n := len(r.trace.Degraded); n > 0 {
		return r.trace.Degraded[n-1].Detail
	}
	return "no reason given"
}

// arrange sorts the candidates by ID, which makes every later result independent of the store's order, and
// copies their unit vectors into one block.
func (p *pool) arrange() {
	slices.SortFunc(p.candidates, func(a, b Candidate) int { return CompareID(a.ID, b.ID) })
	p.units = make([]float32, len(p.candidates)*p.dim)
	for i, c := range p.candidates {
		p.row[c.ID] = i
		vec.Normalise(p.units[i*p.dim:(i+1)*p.dim], c.Vector)
	}
}

// measure computes the cosines of the candidates to the question and to each kept sub-query.
func (p *pool) measure(plan Plan) {
	n := len(p.candidates)
	p.geometry, _ = pick.NewVectors(p.dim, p.units) // units consists of whole rows by construction
	cosines := make([][]float64, 1+len(plan.subQueries))
	for j := range cosines {
		cosines[j] = make([]float64, n)
	}
	p.geometry.CosinesOf(cosines, append([][]float32{plan.question}, plan.subQueries...))
	p.query, p.subQueries = cosines[0], cosines[1:]
}

// validate runs reverse validation over the lists R_j (eq. 7) and turns them into rows.
func (p *pool) validate(plan Plan, found SearchResult, main map[ID]bool) {
	lists := make([][]ID, len(plan.subQueries))
	p.lists = make([][]int, len(plan.subQueries))
	for j := range min(len(lists), len(found.SubQueries)) {
		for _, hit := range found.SubQueries[j].Hits {
			lists[j] = append(lists[j], hit.ID)
			if row, ok := p.row[hit.ID]; ok {
				p.lists[j] = append(p.lists[j], row)
			}
		}
	}
	p.validations = demand.ReverseValidate(lists, func(id ID) bool { return main[id] })
}

// demandInput is the pool as the demand model reads it.
func (p *pool) demandInput() demand.Input {
	in := demand.Input{Query: p.query, SubQueries: p.subQueries, Validations: p.validations}
	in.Scores = make([]float64, len(p.candidates))
	for i, c := range p.candidates {
		in.Scores[i] = c.Score
	}
	return in
}

// keep returns the pool of the given rows, ascending, without measuring anything again.
func (p *pool) keep(rows []int) *pool {
	kept := &pool{dim: p.dim, validations: p.validations}
	place := make(map[int]int, len(rows))
	for i, row := range rows {
		kept.candidates, place[row] = append(kept.candidates, p.candidates[row]), i
		kept.units = append(kept.units, p.units[row*p.dim:(row+1)*p.dim]...)
		kept.query = append(kept.query, p.query[row])
	}
	kept.geometry, _ = pick.NewVectors(p.dim, kept.units)
	for j, cosines := range p.subQueries {
		column, list := make([]float64, len(rows)), []int(nil)
		for i, row := range rows {
			column[i] = cosines[row]
		}
		for _, row := range p.lists[j] {
			if i, ok := place[row]; ok {
				list = append(list, i)
			}
		}
		kept.subQueries, kept.lists = append(kept.subQueries, column), append(kept.lists, list)
	}
	return kept
}
