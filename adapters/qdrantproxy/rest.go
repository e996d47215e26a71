package qdrantproxy

import (
	"net/http"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/selectproxy"
)

// REST is the proxy of Qdrant's REST interface.
type REST struct {
	deps    selectproxy.Deps
	forward *selectproxy.Forwarder
}

// NewREST checks the configuration; it does not connect.
func NewREST(c Config, d selectproxy.Deps) (*REST, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	forward, err := selectproxy.NewForwarder(c.Upstream, d.Credentials, d.Log, refuse)
	return &REST{deps: d, forward: forward}, err
}

// passing are Qdrant's paths, beside those of queries. The root tells clients the version.
var passing = []string{
	"GET /{$}", "/collections", "/collections/", "/aliases", "/cluster", "/cluster/", "/snapshots", "/snapshots/",
	"/telemetry", "/issues", "/locks", "/livez",
}

// Endpoints lists the routes.
func (p *REST) Endpoints() []selectproxy.Endpoint {
	endpoints := []selectproxy.Endpoint{
		{Pattern: "POST /collections/{collection}/points/query", Handler: http.HandlerFunc(p.query)},
		{Pattern: "POST /collections/{collection}/points/query/batch", Handler: http.HandlerFunc(p.batch)},
	}
	for _, pattern := range passing {
		endpoints = append(endpoints, selectproxy.Endpoint{Pattern: pattern, Handler: http.HandlerFunc(p.pass)})
	}
	return endpoints
}

// pass passes a request through, unless its caller is bound to a tenant.
func (p *REST) pass(w http.ResponseWriter, r *http.Request) {
	if p.deps.TenantOf(r) != "" && r.URL.Path != "/" {
		refuse(w, *selectproxy.BoundToTenant())
		return
	}
	p.forward.Forward(w, r, "")
}

// query answers one query.
func (p *REST) query(w http.ResponseWriter, r *http.Request) {
	p.answer(w, r, func(body []byte) ([]query, error) {
		one, err := readQuery(body)
		return []query{one}, err
	}, func(queries []query, answers []selectproxy.Answer, started time.Time) ([]byte, func([]byte) ([]byte, error)) {
		ids := answers[0].IDs
		if len(ids) == 0 {
			return nil, func([]byte) ([]byte, error) { return answerQuery([]byte(`{"result":{},"status":"ok"}`), started, nil) }
		}
		return encode(queries[0].only(ids)), func(body []byte) ([]byte, error) { return answerQuery(body, started, ids) }
	})
}

// batch answers several queries; all are selected for, or none.
func (p *REST) batch(w http.ResponseWriter, r *http.Request) {
	p.answer(w, r, readBatch, func(queries []query, answers []selectproxy.Answer, started time.Time) ([]byte, func([]byte) ([]byte, error)) {
		ids := make([][]core.ID, len(answers))
		var sent []selectproxy.Fields
		for i, answer := range answers {
			if ids[i] = answer.IDs; len(ids[i]) > 0 {
				sent = append(sent, queries[i].only(ids[i]))
			}
		}
		if len(sent) == 0 {
			return nil, func([]byte) ([]byte, error) { return answerBatch([]byte(`{"result":[],"status":"ok"}`), started, ids) }
		}
		return encode(map[string]any{"searches": sent}), func(body []byte) ([]byte, error) { return answerBatch(body, started, ids) }
	})
}

// answer decides about a request. rewrite returns the body to send to Qdrant, nil where nothing is to be asked, and
// what makes the answer.
func (p *REST) answer(w http.ResponseWriter, r *http.Request, read func([]byte) ([]query, error),
	rewrite func([]query, []selectproxy.Answer, time.Time) ([]byte, func([]byte) ([]byte, error)),
) {
	collection := r.PathValue("collection")
	if !p.deps.Selector.Covers(collection, r.Header.Get) {
		p.pass(w, r)
		return
	}
	started := time.Now()
	var queries []query
	decision := p.deps.Selector.Decide(r.Context(), selectproxy.Request{
		Collection: collection, Header: r.Header.Get, Tenant: p.deps.TenantOf(r),
		Searches: func() ([]selectproxy.Search, error) {
			body, err := p.forward.Read(w, r)
			if err == nil {
				queries, err = read(body)
			}
			if err != nil {
				return nil, err
			}
			return searchesOf(queries, r.URL.Query().Get("consistency"))
		},
	})
	switch {
	case decision.Problem != nil:
		refuse(w, *decision.Problem)
	case !decision.Selected():
		p.forward.Forward(w, r, decision.Skipped)
	default:
		body, change := rewrite(queries, decision.Answers, started)
		if body == nil {
			body, err := change(nil)
			if err != nil {
				refuse(w, selectproxy.Problem{Status: http.StatusInternalServerError, Message: "internal error"})
				return
			}
			selectproxy.Reply(w, decision, body)
			return
		}
		p.forward.ForwardChanged(w, r, selectproxy.Change{Body: body, Labels: decision.Labels(), Answer: func(body []byte) ([]byte, bool, error) {
			changed, err := change(body)
			return changed, true, err
		}})
	}
}

func searchesOf(queries []query, consistency string) ([]selectproxy.Search, error) {
	searches := make([]selectproxy.Search, len(queries))
	for i, query := range queries {
		var err error
		if searches[i], err = query.search(consistency); err != nil {
			return nil, err
		}
	}
	return searches, nil
}

// ErrorBody is an error in Qdrant's shape.
type ErrorBody struct {
	Status ErrorStatus `json:"status"`
	Time   float64     `json:"time"`
}

// ErrorStatus is the content of an [ErrorBody].
type ErrorStatus struct {
	Error string `json:"error"`
}

// NewErrorBody is message as Qdrant would answer it.
func NewErrorBody(message string) ErrorBody { return ErrorBody{Status: ErrorStatus{Error: message}} }

func refuse(w http.ResponseWriter, p selectproxy.Problem) {
	selectproxy.Refuse(w, p, NewErrorBody(p.Message))
}
