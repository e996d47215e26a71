package mcp

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/georag/georag/core"
)

// Request is what both tools are asked with.
type Request struct {
	Question string `json:"question" jsonschema:"the question, in full and in words"`
	K        *int   `json:"k,omitempty" jsonschema:"how many passages to select, 1 to 100; the default is the server's"`
	Filter   string `json:"filter,omitempty" jsonschema:"condition on the passages' fields in the language of the store: Qdrant filter JSON, a Milvus expression, or lang=en"`
	Tenant   string `json:"tenant,omitempty" jsonschema:"tenant to search in, where the store has tenants"`
	// SubQueries replace those that the server's writer would write; an empty list is none at all.
	SubQueries []string `json:"sub_queries,omitempty" jsonschema:"up to 64 short questions that together cover the parts of the question; write 5 to 20 of them for a question with several parts. The server writes its own where they are left out and it has a writer"`
}

// check says what is wrong with a request, in words for a model; nil where it can be asked. The error wraps
// [core.ErrInvalid].
func (r Request) check(text int) error {
	if err := checkText("question", r.Question, text); err != nil {
		return err
	}
	if r.K != nil && (*r.K < 1 || *r.K > core.MaxK) {
		return fmt.Errorf("%w: k is %d, want 1 to %d", core.ErrInvalid, *r.K, core.MaxK)
	}
	if n := len(r.SubQueries); n > core.MaxSubQueries {
		return fmt.Errorf("%w: sub_queries has %d entries, want at most %d", core.ErrInvalid, n, core.MaxSubQueries)
	}
	for j, q := range r.SubQueries {
		if err := checkText(fmt.Sprintf("sub_queries[%d]", j), q, text); err != nil {
			return err
		}
	}
	for _, scope := range []struct{ name, value string }{{"filter", r.Filter}, {"tenant", r.Tenant}} {
		if len(scope.value) > text {
			return fmt.Errorf("%w: %s has %d bytes, want at most %d", core.ErrInvalid, scope.name, len(scope.value), text)
		}
	}
	return nil
}

func checkText(field, value string, most int) error {
	switch {
	case strings.TrimSpace(value) == "":
		return fmt.Errorf("%w: %s is empty", core.ErrInvalid, field)
	case len(value) > most:
		return fmt.Errorf("%w: %s has %d bytes, want at most %d", core.ErrInvalid, field, len(value), most)
	case !utf8.ValidString(value):
		return fmt.Errorf("%w: %s is not valid UTF-8", core.ErrInvalid, field)
	}
	return nil
}

// query is the request as the core reads it.
func (r Request) query() core.Query {
	q := core.Query{Text: r.Question, Scope: core.Scope{Filter: r.Filter, Tenant: r.Tenant}}
	if r.SubQueries != nil {
		q.SubQueries = make([]core.SubQuery, len(r.SubQueries))
		for j, text := range r.SubQueries {
			q.SubQueries[j].Text = text
		}
	}
	return q
}

// settings are those of the stage with what the request changes.
func (r Request) settings(s core.Settings) core.Settings {
	if s == (core.Settings{}) {
		s = core.DefaultPreset()
	}
	if r.K != nil {
		s.K = *r.K
		s.Candidates = max(s.Candidates, s.K)
	}
	return s
}
