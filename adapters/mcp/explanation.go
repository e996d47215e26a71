package mcp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/georag/georag/core"
)

// Explanation is what explain_selection returns: the trace of a selection, with titles and texts in place of positions.
type Explanation struct {
	Summary    string       `json:"summary"`
	Preset     string       `json:"preset"`
	Selector   string       `json:"selector"`
	Mode       string       `json:"mode" jsonschema:"the computation that ran, which a fallback can change"`
	Pool       string       `json:"pool"`
	Candidates int          `json:"candidates" jsonschema:"how many passages competed"`
	Outside    int          `json:"outside" jsonschema:"how many of those only a sub-query found"`
	Steps      []Step       `json:"steps" jsonschema:"one for each selected passage, in selection order"`
	SubQueries []SubQuery   `json:"sub_queries"`
	Demand     []Demand     `json:"demand" jsonschema:"the candidates where the question needs most evidence, largest share first"`
	Objective  float64      `json:"demand_objective" jsonschema:"share of the demand that the selected passages serve, at most 1"`
	Filter     *core.Reason `json:"filter,omitempty" jsonschema:"what a filter of the candidates dropped"`
	Degraded   []Reason     `json:"degraded" jsonschema:"why the result is less than what was asked for; empty where it is not"`
}

// Step is one greedy step.
type Step struct {
	ID           string   `json:"id"`
	Title        string   `json:"title,omitempty"`
	Because      string   `json:"because" jsonschema:"the reason in words"`
	Rule         string   `json:"rule"`
	Gain         float64  `json:"gain" jsonschema:"gate times the fall of the transport cost, where both apply"`
	Gate         float64  `json:"gate" jsonschema:"1 less the largest cosine to a passage selected before"`
	DeltaW       float64  `json:"delta_w" jsonschema:"fall of the transport cost"`
	RunnerUp     string   `json:"runner_up,omitempty"`
	RunnerUpGain float64  `json:"runner_up_gain"`
	NewlyCovers  []string `json:"newly_covers" jsonschema:"sub-queries that no earlier step covers"`
}

// SubQuery is one part of the question.
type SubQuery struct {
	Text    string   `json:"text"`
	Kept    bool     `json:"kept" jsonschema:"false where max-min left it out"`
	Weight  float64  `json:"weight"`
	Overlap float64  `json:"overlap" jsonschema:"share of its hits among the question's nearest passages"`
	Novelty float64  `json:"novelty" jsonschema:"share of its hits that no other sub-query has"`
	Drifted bool     `json:"drifted"`
	Error   string   `json:"error,omitempty"`
	Covered []string `json:"covered_by" jsonschema:"ids of the selected passages that answer it"`
}

// Demand is the share of the question's demand at one candidate.
type Demand struct {
	ID       string  `json:"id"`
	Share    float64 `json:"share"`
	Selected bool    `json:"selected"`
}

// shownDemand is how many candidates an explanation lists.
const shownDemand = 20

func explanationOf(s core.Selection) Explanation {
	t := s.Trace
	e := Explanation{
		Preset: t.Preset, Selector: t.Selector, Mode: t.Mode, Pool: string(t.Pool), Candidates: t.Candidates, Outside: t.Outside,
		Steps: steps(s), SubQueries: subQueries(s), Demand: demand(s), Objective: t.Objective, Degraded: reasons(t),
	}
	if f := t.Filter; f != nil {
		e.Filter = &core.Reason{Code: core.ReasonCode(f.Name), Detail: fmt.Sprintf("dropped %d candidates %s", len(f.Dropped), f.Note)}
	}
	covered, kept := 0, 0
	for _, q := range e.SubQueries {
		if q.Kept {
			kept++
			covered += min(len(q.Covered), 1)
		}
	}
	e.Summary = fmt.Sprintf("%d passages of %d candidates, chosen by %s; together they answer %d of %d sub-queries.",
		len(s.Items), t.Candidates, t.Mode, covered, kept)
	return e
}

func steps(s core.Selection) []Step {
	titles := map[core.ID]string{}
	for _, item := range s.Items {
		titles[item.ID] = item.PayloadTitle()
	}
	list := make([]Step, len(s.Trace.Steps))
	for i, t := range s.Trace.Steps {
		list[i] = Step{
			ID: t.ID.String(), Title: titles[t.ID], Rule: string(t.Rule), Gain: t.Gain, Gate: t.Gate, DeltaW: t.DeltaW,
			RunnerUpGain: t.RunnerUpGain, NewlyCovers: subQueryTexts(s.Trace, t.NewlyCovers),
		}
		if !t.RunnerUp.IsZero() {
			list[i].RunnerUp = t.RunnerUp.String()
		}
		list[i].Because = because(list[i])
	}
	return list
}

func because(s Step) string {
	words := fmt.Sprintf("rule %q with gain %.4g", s.Rule, s.Gain)
	if s.RunnerUp != "" {
		words += fmt.Sprintf(", before %s with %.4g", s.RunnerUp, s.RunnerUpGain)
	}
	if len(s.NewlyCovers) == 0 {
		return words + "; it answers no further sub-query"
	}
	return words + "; it is the first to answer: " + strings.Join(s.NewlyCovers, "; ")
}

func subQueries(s core.Selection) []SubQuery {
	list := make([]SubQuery, len(s.Trace.SubQueries))
	for j, q := range s.Trace.SubQueries {
		list[j] = SubQuery{Text: q.Text, Kept: q.Kept, Weight: q.Weight, Overlap: q.Overlap, Novelty: q.Novelty, Drifted: q.Drifted, Error: q.Error, Covered: []string{}}
		for _, item := range s.Items {
			if slices.Contains(item.Covers, j) {
				list[j].Covered = append(list[j].Covered, item.ID.String())
			}
		}
	}
	return list
}

func demand(s core.Selection) []Demand {
	shares := slices.Clone(s.Trace.Demand)
	slices.SortStableFunc(shares, func(a, b core.DemandShare) int { return cmp.Compare(b.Share, a.Share) })
	list := []Demand{}
	for _, d := range shares[:min(shownDemand, len(shares))] {
		list = append(list, Demand{ID: d.ID.String(), Share: d.Share, Selected: slices.Contains(s.IDs(), d.ID)})
	}
	return list
}
