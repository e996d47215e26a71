package milvusproxy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/georag/georag/internal/selectproxy"
)

// Deps are what the proxy works with.
type Deps struct {
	Selector *selectproxy.Selector
	// Tenant that the caller of a request is bound to, "" for none; nil binds nobody.
	Tenant func(context.Context) string
	// Credentials of requests on their way to Milvus.
	Credentials selectproxy.Credentials
	Log         *slog.Logger // nil is [slog.Default]
}

// Endpoint is a route of the proxy, in the words of [http.ServeMux].
type Endpoint struct {
	Pattern string
	Handler http.Handler
}

// REST is the proxy of Milvus's REST interface.
type REST struct {
	config  Config
	deps    Deps
	forward *selectproxy.Forwarder
}

// NewREST checks the configuration; it does not connect.
func NewREST(c Config, d Deps) (*REST, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d.Log = cmp.Or(d.Log, slog.Default())
	forward, err := selectproxy.NewForwarder(c.Upstream, d.Credentials, d.Log, refuse)
	return &REST{config: c, deps: d, forward: forward}, err
}

// Endpoints lists the routes. Their handlers read the body themselves and take their turn for a selection only.
func (p *REST) Endpoints() []Endpoint {
	return []Endpoint{
		{"POST /v2/vectordb/entities/search", http.HandlerFunc(p.search)},
		{"POST /v1/vector/search", http.HandlerFunc(p.search)},
		{"/v2/vectordb/", http.HandlerFunc(p.pass)},
		{"/v1/vector/", http.HandlerFunc(p.pass)},
	}
}

// pass passes a request through, unless its caller is bound to a tenant.
func (p *REST) pass(w http.ResponseWriter, r *http.Request) {
	if p.tenant(r) != "" {
		refuse(w, *selectproxy.BoundToTenant())
		return
	}
	p.forward.Forward(w, r, "")
}

func (p *REST) tenant(r *http.Request) string {
	if p.deps.Tenant == nil {
		return ""
	}
	return p.deps.Tenant(r.Context())
}

// search answers a search. Which collection it is of stands in the body, so that is read first wherever any rule or
// the request could ask for a selection.
func (p *REST) search(w http.ResponseWriter, r *http.Request) {
	if len(p.config.Always) == 0 && r.Header.Get(selectproxy.HeaderSelect) == "" {
		p.pass(w, r)
		return
	}
	body, err := p.forward.Read(w, r)
	var asked fields
	if err == nil {
		asked, err = readFields(body)
	}
	decision := p.deps.Selector.Decide(r.Context(), selectproxy.Request{
		Collection: asked.collection(), Header: r.Header.Get, Tenant: p.tenant(r),
		Searches: func() ([]selectproxy.Search, error) {
			if err != nil {
				return nil, err
			}
			one, err := asked.search(p.config, r.Header.Get("DB-Name"))
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
func (p *REST) answer(w http.ResponseWriter, r *http.Request, asked fields, d selectproxy.Decision) {
	ids := d.Answers[0].IDs
	if len(ids) == 0 {
		code := codeDone
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			code = codeDoneV1
		}
		for name, value := range d.Labels() {
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"code":%d,"data":[]}`, code) // a client that has left is in nobody's way
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
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((p.RetryAfter+time.Second-1)/time.Second)))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(NewErrorBody(p.Status, p.Message)) // a client that has left is in nobody's way
}
