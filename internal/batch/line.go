package batch

import (
	"encoding/json"
	"fmt"

	"github.com/georag/georag/core"
)

// question is a line of the input:
//
//	{"id": "q1", "question": "…", "vector": [0.1, …], "subqueries": ["…", {"text": "…", "vector": [0.2, …]}],
//	 "tenant": "…", "filter": "…"}
//
// An id and a question or a vector are needed; vectors that are missing are made by the stage's embedder, sub-queries
// by its writer. Members it does not know are ignored, so the questions of an evaluation can be read as they are.
type question struct {
	id    string
	query core.Query
}

func parse(data []byte) (question, error) {
	var line struct {
		ID         json.RawMessage `json:"id"`
		Question   string          `json:"question"`
		Vector     []float32       `json:"vector"`
		SubQueries []subQuery      `json:"subqueries"`
		Tenant     string          `json:"tenant"`
		Filter     string          `json:"filter"`
	}
	if err := json.Unmarshal(data, &line); err != nil {
		return question{}, err
	}
	var id core.ID
	if err := json.Unmarshal(line.ID, &id); err != nil || id.IsZero() || id == core.StringID("") {
		return question{}, fmt.Errorf(`"id" is %.40s, want a string or an integer`, line.ID)
	}
	if line.Question == "" && line.Vector == nil {
		return question{}, fmt.Errorf(`neither "question" nor "vector"`)
	}
	q := question{id.String(), core.Query{
		Text: line.Question, Vector: line.Vector, Scope: core.Scope{Tenant: line.Tenant, Filter: line.Filter},
	}}
	for _, s := range line.SubQueries {
		q.query.SubQueries = append(q.query.SubQueries, core.SubQuery(s))
	}
	return q, nil
}

// subQuery is a text, or an object with its vector.
type subQuery core.SubQuery

// UnmarshalJSON implements [json.Unmarshaler].
func (s *subQuery) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, &s.Text)
	}
	var object struct {
		Text   string    `json:"text"`
		Vector []float32 `json:"vector"`
	}
	err := json.Unmarshal(data, &object)
	*s = subQuery(object)
	return err
}

// answer is a line of the output.
type answer struct {
	ID       string        `json:"id"`
	Passages []passage     `json:"passages"` // in selection order
	Mode     string        `json:"mode"`
	Degraded []core.Reason `json:"degraded"`
}

// passage is one that was selected.
type passage struct {
	ID     core.ID `json:"id"`
	Score  float64 `json:"score"`
	Cosine float64 `json:"cosine"` // to the question
}

// failure is the line of a question that could not be answered.
type failure struct {
	ID    string `json:"id"`
	Error string `json:"error"`
}

func newAnswer(id string, s core.Selection) answer {
	a := answer{ID: id, Mode: s.Trace.Mode, Degraded: s.Trace.Degraded, Passages: make([]passage, len(s.Items))}
	for i, item := range s.Items {
		a.Passages[i] = passage{item.ID, item.Score, item.Cosine}
	}
	return a
}
