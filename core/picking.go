package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/georag/georag/core/demand"
	"github.com/georag/georag/core/pick"
)

// ladder names what answers when a selector cannot: the next rung keeps as much of the aim as it can.
var ladder = map[string]string{
	"georag": "facility", "facility": "mmr", "mmr": "cosine",
	"dpp": "cosine", "adagres": "cosine", "smart": "dpp", "rerank": "cosine",
	"subq-max": "cosine", "subq-avg": "cosine", "rrf": "cosine",
}

// headroom is the time below which a selector is not started before a deadline: an estimate for 200 candidates, with
// room to spare. What a larger problem takes is not estimated: it is given rungShare of the time and no more.
var headroom = map[string]time.Duration{
	"georag": 20 * time.Millisecond, "facility": 10 * time.Millisecond, "mmr": 2 * time.Millisecond,
}

// rungShare is the part of the time before the deadline that a selector may use while there is a rung below it. The
// rest is for those below, each of which is many times faster.
const rungShare = 0.75

// pick runs the selector, or the first rung of the ladder below it that can answer in time.
func (r *selection) pick(plan Plan, p *pool, d demand.Demand) (pick.Result, error) {
	defer r.clock(ArrowPick, &r.timings.Pick)()
	problem := r.problem(plan, p, d)
	for name := r.inTime(r.settings.Selector); ; name = r.inTime(name) {
		result, err := r.attempt(name, problem)
		if err == nil {
			return r.note(result, len(p.candidates)), nil
		}
		below, ok := ladder[name]
		if !ok || r.ctx.Err() != nil || errors.Is(err, pick.ErrOption) {
			return result, fmt.Errorf("core: select with %s: %w", name, err)
		}
		r.degrade(ReasonSelectorFellBack, "%s: %v; %s answered", name, err, below)
		name = below
	}
}

// inTime goes down the ladder while the caller's deadline leaves too little time for a rung. The lowest rung needs
// no headroom, so it is where a deadline that has passed already ends up.
func (r *selection) inTime(name string) string {
	deadline, ok := r.ctx.Deadline()
	if !ok {
		return name
	}
	left := time.Until(deadline)
	for headroom[name] > 0 && left < headroom[name] {
		r.degrade(ReasonSelectorFellBack, "%s: %s before the deadline is too short; %s answered", name, left.Round(time.Microsecond), ladder[name])
		name = ladder[name]
	}
	return name
}

// attempt runs one rung within its share of the time.
func (r *selection) attempt(name string, problem *pick.Problem) (pick.Result, error) {
	deadline, bounded := r.ctx.Deadline()
	if _, below := ladder[name]; !bounded || !below {
		return r.run(r.ctx, name, problem)
	}
	share := time.Duration(rungShare * float64(time.Until(deadline)))
	ctx, cancel := context.WithTimeout(r.ctx, share)
	defer cancel()
	result, err := r.run(ctx, name, problem)
	if errors.Is(err, context.DeadlineExceeded) && r.ctx.Err() == nil {
		return result, fmt.Errorf("not done within %s, its share of the time before the deadline: %w", share.Round(time.Microsecond), err)
	}
	return result, err
}

func (r *selection) run(ctx context.Context, name string, problem *pick.Problem) (pick.Result, error) {
	selector, err := pick.New(name, r.settings.Selectors)
	if err != nil {
		return pick.Result{}, err
	}
	return selector.Select(ctx, problem, r.settings.K)
}

// note copies what the selector says of itself into the trace. Where fewer than k candidates competed, after any
// filter, that is the first thing it says.
func (r *selection) note(result pick.Result, competed int) pick.Result {
	r.trace.Mode = result.Mode
	for i, words := range result.Degraded {
		code := ReasonSelector
		if i == 0 && competed < r.settings.K {
			code = ReasonFewerThanK
		}
		r.degrade(code, "%s", words)
	}
	return result
}

func (r *selection) problem(plan Plan, p *pool, d demand.Demand) *pick.Problem {
	problem := &pick.Problem{
		Similarity: p.geometry, Query: p.query, Demand: d.P,
		SubQueries: p.subQueries, Weights: d.Weights, Lists: p.lists,
	}
	if r.settings.Selectors.AdaGReS.TokenBudget > 0 {
		for _, c := range p.candidates {
			problem.Tokens = append(problem.Tokens, tokens(c))
		}
	}
	if r.Reranker != nil {
		problem.Rerank = func(ctx context.Context) ([]float64, error) { return r.rerank(ctx, plan, p) }
	}
	if r.Conflict != nil {
		problem.Conflict = func(ctx context.Context, pairs [][2]int) ([]float64, error) {
			texts := make([][2]string, len(pairs))
			for i, pair := range pairs {
				texts[i] = [2]string{p.candidates[pair[0]].PayloadText(), p.candidates[pair[1]].PayloadText()}
			}
			return r.Conflict.Conflicts(ctx, texts)
		}
	}
	return problem
}

// tokens is a passage's length: its payload's "tokens" where the store has it, else its number of words.
func tokens(c Candidate) int {
	switch n := c.Payload["tokens"].(type) {
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return len(strings.Fields(c.PayloadText()))
}

func (r *selection) rerank(ctx context.Context, plan Plan, p *pool) ([]float64, error) {
	if plan.Text == "" {
		return nil, fmt.Errorf("core: %w: a reranker needs the question's text", ErrInvalid)
	}
	texts := make([]string, len(p.candidates))
	for i, c := range p.candidates {
		if texts[i] = c.PayloadText(); texts[i] == "" {
			return nil, fmt.Errorf("core: %w: candidate %s has no text in its payload for the reranker", ErrInvalid, c.ID)
		}
	}
	r.trace.Models.Reranker = r.Reranker.Model()
	return r.Reranker.Rerank(ctx, plan.Text, texts)
}

// finish turns rows into passages and explains them.
func (r *selection) finish(plan Plan, p *pool, wanted demand.Demand, picks pick.Result) (Selection, error) {
	r.traceDemand(p, wanted)
	r.trace.Objective = p.objective(wanted.P, picks.Steps)
	covered := make([]bool, len(p.subQueries))
	s := Selection{Items: make([]Selected, 0, len(picks.Steps))}
	for _, step := range picks.Steps {
		c := p.candidates[step.Row]
		item := Selected{Candidate: c, Cosine: p.query[step.Row], Covers: []int{}}
		t := StepTrace{
			ID: c.ID, Rule: step.Rule, Gain: step.Gain, Gate: step.Gate, DeltaW: step.DeltaW, W: step.W,
			RunnerUpGain: step.RunnerUpGain, NewlyCovers: []int{},
		}
		if step.RunnerUp >= 0 && len(p.candidates) > 1 {
			t.RunnerUp = p.candidates[step.RunnerUp].ID
		}
		for j, cosines := range p.subQueries {
			if cosines[step.Row] <= CoverageThreshold {
				continue
			}
			item.Covers = append(item.Covers, plan.kept[j])
			if !covered[j] {
				covered[j] = true
				t.NewlyCovers = append(t.NewlyCovers, plan.kept[j])
			}
		}
		slices.Sort(item.Covers)
		slices.Sort(t.NewlyCovers)
		s.Items, r.trace.Steps = append(s.Items, item), append(r.trace.Steps, t)
	}
	return r.conclude(s)
}

func (r *selection) traceDemand(p *pool, wanted demand.Demand) {
	r.trace.Demand = make([]DemandShare, 0, len(p.candidates))
	for i, c := range p.candidates {
		r.trace.Demand = append(r.trace.Demand, DemandShare{ID: c.ID, Share: wanted.P[i]})
	}
}

// conclude applies strict and closes the clock.
func (r *selection) conclude(s Selection) (Selection, error) {
	if r.settings.Strict && len(r.trace.Degraded) > 0 {
		first := r.trace.Degraded[0]
		return Selection{}, fmt.Errorf("core: %w: %s: %s", ErrStrict, first.Code, first.Detail)
	}
	s.Trace, s.Timings = r.trace, r.timings
	s.Timings.Total = time.Since(r.started)
	return s, nil
}
