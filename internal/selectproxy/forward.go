package selectproxy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// dialTimeout bounds connecting to the database.
const dialTimeout = 5 * time.Second

// idleBody is how long a client may pause while it sends a body that passes through.
const idleBody = 30 * time.Second

// Forwarder passes requests through to a database's HTTP interface.
type Forwarder struct {
	proxy   httputil.ReverseProxy
	maxBody int
}

// Credentials says which headers carry a client's key, and which one this service sends in their place.
type Credentials struct {
	// Replace is set where clients present keys of this service: none of those reaches the database.
	Replace bool
	// Name and Value are the header of this service's own key at the database; "" is none.
	Name, Value string
}

// keyHeaders are those in which a client may present a key.
var keyHeaders = []string{"Authorization", "Api-Key", "X-Api-Key"}

// NewForwarder makes a forwarder. refuse answers in the database's protocol where the database cannot be reached.
func NewForwarder(u Upstream, credentials Credentials, log *slog.Logger, refuse func(http.ResponseWriter, Problem)) (*Forwarder, error) {
	if err := u.Validate(); err != nil {
		return nil, err
	}
	target, err := url.Parse(u.URL)
	if err != nil {
		return nil, err
	}
	secure, err := u.tlsConfig()
	if err != nil {
		return nil, err
	}
	log = cmp.Or(log, slog.Default())
	f := &Forwarder{maxBody: u.maxBody()}
	f.proxy = httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { rewrite(r, target, credentials) },
		Transport: &http.Transport{
			DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSClientConfig:       secure,
			TLSHandshakeTimeout:   dialTimeout,
			ResponseHeaderTimeout: cmp.Or(u.Timeout, DefaultUpstreamTimeout),
			MaxIdleConnsPerHost:   64,
			IdleConnTimeout:       90 * time.Second,
			DisableCompression:    true, // the client's Accept-Encoding decides
		},
		FlushInterval:  -1,
		ModifyResponse: modify,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			refuse(w, unreachable(r.Context(), err))
		},
	}
	return f, nil
}

// rewrite changes as little as can be: where the request goes, what belongs to this hop, and whose key it carries.
func rewrite(r *httputil.ProxyRequest, target *url.URL, credentials Credentials) {
	r.SetURL(target)
	r.Out.URL.RawQuery = r.In.URL.RawQuery // also what the proxy would clean up is the database's to judge
	r.SetXForwarded()
	r.Out.Header.Del("Upgrade") // the connection to the client cannot be taken over
	r.Out.Header.Del("Connection")
	for _, name := range []string{HeaderSelect, HeaderQuery, HeaderTenant} {
		r.Out.Header.Del(name)
	}
	if credentials.Replace {
		for _, name := range keyHeaders {
			r.Out.Header.Del(name)
		}
		if credentials.Value != "" {
			r.Out.Header.Set(credentials.Name, credentials.Value)
		}
	}
	if changed := changeOf(r.In.Context()); changed != nil {
		r.Out.Header.Set("Accept-Encoding", "identity") // the answer is to be read
	}
}

// unreachable tells why the database gave no answer, without its address.
func unreachable(ctx context.Context, err error) Problem {
	var late net.Error
	var bad *badAnswer
	switch {
	case errors.As(err, &bad):
		return Problem{Status: http.StatusBadGateway, Message: bad.Error()}
	case ctx.Err() != nil, errors.As(err, &late) && late.Timeout():
		return Problem{Status: http.StatusGatewayTimeout, Message: "the database did not answer in time"}
	}
	return Problem{Status: http.StatusBadGateway, Message: "the database cannot be reached"}
}

// Forward passes a request through and streams the answer. skipped, where it is not empty, is why the answer is no
// selection.
func (f *Forwarder) Forward(w http.ResponseWriter, r *http.Request, skipped string) {
	if skipped != "" {
		w.Header().Set(HeaderSkipped, skipped)
	}
	f.forward(w, r)
}

func (f *Forwarder) forward(w http.ResponseWriter, r *http.Request) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &patient{ReadCloser: r.Body, connection: http.NewResponseController(w)}
	}
	f.proxy.ServeHTTP(w, r)
}

// Change replaces a request's body on its way to the database, and the body of a successful answer on its way back.
type Change struct {
	Body []byte
	// Answer returns what is sent for the database's answer; ok is false where that is a refusal, sent as it is.
	Answer func(body []byte) (changed []byte, ok bool, err error)
	// Labels are the headers of a changed answer.
	Labels map[string]string
	most   int
}

type changeKey struct{}

func changeOf(ctx context.Context) *Change {
	c, _ := ctx.Value(changeKey{}).(*Change)
	return c
}

// ForwardChanged passes a request through with another body and changes the answer.
func (f *Forwarder) ForwardChanged(w http.ResponseWriter, r *http.Request, c Change) {
	c.most = answerFactor * f.maxBody
	r = r.WithContext(context.WithValue(r.Context(), changeKey{}, &c))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(c.Body)), int64(len(c.Body))
	r.TransferEncoding = nil
	r.Header = r.Header.Clone()
	r.Header.Set("Content-Length", strconv.Itoa(len(c.Body)))
	f.forward(w, r)
}

// answerFactor is how much longer than a request an answer may be: it holds the passages' vectors and payloads.
const answerFactor = 16

// badAnswer is an answer of the database that is not what its protocol says.
type badAnswer struct{ err error }

func (b *badAnswer) Error() string {
	return "the database's answer cannot be put in selection order: " + b.err.Error()
}

// modify changes the answers of changed requests. What is no success passes as it is, and is then no selection.
func modify(response *http.Response) error {
	change := changeOf(response.Request.Context())
	if change == nil || response.StatusCode != http.StatusOK {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(change.most)+1))
	_ = response.Body.Close()
	switch {
	case err != nil:
		return &badAnswer{err}
	case len(body) > change.most:
		return &badAnswer{fmt.Errorf("it is longer than %d bytes; raise max_body", change.most)}
	}
	changed, ok, err := change.Answer(body)
	switch {
	case err != nil:
		return &badAnswer{err}
	case ok:
		body = changed
		for name, value := range change.Labels {
			response.Header.Set(name, value)
		}
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	response.TransferEncoding = nil
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// Read reads a request's body to decide about it. What comes back in r passes through as it came, whatever the error.
func (f *Forwarder) Read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, &Unsupported{"Content-Encoding", "the body is compressed"}
	}
	if r.ContentLength > int64(f.maxBody) {
		return nil, &TooLarge{f.maxBody}
	}
	source := &patient{ReadCloser: r.Body, connection: http.NewResponseController(w)}
	body, err := io.ReadAll(io.LimitReader(source, int64(f.maxBody)+1))
	switch {
	case err != nil:
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), failing{err}), r.Body}
		return nil, &Malformed{"the body is cut off"}
	case len(body) > f.maxBody:
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
		return nil, &TooLarge{f.maxBody}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

// failing is a body that broke off.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// patient is a body that may take long as a whole, and not between one piece and the next.
type patient struct {
	io.ReadCloser
	connection *http.ResponseController
}

func (p *patient) Read(data []byte) (int, error) {
	_ = p.connection.SetReadDeadline(time.Now().Add(idleBody)) // recorders have no connection
	n, err := p.ReadCloser.Read(data)
	if err != nil {
		_ = p.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}

// CarriesKey reports whether a client may present a key in the header of this name.
func CarriesKey(name string) bool { return slices.Contains(keyHeaders, http.CanonicalHeaderKey(name)) }
