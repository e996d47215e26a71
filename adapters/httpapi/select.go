package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/georag/georag/core"
)

// SelectResponse is the answer of POST /v1/select.
type SelectResponse struct {
	RequestID  string `json:"request_id"`
	Collection string `json:"collection"`
	Preset     string `json:"preset"`
	Selector   string `json:"selector"` // asked for
	Mode       string `json:"mode"`     // the computation that ran, which a fallback can change
	// Items in selection order.
	Items []core.Selected `json:"items"`
	// Degraded lists why the result is less than what was asked for; empty where it is not.
	Degraded []core.Reason `json:"degraded"`
	Timings  core.Timings  `json:"timings"`
	Trace    *core.Trace   `json:"trace,omitempty"` // with explain
}

// prepared is a request ready to run: a stage of its own, with its settings, and the question.
type prepared struct {
	request    SelectRequest
	collection string
	stage      core.Stage
	query      core.Query
}

// prepare reads a request and finds the stage that answers it.
func (s *Server) prepare(r *http.Request, body []byte) (prepared, error) {
	p := prepared{}
	var err error
	if p.request, err = decodeSelect(body, s.config.Limits); err != nil {
		return p, err
	}
	c := callOf(r.Context())
	c.query = p.request.Query
	stage, name, err := s.stage(p.request.Collection)
	if err != nil {
		return p, err
	}
	p.stage, p.collection = *stage, name
	if p.stage.Settings, err = p.request.settings(settingsOf(stage)); err != nil {
		return p, err
	}
	p.stage.Observe = s.observing(stage.Observe)
	p.query, err = p.request.query(c.principal)
	return p, err
}

// observing adds the metrics and spans of the arrows to what a stage already does.
func (s *Server) observing(also func(context.Context, core.Arrow, time.Time, time.Duration)) func(context.Context, core.Arrow, time.Time, time.Duration) {
	return func(ctx context.Context, arrow core.Arrow, start time.Time, took time.Duration) {
		s.metrics.Arrow(arrow, took)
		s.tracing.Arrow(ctx, arrow, start, took)
		if also != nil {
			also(ctx, arrow, start, took)
		}
	}
}

// selectPassages answers POST /v1/select.
func (s *Server) selectPassages(r *http.Request, body []byte) (any, error) {
	p, err := s.prepare(r, body)
	if err != nil {
		return nil, err
	}
	selection, err := p.stage.Select(r.Context(), p.query)
	if err != nil {
		return nil, err
	}
	s.selected(r.Context(), selection.Trace)
	return p.response(callOf(r.Context()).id, selection), nil
}

func (p *prepared) response(id string, selection core.Selection) SelectResponse {
	t := selection.Trace
	answer := SelectResponse{
		RequestID: id, Collection: p.collection, Preset: t.Preset, Selector: t.Selector, Mode: t.Mode,
		Items: selection.Items, Degraded: t.Degraded, Timings: selection.Timings,
	}
	if p.request.WithPayload != nil && !*p.request.WithPayload {
		for i := range answer.Items {
			answer.Items[i].Payload = nil
		}
	}
	if p.request.Explain {
		answer.Trace = &t
	}
	return answer
}
