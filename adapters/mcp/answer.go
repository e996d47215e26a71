package mcp

import "github.com/georag/georag/core"

// Answer is what search_passages returns.
type Answer struct {
	Passages []Passage `json:"passages" jsonschema:"in selection order"`
	Degraded []Reason  `json:"degraded" jsonschema:"why the result is less than what was asked for; empty where it is not"`
	Preset   string    `json:"preset"`
	Mode     string    `json:"mode" jsonschema:"the computation that ran"`
}

// Passage is one selected passage.
type Passage struct {
	ID     string   `json:"id"`
	Title  string   `json:"title,omitempty"`
	Text   string   `json:"text"`
	Cosine float64  `json:"cosine" jsonschema:"to the question"`
	Covers []string `json:"covers" jsonschema:"the sub-queries that this passage answers"`
}

// Reason is one cause of a degraded result.
type Reason struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

func answerOf(s core.Selection) Answer {
	a := Answer{Passages: []Passage{}, Degraded: reasons(s.Trace), Preset: s.Trace.Preset, Mode: s.Trace.Mode}
	for _, item := range s.Items {
		a.Passages = append(a.Passages, Passage{
			ID: item.ID.String(), Title: item.PayloadTitle(), Text: item.PayloadBody(), Cosine: item.Cosine,
			Covers: subQueryTexts(s.Trace, item.Covers),
		})
	}
	return a
}

func reasons(t core.Trace) []Reason {
	list := make([]Reason, len(t.Degraded))
	for i, r := range t.Degraded {
		list[i] = Reason{Code: string(r.Code), Detail: r.Detail}
	}
	return list
}

func subQueryTexts(t core.Trace, positions []int) []string {
	texts := make([]string, len(positions))
	for i, j := range positions {
		texts[i] = t.SubQueries[j].Text
	}
	return texts
}
