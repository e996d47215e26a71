package httpapi

import (
	"net/http"

	"github.com/georag/georag/core"
)

// DiagnoseResponse is the answer of POST /v1/diagnose: what cosine top-k of the same candidates would have returned,
// beside what was selected, for one round trip to the store.
type DiagnoseResponse struct {
	RequestID  string `json:"request_id"`
	Collection string `json:"collection"`
	// Before is the cosine top-k, After the selection.
	Before Diagnosis `json:"before"`
	After  Diagnosis `json:"after"`
	// Shared is how many passages both have.
	Shared int `json:"shared"`
	// SubQueries that the demand was made of, in the order of Diagnosis.Covered.
	SubQueries []DiagnosedSubQuery `json:"subqueries"`
	// Candidates that competed, and of those the hits of sub-queries beyond the question's own neighbours.
	Candidates int           `json:"candidates"`
	Outside    int           `json:"outside"`
	Degraded   []core.Reason `json:"degraded"`
}

// Diagnosis says how good k passages are without knowing the answer.
type Diagnosis struct {
	Mode string    `json:"mode"`
	IDs  []core.ID `json:"ids"`
	// Redundancy is the mean cosine over the pairs of passages, in [-1, 1]; lower is more diverse.
	Redundancy float64 `json:"redundancy"`
	// Coverage is the share of kept sub-queries that some passage answers at a cosine above 0.6.
	Coverage float64 `json:"coverage"`
	// DemandObjective is F_P of the passages in [0, 1]: how much of the demand they serve.
	DemandObjective float64 `json:"demand_objective"`
	// Covered holds the indices, in SubQueries, of those that are answered.
	Covered []int `json:"covered"`
}

// DiagnosedSubQuery is one kept sub-query.
type DiagnosedSubQuery struct {
	Text    string  `json:"text"`
	Weight  float64 `json:"weight"`
	Overlap float64 `json:"overlap"`
	Drifted bool    `json:"drifted"`
}

// diagnose answers POST /v1/diagnose.
func (s *Server) diagnose(r *http.Request, body []byte) (any, error) {
	p, err := s.prepare(r, body)
	if err != nil {
		return nil, err
	}
	seen := record(&p.stage)
	selection, err := p.stage.Select(r.Context(), p.query)
	if err != nil {
		return nil, err
	}
	t := selection.Trace
	s.selected(r.Context(), t)
	question, kept := seen.asked(p.query, t)
	answer := DiagnoseResponse{
		RequestID: callOf(r.Context()).id, Collection: p.collection, SubQueries: []DiagnosedSubQuery{},
		Candidates: t.Candidates, Outside: t.Outside, Degraded: t.Degraded,
		Before: seen.diagnosis("cosine", seen.nearest(question, len(selection.Items)), kept, t.Demand),
		After:  seen.diagnosis(t.Mode, selection.IDs(), kept, t.Demand),
	}
	for _, sub := range t.SubQueries {
		if sub.Kept {
			answer.SubQueries = append(answer.SubQueries, DiagnosedSubQuery{Text: sub.Text, Weight: sub.Weight, Overlap: sub.Overlap, Drifted: sub.Drifted})
		}
	}
	answer.Shared = shared(answer.Before.IDs, answer.After.IDs)
	return answer, nil
}

func shared(a, b []core.ID) int {
	in := make(map[core.ID]bool, len(a))
	for _, id := range a {
		in[id] = true
	}
	count := 0
	for _, id := range b {
		if in[id] {
			count++
		}
	}
	return count
}
