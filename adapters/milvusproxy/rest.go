package milvusproxy

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/georag/georag/internal/selectproxy"
)

// REST is the proxy of Milvus's REST interface.
type REST struct {
	config  Config
	deps    selectproxy.Deps
	forward *selectproxy.Forwarder
}

// NewREST checks the configuration; it does not connect.
func NewREST(c Config, d selectproxy.Deps) (*REST, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	forward, err := selectproxy.NewForwarder(c.Upstream, d.Credentials, d.Log, refuse)
	return &REST{config: c, deps: d, forward: forward}, err
}

// Endpoints lists the routes.
func (p *REST) Endpoints() []selectproxy.Endpoint {
	return []selectproxy.Endpoint{
		{Pattern: "POST /v2/vectordb/entities/search", Handler: http.HandlerFunc(p.search)},
		{Pattern: "POST /v1/vector/search", Handler: http.HandlerFunc(p.search)},
		{Pattern: "/v2/vectordb/", Handler: http.HandlerFunc(p.pass)},
		{Pattern: "/v1/vector/", Handler: http.HandlerFunc(p.pass)},
	}
}

// pass passes a request through, unless its caller is bound to a tenant.
func (p *REST) pass(w http.ResponseWriter, r *http.Request) {
	if p.deps.TenantOf(r) != "" {
		refuse(w, *selectproxy.BoundToTenant())
		return
	}
	p.forward.Forward(w, r, "")
}

// search answers a search. Which collection it is of stands in the body, so that is read first wherever any rule or
// the request could ask for a selection.
func (p *REST) search(w http.ResponseWriter, r *http.Request) {
	if len(p.config.Always) == 0 && r.Header.Get(selectproxy.HeaderSelect) == "" {
		p.pass(w, r)
		return
	}
	body, err := p.forward.Read(w, r)
	var asked search
	if err == nil {
		asked, err = readSearch(body)
	}
	decision := p.deps.Selector.Decide(r.Context(), selectproxy.Request{
		Collection: asked.collection(), Header: r.Header.Get, Tenant: p.deps.TenantOf(r),
		Searches: func() ([]selectproxy.Search, error) {
			if err != nil {
				return nil, err
			}
			one, err := asked.query(p.config, r.Header.Get("DB-Name"))
			return []selectproxy.Search{one}, err
		},
	})
	switch {
	case decision.Problem != nil:
		refuse(w, *decision.Problem)
	case !decision.Selected():
		p.forward.Forward(w, r, decision.Skipped)
	default:
		p.answer(w, r, asked, decision)
	}
}

// answer asks Milvus for the selected rows and sends them in selection order.
func (p *REST) answer(w http.ResponseWriter, r *http.Request, asked search, d selectproxy.Decision) {
	ids := d.Answers[0].IDs
	if len(ids) == 0 {
		code := codeDone
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			code = codeDoneV1
		}
		selectproxy.Reply(w, d, fmt.Appendf(nil, `{"code":%d,"data":[]}`, code))
		return
	}
	body, err := asked.only(p.config.idField(), ids)
	if err != nil {
		refuse(w, selectproxy.Problem{Status: http.StatusBadRequest, Message: err.Error()})
		return
	}
	p.forward.ForwardChanged(w, r, selectproxy.Change{Body: body, Labels: d.Labels(), Answer: func(body []byte) ([]byte, bool, error) {
		return inOrder(body, ids)
	}})
}

// ErrorBody is an error in Milvus's shape.
type ErrorBody struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// NewErrorBody is an error as Milvus would tell it; status is that of HTTP.
func NewErrorBody(status int, message string) ErrorBody {
	code, known := map[int]int{
		http.StatusBadRequest: 1100, http.StatusUnauthorized: 1800, http.StatusForbidden: 1800, http.StatusTooManyRequests: 1807,
		http.StatusRequestEntityTooLarge: 1801,
	}[status]
	if !known {
		code = 65535 // what Milvus has no code for
	}
	return ErrorBody{Code: code, Message: message}
}

func refuse(w http.ResponseWriter, p selectproxy.Problem) {
	selectproxy.Refuse(w, p, NewErrorBody(p.Status, p.Message))
}
