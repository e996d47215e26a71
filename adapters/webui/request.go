package webui

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/strictjson"
)

// maxText bounds the bytes of a question, sub-query, filter and tenant.
const maxText = 8 << 10

// Request is the body of POST /ui/api/compare. A question or a sample is needed.
type Request struct {
	Question   string `json:"question,omitempty"`
	Sample     string `json:"sample,omitempty"` // ID of a sample
	Collection string `json:"collection,omitempty"`
	K          *int   `json:"k,omitempty"`
	Filter     string `json:"filter,omitempty"`
	Tenant     string `json:"tenant,omitempty"`
	// SubQueries replace those that a writer would write.
	SubQueries []string `json:"subqueries,omitempty"`
}

// asked is a request ready to run.
type asked struct {
	stage      core.Stage
	collection string
	query      core.Query
}

// read decodes and checks a request.
func (p *Page) read(r *http.Request, body []byte) (asked, error) {
	var req Request
	if err := strictjson.Decode(body, &req, strictjson.Options{}); err != nil {
		return asked{}, err
	}
	if err := req.check(); err != nil {
		return asked{}, fmt.Errorf("adapters/webui: %w", err)
	}
	a, err := p.ask(r, req)
	if err != nil {
		return asked{}, err
	}
	a.stage.Settings = settingsOf(&a.stage)
	if req.K != nil {
		a.stage.Settings.K = *req.K
		a.stage.Settings.Candidates = max(a.stage.Settings.Candidates, *req.K)
	}
	if a.stage.Settings.Selector == core.SelectorQdrantMMR {
		return asked{}, fmt.Errorf("adapters/webui: %w: the selector %s runs in the store, which leaves nothing to show", core.ErrUnsupported, core.SelectorQdrantMMR)
	}
	return a, nil
}

func (p *Page) ask(r *http.Request, req Request) (asked, error) {
	if req.Sample != "" {
		at := slices.IndexFunc(p.deps.Samples, func(s Sample) bool { return s.ID == req.Sample })
		if at < 0 {
			return asked{}, fmt.Errorf("adapters/webui: %w: there is no such sample", core.ErrInvalid)
		}
		s := p.deps.Samples[at]
		return asked{stage: *s.Stage, collection: "the demonstration", query: s.Query}, nil
	}
	stage, name, err := p.stage(req.Collection)
	if err != nil {
		return asked{}, err
	}
	tenant, err := p.deps.Tenant(r.Context(), req.Tenant)
	if err != nil {
		return asked{}, err
	}
	q := core.Query{Text: req.Question, Scope: core.Scope{Filter: req.Filter, Tenant: tenant}}
	for _, text := range req.SubQueries {
		q.SubQueries = append(q.SubQueries, core.SubQuery{Text: text})
	}
	return asked{stage: *stage, collection: name, query: q}, nil
}

// check reports the first field out of its range; the error wraps [core.ErrInvalid].
func (r Request) check() error {
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	switch {
	case r.Sample == "" && blank(r.Question):
		return fmt.Errorf("%w: the question is empty", core.ErrInvalid)
	case r.Sample != "" && (r.Question != "" || r.Collection != "" || r.Filter != "" || r.Tenant != "" || r.SubQueries != nil):
		return fmt.Errorf("%w: a sample goes with k only", core.ErrInvalid)
	case r.K != nil && (*r.K < 1 || *r.K > core.MaxK):
		return fmt.Errorf("%w: k is %d, want 1 to %d", core.ErrInvalid, *r.K, core.MaxK)
	case len(r.SubQueries) > core.MaxSubQueries:
		return fmt.Errorf("%w: there are %d sub-queries, want at most %d", core.ErrInvalid, len(r.SubQueries), core.MaxSubQueries)
	case slices.ContainsFunc(r.SubQueries, blank):
		return fmt.Errorf("%w: a sub-query is empty", core.ErrInvalid)
	}
	for _, text := range append([]string{r.Question, r.Filter, r.Tenant}, r.SubQueries...) {
		if len(text) > maxText {
			return fmt.Errorf("%w: a text has %d bytes, want at most %d", core.ErrInvalid, len(text), maxText)
		}
	}
	return nil
}
