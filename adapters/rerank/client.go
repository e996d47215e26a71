package rerank

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/modelhttp"
)

// ErrAnswer: the server answered, and the answer cannot be used.
var ErrAnswer = errors.New("unusable answer")

// Client asks a reranking model for scores. It is safe for concurrent use.
type Client struct {
	config  Config
	dialect dialect
	http    *modelhttp.Client
}

var _ core.Reranker = (*Client)(nil)

// New prepares a client; nothing is sent yet.
func New(c Config) (*Client, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d := dialects[c.API]
	client, err := modelhttp.New(c.Config, d.base, DefaultTimeout)
	if err != nil {
		return nil, fmt.Errorf("adapters/rerank: %w", err)
	}
	c.Concurrency = cmp.Or(c.Concurrency, 4)
	return &Client{config: c, dialect: d, http: client}, nil
}

// Model is the configured model, or the API where it serves one model only.
func (c *Client) Model() string { return cmp.Or(c.config.Model, string(c.config.API)) }

// Close ends idle connections.
func (c *Client) Close() error { return c.http.Close() }

// Rerank implements [core.Reranker]: one score for each passage, in their order, higher is better, on the server's own
// scale. Errors wrap [core.ErrUnavailable], [core.ErrUnauthorized], [core.ErrNotFound], [core.ErrInvalid],
// [context.DeadlineExceeded], [core.ErrNotFinite] or [ErrAnswer].
func (c *Client) Rerank(ctx context.Context, query string, passages []string) ([]float64, error) {
	ctx, cancel := modelhttp.Share(ctx, deadlineShare)
	defer cancel()
	scores := make([]float64, len(passages))
	err := inBatches(ctx, c.config.Concurrency, c.config.batchSize(), passages, func(ctx context.Context, start int, batch []string) error {
		return c.rerank(ctx, scores[start:start+len(batch)], query, batch)
	})
	if err != nil {
		return nil, fmt.Errorf("adapters/rerank: score %d passages with %s: %w", len(passages), c.Model(), err)
	}
	return scores, nil
}

func (c *Client) rerank(ctx context.Context, dst []float64, query string, batch []string) error {
	var answer json.RawMessage
	if err := c.http.PostJSON(ctx, c.dialect.path, c.dialect.request(c.config, query, batch), &answer); err != nil {
		return err
	}
	scores, err := c.dialect.decode(answer)
	if err != nil {
		return err
	}
	return align(dst, scores)
}

// align puts each score at the place that its index names. Every place must be named once.
func align(dst []float64, scores []score) error {
	named := make([]bool, len(dst))
	for _, s := range scores {
		switch {
		case s.index == nil || s.value == nil:
			return fmt.Errorf("%w: a score without an index, or an index without a score", ErrAnswer)
		case *s.index < 0 || *s.index >= len(dst):
			return fmt.Errorf("%w: index %d among %d passages", ErrAnswer, *s.index, len(dst))
		case named[*s.index]:
			return fmt.Errorf("%w: index %d comes twice", ErrAnswer, *s.index)
		case math.IsNaN(*s.value) || math.IsInf(*s.value, 0):
			return fmt.Errorf("%w: the score of passage %d is %v", core.ErrNotFinite, *s.index, *s.value)
		}
		named[*s.index], dst[*s.index] = true, *s.value
	}
	if missing := slices.Index(named, false); missing >= 0 {
		return fmt.Errorf("%w: no score for passage %d; %d scores for %d passages", ErrAnswer, missing, len(scores), len(dst))
	}
	return nil
}

// inBatches calls do for consecutive parts of items, several at once, and ends the others when one fails.
func inBatches[T any](ctx context.Context, concurrency, size int, items []T, do func(ctx context.Context, start int, batch []T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	start := 0
	for batch := range slices.Chunk(items, size) {
		at := start
		start += len(batch)
		group.Go(func() error { return do(ctx, at, batch) })
	}
	return group.Wait()
}
