// Package pick holds the selectors: given n candidates, their similarities and the demand of the question, each
// returns k rows in selection order. One file per selector, one registry by name ([New], [Names]).
//
// Everything here is numbers. Candidates are rows 0..n-1, which the caller sorts by ID, so a tie that goes to
// the lower row goes to the lower ID, and the order in which a store returned the candidates cannot matter.
package pick

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Errors of a selection.
var (
	// ErrShape: the parts of a Problem disagree about n or m.
	ErrShape = errors.New("shapes disagree")
	// ErrValue: a number is NaN, infinite or out of its range.
	ErrValue = errors.New("value out of range")
	// ErrOption: an option is out of its range; the message names it and its value.
	ErrOption = errors.New("option out of range")
	// ErrNeeds: the selector needs a part of the problem that is absent (a reranker, sub-query lists, …).
	ErrNeeds = errors.New("needs what is absent")
	// ErrUnknown: no selector has the given name.
	ErrUnknown = errors.New("unknown selector")
)

// Similarity gives the cosines among n candidates. Implementations are safe for use by one selection at a time.
type Similarity interface {
	// Len is n.
	Len() int
	// Column writes cos(c_i, c_j) for all i to dst, of length n, and returns dst.
	Column(dst []float64, j int) []float64
}

// Problem is one selection task. n is the number of candidates, m of kept sub-queries.
type Problem struct {
	Similarity Similarity
	// Query holds cos(c_i, Q), length n.
	Query []float64
	// Demand is P, length n: where the question needs evidence. Non-negative, sums to 1.
	Demand []float64
	// SubQueries holds cos(c_i, q_j) as m slices of length n; empty where there are no sub-queries.
	SubQueries [][]float64
	// Weights holds q̃_j, length m. Non-negative, sums to 1.
	Weights []float64
	// Lists holds R_j as rows, best first; hits that are not candidates are left out. Length m.
	Lists [][]int
	// Tokens holds the length of each passage in tokens, length n; needed only under a token budget.
	Tokens []int
	// Rerank scores all candidates with a model, higher is better, length n. nil where there is no model.
	Rerank func(context.Context) ([]float64, error)
	// Conflict gives the probability in [0,1] that rows i and j contradict each other, for the pairs asked.
	// nil where there is no model.
	Conflict func(ctx context.Context, pairs [][2]int) ([]float64, error)
}

// Len is n, the number of candidates.
func (p *Problem) Len() int { return p.Similarity.Len() }

// Validate reports the first part whose shape does not fit n and m, wrapped as [ErrShape], or that holds a value
// which no cosine, mass or row can have, wrapped as [ErrValue].
func (p *Problem) Validate() error {
	n, m := p.Len(), len(p.SubQueries)
	for _, part := range []struct {
		name      string
		got, want int
		optional  bool
	}{
		{"Query", len(p.Query), n, false},
		{"Demand", len(p.Demand), n, false},
		{"Weights", len(p.Weights), m, false},
		{"Lists", len(p.Lists), m, true},
		{"Tokens", len(p.Tokens), n, true},
	} {
		if part.got != part.want && !(part.optional && part.got == 0) {
			return fmt.Errorf("core/pick: %w: %s has length %d, want %d", ErrShape, part.name, part.got, part.want)
		}
	}
	for j, column := range p.SubQueries {
		if len(column) != n {
			return fmt.Errorf("core/pick: %w: SubQueries[%d] has length %d, want %d", ErrShape, j, len(column), n)
		}
	}
	return p.validateValues()
}

func (p *Problem) validateValues() error {
	if err := allFinite("Query", p.Query); err != nil {
		return err
	}
	for _, column := range p.SubQueries {
		if err := allFinite("SubQueries", column); err != nil {
			return err
		}
	}
	for i, mass := range p.Demand {
		if !(mass >= 0 && mass <= 1+massTolerance) {
			return fmt.Errorf("core/pick: %w: Demand[%d] is %v", ErrValue, i, mass)
		}
	}
	for j, list := range p.Lists {
		for _, row := range list {
			if row < 0 || row >= p.Len() {
				return fmt.Errorf("core/pick: %w: Lists[%d] holds row %d of %d", ErrValue, j, row, p.Len())
			}
		}
	}
	return nil
}

// massTolerance is how far rounding may take the sum of a demand from 1.
const massTolerance = 1e-6

func allFinite(name string, values []float64) error {
	for i, x := range values {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("core/pick: %w: %s[%d] is %v", ErrValue, name, i, x)
		}
	}
	return nil
}

// Result is what a selector chose.
type Result struct {
	// Steps in selection order; min(k, n) of them unless a token budget ended the selection earlier.
	Steps []Step
	// Mode names the computation that ran, e.g. "sinkhorn converged" or "facility".
	Mode string
	// Degraded says in words why the result is not what was asked for; empty where it is.
	Degraded []string
}

// Rows returns the chosen rows in selection order.
func (r Result) Rows() []int {
	rows := make([]int, len(r.Steps))
	for i, s := range r.Steps {
		rows[i] = s.Row
	}
	return rows
}

// Step is one greedy choice. Fields that a selector does not compute are zero.
type Step struct {
	Row  int
	Rule Rule
	// Gain is the quantity maximised: for georag gate·ΔW, for facility the rise of F_P, for ranking
	// selectors the ranking score.
	Gain float64
	// Gate is 1 − max_{s∈S} cos(c,s): how far the passage is from those already chosen.
	Gate float64
	// DeltaW is the fall of the transport cost, and W the cost after the step (eq. of Algorithm 1).
	DeltaW, W float64
	// RunnerUp is the row with the next best gain, -1 where there was no other, and RunnerUpGain its gain
	// (an upper bound of it where a bound ruled the row out before its gain was computed).
	RunnerUp     int
	RunnerUpGain float64
}

// Rule names why a row was chosen in a step.
type Rule string

const (
	RuleRank      Rule = "rank"       // best score of a ranking
	RuleColdStart Rule = "cold start" // nearest to the query, the first step of Algorithm 1
	RuleGain      Rule = "gain"       // best gain
	// RuleFacility: no candidate lowered the transport cost, so the exact facility gain decided.
	RuleFacility Rule = "facility fallback"
)

// Selector chooses k of a problem's candidates. Implementations may keep a workspace, so one value serves one
// goroutine at a time; New makes another.
type Selector interface {
	// Select returns min(k, n) distinct rows. k ≥ 1.
	Select(ctx context.Context, p *Problem, k int) (Result, error)
}
