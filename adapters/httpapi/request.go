package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/strictjson"
)

// SelectRequest is the body of POST /v1/select and /v1/diagnose. A query or a vector is needed; all else is optional
// and falls back to the collection's settings.
type SelectRequest struct {
	// Collection names one of the served collections; "" is the default one.
	Collection string `json:"collection,omitempty"`
	Query      string `json:"query,omitempty"`
	Vector     Vector `json:"vector,omitzero"`
	// SubQueries replace those that a model would write; an empty list is none at all.
	SubQueries []SubQuery `json:"subqueries,omitempty"`
	// Given are candidates chosen by someone else; they compete alone unless Pool says otherwise.
	Given []Given `json:"given,omitempty"`

	K          *int      `json:"k,omitempty"`
	Candidates *int      `json:"candidates,omitempty"` // K of the publication
	Preset     string    `json:"preset,omitempty"`
	Selector   string    `json:"selector,omitempty"`
	Pool       core.Pool `json:"pool,omitempty"`
	// CandidateFilter drops candidates before selection: none, ricci or kmeans.
	CandidateFilter string   `json:"candidate_filter,omitempty"`
	Lambda          *float64 `json:"lambda,omitempty"` // of selector mmr: 1 is relevance alone
	// Strict refuses a degraded result.
	Strict *bool `json:"strict,omitempty"`

	// Filter is a condition in the store's language, as a string or as the JSON object it is.
	Filter      Condition `json:"filter,omitempty"`
	Tenant      string    `json:"tenant,omitempty"`
	Partitions  []string  `json:"partitions,omitempty"`
	VectorName  string    `json:"vector_name,omitempty"`
	Consistency string    `json:"consistency,omitempty"`

	// Explain adds the trace of every choice.
	Explain bool `json:"explain,omitempty"`
	// WithPayload false leaves out the passages' fields.
	WithPayload *bool `json:"with_payload,omitempty"`
}

// SubQuery is one part of a question: a string, or an object with text, vector or both.
type SubQuery struct {
	Text   string `json:"text,omitempty"`
	Vector Vector `json:"vector,omitzero"`
}

// UnmarshalJSON reads either form.
func (q *SubQuery) UnmarshalJSON(data []byte) error {
	type object SubQuery
	*q = SubQuery{}
	return unmarshalTextOr(data, &q.Text, (*object)(q))
}

// unmarshalTextOr reads a string into text and all else into object.
func unmarshalTextOr(data []byte, text *string, object any) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, text)
	}
	return json.Unmarshal(data, object)
}

// Given is a candidate chosen by someone else.
type Given struct {
	ID    core.ID `json:"id"`
	Score float64 `json:"score,omitempty"`
}

// Condition is a filter in the store's own language.
type Condition string

// UnmarshalJSON keeps a string as it is and an object as its text.
func (c *Condition) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var compact bytes.Buffer
		if err := json.Compact(&compact, data); err != nil {
			return err
		}
		*c = Condition(compact.String())
		return nil
	}
	return json.Unmarshal(data, (*string)(c))
}

// decodeSelect reads and checks a request.
func decodeSelect(body []byte, l Limits) (SelectRequest, error) {
	var req SelectRequest
	if err := strictjson.Decode(body, &req, strictjson.Options{Nesting: l.Nesting}); err != nil {
		return req, err
	}
	if f := req.check(l); f != nil {
		return req, f
	}
	return req, nil
}

// check holds a request against the limits; what only the core can tell, the core tells.
func (r *SelectRequest) check(l Limits) *Fault {
	if r.Query == "" && r.Vector.values == nil && r.Vector.fault == "" {
		return invalid("query", "a query or a vector is needed")
	}
	for _, number := range []struct {
		field string
		got   int
		most  int
	}{
		{"subqueries", len(r.SubQueries), l.SubQueries},
		{"given", len(r.Given), l.Candidates},
		{"query", len(r.Query), l.Text},
		{"filter", len(r.Filter), l.Text},
		{"partitions", len(r.Partitions), l.SubQueries},
	} {
		if number.got > number.most {
			return invalid(number.field, "has length %d, want at most %d", number.got, number.most)
		}
	}
	if f := between("k", r.K, l.K); f != nil {
		return f
	}
	if f := between("candidates", r.Candidates, l.Candidates); f != nil {
		return f
	}
	if f := r.checkGiven(); f != nil {
		return f
	}
	return r.checkVectors(l)
}

func (r *SelectRequest) checkGiven() *Fault {
	for i, given := range r.Given {
		if given.ID.IsZero() {
			return invalid(fmt.Sprintf("given[%d].id", i), "is missing")
		}
	}
	return nil
}

func (r *SelectRequest) checkVectors(l Limits) *Fault {
	if f := r.Vector.check("vector", l); f != nil {
		return f
	}
	dim := len(r.Vector.values)
	floats := dim
	for j, q := range r.SubQueries {
		field := fmt.Sprintf("subqueries[%d]", j)
		if q.Text == "" && q.Vector.values == nil && q.Vector.fault == "" {
			return invalid(field, "needs a text or a vector")
		}
		if len(q.Text) > l.Text {
			return invalid(field+".text", "has length %d, want at most %d", len(q.Text), l.Text)
		}
		if f := q.Vector.check(field+".vector", l); f != nil {
			return f
		}
		switch n := len(q.Vector.values); {
		case dim == 0:
			dim = n
		case n != 0 && n != dim:
			return &Fault{Status: http.StatusBadRequest, Code: CodeDimension, Field: field + ".vector", Message: fmt.Sprintf("has %d components, and a vector before it %d", n, dim)}
		}
		floats += len(q.Vector.values)
	}
	if floats > l.Floats {
		return invalid("subqueries", "all vectors together have %d components, want at most %d", floats, l.Floats)
	}
	return nil
}

func between(field string, value *int, most int) *Fault {
	if value != nil && (*value < 1 || *value > most) {
		return invalid(field, "is %d, want 1 to %d", *value, most)
	}
	return nil
}

// settings returns base with what the request changes.
func (r *SelectRequest) settings(base core.Settings) (core.Settings, error) {
	s := base
	if r.Preset != "" {
		preset, err := core.Preset(r.Preset)
		if err != nil {
			return s, fieldFault("preset", err)
		}
		s = preset
		s.Strict, s.Timeout = base.Strict, base.Timeout
	}
	overwrite(&s.K, r.K)
	overwrite(&s.Candidates, r.Candidates)
	overwrite(&s.Selectors.MMR.Lambda, r.Lambda)
	overwrite(&s.Strict, r.Strict)
	if r.Selector != "" {
		s.Selector = r.Selector
	}
	if r.CandidateFilter != "" {
		s.Filter.Name = r.CandidateFilter
	}
	switch {
	case r.Pool != "":
		s.Pool = r.Pool
	case len(r.Given) > 0:
		s.Pool = core.PoolGiven
	}
	if r.K != nil && r.Candidates == nil {
		s.Candidates = max(s.Candidates, s.K)
	}
	for _, part := range []struct {
		field string
		err   error
	}{
		{"pool", s.Pool.Validate()}, {"candidate_filter", s.Filter.Validate()}, {"lambda", s.Selectors.MMR.Validate()}, {"selector", s.Validate()},
	} {
		if part.err != nil {
			return s, fieldFault(part.field, part.err)
		}
	}
	return s, nil
}

func overwrite[T any](target *T, value *T) {
	if value != nil {
		*target = *value
	}
}

// fieldFault is what err says, of the named field.
func fieldFault(field string, err error) *Fault {
	f := *FaultOf(err)
	f.Status, f.Code, f.Field, f.Message = 400, CodeInvalid, field, err.Error()
	return &f
}

// query is the request as the core reads it, in the scope of who asks.
func (r *SelectRequest) query(who Principal) (core.Query, error) {
	tenant, err := who.Scope(r.Tenant)
	if err != nil {
		return core.Query{}, err
	}
	q := core.Query{Text: r.Query, Vector: r.Vector.values, Scope: core.Scope{
		Filter: string(r.Filter), Tenant: tenant, Partitions: r.Partitions, VectorName: r.VectorName, Consistency: r.Consistency,
	}}
	if r.SubQueries != nil {
		q.SubQueries = make([]core.SubQuery, len(r.SubQueries))
		for j, sub := range r.SubQueries {
			q.SubQueries[j] = core.SubQuery{Text: sub.Text, Vector: sub.Vector.values}
		}
	}
	for _, given := range r.Given {
		q.Given = append(q.Given, core.Candidate{ID: given.ID, Score: given.Score})
	}
	return q, nil
}
