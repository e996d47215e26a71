package selectproxy

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"time"
)

// Deps are what a proxy of a REST interface works with.
type Deps struct {
	Selector *Selector
	// Tenant that the caller of a request is bound to, "" for none; nil binds nobody.
	Tenant func(context.Context) string
	// Credentials of requests on their way to the database.
	Credentials Credentials
	Log         *slog.Logger // nil is [slog.Default]
}

// TenantOf is the tenant that the caller of a request is bound to.
func (d Deps) TenantOf(r *http.Request) string {
	if d.Tenant == nil {
		return ""
	}
	return d.Tenant(r.Context())
}

// Endpoint is a route of a proxy, in the words of [http.ServeMux]. Its handler reads the body itself and takes its turn
// for a selection only.
type Endpoint struct {
	Pattern string
	Handler http.Handler
}

// Refuse answers a problem with a body in the database's shape.
func Refuse(w http.ResponseWriter, p Problem, body any) {
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((p.RetryAfter+time.Second-1)/time.Second)))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(body) // a client that has left is in nobody's way
}

// Reply answers with a selection for which the database need not be asked.
func Reply(w http.ResponseWriter, d Decision, body []byte) {
	for name, value := range d.Labels() {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // a client that has left is in nobody's way
}
