package modelhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/retry"
	"github.com/georag/georag/internal/secret"
)

// maxBody bounds an answer: 2,048 vectors of 4,096 floats in JSON stay below it.
const maxBody = 256 << 20

// Client sends requests to one server. It is safe for concurrent use.
type Client struct {
	base    *url.URL
	key     secret.Secret
	http    *http.Client
	retrier *retry.Retrier
}

// New reads the key and prepares the connection; nothing is sent yet. An empty base_url is fallbackURL, and a zero
// timeout fallbackTimeout.
func New(c Config, fallbackURL string, fallbackTimeout time.Duration) (*Client, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.BaseURL == "" {
		c.BaseURL = fallbackURL
	}
	base, err := parseBase(c.BaseURL)
	if err != nil {
		return nil, err
	}
	if base == nil {
		return nil, fmt.Errorf("internal/modelhttp: base_url: %w: must be set", core.ErrInvalid)
	}
	if c.Timeout == 0 {
		c.Timeout = fallbackTimeout
	}
	retrier, err := retry.New(c.Policy)
	if err != nil {
		return nil, err
	}
	key, err := c.Source.Load()
	if err != nil {
		return nil, err
	}
	return &Client{base: base, key: key, http: newHTTPClient(), retrier: retrier}, nil
}

// newHTTPClient has connections of its own, so that Close can end them, and follows no redirect: a request with a
// key goes where the configuration says and nowhere else.
func newHTTPClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	return &http.Client{
		Transport:     boundedBodies{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// BaseURL is the server's address without a trailing slash.
func (c *Client) BaseURL() string { return c.base.String() }

// Key is the key to send, or the zero Secret.
func (c *Client) Key() secret.Secret { return c.key }

// HTTP is the client's net/http client, for libraries that send requests themselves.
func (c *Client) HTTP() *http.Client { return c.http }

// Retrier is the client's deadline and retry budget.
func (c *Client) Retrier() *retry.Retrier { return c.retrier }

// Close ends idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// PostJSON sends in to path below the base URL, with the key as a bearer token, and decodes the answer into out.
// It retries what [Classify] says is worth it. Errors are *StatusError, wrap [core.ErrUnavailable] where the server
// could not be reached, or [context.DeadlineExceeded] where it took too long.
func (c *Client) PostJSON(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("internal/modelhttp: encode the request: %w", err)
	}
	answer, err := retry.Do(ctx, c.retrier, func(ctx context.Context) ([]byte, error) { return c.post(ctx, path, body) }, Classify)
	if err != nil {
		return Wrap(err)
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("internal/modelhttp: the answer is not the JSON that this API gives (is the api setting right?): %w", err)
	}
	return nil
}

func (c *Client) post(ctx context.Context, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.String()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if !c.key.IsZero() {
		req.Header.Set("Authorization", "Bearer "+c.key.Reveal())
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if err := Check(res, c.key); err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}

// Share returns a context that ends when the given share, in (0, 1), of the time to ctx's deadline has passed, so that
// what falls back when the call is too slow still has time to do so. Without a deadline it is ctx with a cancel.
func Share(ctx context.Context, share float64) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(share*float64(time.Until(deadline))))
}

// boundedBodies ends a body that never stops with an error instead of filling the memory.
type boundedBodies struct{ next http.RoundTripper }

func (b boundedBodies) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(req)
	if err == nil {
		res.Body = &boundedBody{ReadCloser: res.Body, left: maxBody}
	}
	return res, err
}

// CloseIdleConnections lets [http.Client.CloseIdleConnections] reach the transport.
func (b boundedBodies) CloseIdleConnections() {
	if transport, ok := b.next.(*http.Transport); ok {
		transport.CloseIdleConnections()
	}
}

type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return 0, fmt.Errorf("internal/modelhttp: the answer is larger than %d bytes", maxBody)
	}
	return n, err
}
