package openai

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	openaisdk "github.com/openai/openai-go/v3"
	"golang.org/x/sync/errgroup"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
	"github.com/georag/georag/internal/modelhttp"
	"github.com/georag/georag/internal/retry"
)

// Defaults of [EmbedderConfig].
const (
	DefaultBatchSize      = 128
	DefaultQueryTimeout   = 10 * time.Second
	DefaultPassageTimeout = time.Minute
)

// Encoding is how vectors travel.
type Encoding string

const (
	// EncodingAuto asks for base64 and, where the server refuses that, for numbers from then on.
	EncodingAuto   Encoding = ""
	EncodingBase64 Encoding = "base64"
	EncodingFloat  Encoding = "float"
)

// EmbedderConfig sets up an [Embedder]. Model is required.
type EmbedderConfig struct {
	// Config says where the server is. Timeout bounds a call for queries; 0 is 10 s.
	modelhttp.Config `koanf:",squash"`
	// PassageTimeout bounds the call for one batch of passages; 0 is one minute.
	PassageTimeout time.Duration `koanf:"passage_timeout"`

	Model string `koanf:"model"`
	// Dimensions asks a model that can shorten its vectors for that many components; 0 is the model's own.
	Dimensions int `koanf:"dimensions"`
	// BatchSize is how many texts go into one request; 0 is 128, at most 2,048.
	BatchSize int `koanf:"batch_size"`
	// Concurrency is how many requests for passages are under way at once; 0 is 1, at most 64.
	Concurrency int `koanf:"concurrency"`
	// Prefix is what the model expects before queries and passages.
	Prefix PrefixConfig `koanf:"prefix"`
	// Normalise scales the vectors to length 1. Selection uses cosines and does not need it; a collection whose
	// metric is the dot product may.
	Normalise bool `koanf:"normalise"`
	// Encoding is "" (base64 where the server takes it), "base64" or "float".
	Encoding Encoding `koanf:"encoding"`
}

// Validate reports a setting out of its range; the error wraps [core.ErrInvalid].
func (c EmbedderConfig) Validate() error {
	if err := c.Config.Validate(); err != nil {
		return err
	}
	if err := c.Prefix.Validate(); err != nil {
		return err
	}
	switch {
	case c.Model == "":
		return fmt.Errorf("adapters/openai: embedder model: %w: must be set", core.ErrInvalid)
	case c.Dimensions < 0 || c.Dimensions > 65536:
		return fmt.Errorf("adapters/openai: dimensions %d: %w: must be in [0, 65536]", c.Dimensions, core.ErrInvalid)
	case c.BatchSize < 0 || c.BatchSize > 2048:
		return fmt.Errorf("adapters/openai: batch_size %d: %w: must be in [0, 2048]", c.BatchSize, core.ErrInvalid)
	case c.Concurrency < 0 || c.Concurrency > 64:
		return fmt.Errorf("adapters/openai: concurrency %d: %w: must be in [0, 64]", c.Concurrency, core.ErrInvalid)
	case c.PassageTimeout < 0:
		return fmt.Errorf("adapters/openai: passage_timeout %v: %w: must not be negative", c.PassageTimeout, core.ErrInvalid)
	case !slices.Contains([]Encoding{EncodingAuto, EncodingBase64, EncodingFloat}, c.Encoding):
		return fmt.Errorf("adapters/openai: encoding %q: %w: must be base64, float or empty", c.Encoding, core.ErrInvalid)
	}
	return nil
}

// Embedder asks an OpenAI-compatible server for embeddings. It is safe for concurrent use.
type Embedder struct {
	config    EmbedderConfig
	prefix    prefixPair
	client    *modelhttp.Client
	service   openaisdk.EmbeddingService
	passages  *retry.Retrier
	plainOnly atomic.Bool // the server refused base64 once
}

var _ core.Embedder = (*Embedder)(nil)

// NewEmbedder prepares an Embedder; nothing is sent yet.
func NewEmbedder(c EmbedderConfig) (*Embedder, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	client, options, err := connect(c.Config, DefaultQueryTimeout)
	if err != nil {
		return nil, fmt.Errorf("adapters/openai: embedder: %w", err)
	}
	policy := c.Policy
	policy.Timeout = cmp.Or(c.PassageTimeout, DefaultPassageTimeout)
	passages, err := retry.New(policy)
	if err != nil {
		return nil, fmt.Errorf("adapters/openai: embedder: %w", err)
	}
	c.BatchSize = cmp.Or(c.BatchSize, DefaultBatchSize)
	c.Concurrency = cmp.Or(c.Concurrency, 1)
	e := &Embedder{config: c, prefix: c.Prefix.resolve(), client: client, service: openaisdk.NewEmbeddingService(options...), passages: passages}
	e.plainOnly.Store(c.Encoding == EncodingFloat)
	return e, nil
}

// Model is the configured model name.
func (e *Embedder) Model() string { return e.config.Model }

// Fingerprint tells apart embedders that give different vectors for the same text, for the keys of a cache.
func (e *Embedder) Fingerprint() string {
	return fmt.Sprintf("%s %s d=%d unit=%t q=%q p=%q", e.client.BaseURL(), e.config.Model, e.config.Dimensions, e.config.Normalise, e.prefix.query, e.prefix.passage)
}

// Close ends idle connections.
func (e *Embedder) Close() error { return e.client.Close() }

// Dimension asks the model for one vector and returns its length, to be compared with the collection's.
func (e *Embedder) Dimension(ctx context.Context) (int, error) {
	vectors, err := e.EmbedQueries(ctx, []string{"dimension"})
	if err != nil {
		return 0, err
	}
	return len(vectors[0]), nil
}

// CheckDimension compares the length of the model's vectors with the collection's, so that a wrong model is told at
// start rather than by the first question; the error wraps [core.ErrDimension].
func (e *Embedder) CheckDimension(ctx context.Context, collection int) error {
	dimension, err := e.Dimension(ctx)
	if err == nil && dimension != collection {
		err = fmt.Errorf("adapters/openai: %w: %s makes vectors of %d components and the collection holds %d; it was built with another model, or needs dimensions: %d", core.ErrDimension, e.config.Model, dimension, collection, collection)
	}
	return err
}

// EmbedQueries implements [core.Embedder]. It takes at most 0.7 of the time to ctx's deadline, because the search comes
// after it. Errors are those of [Embedder.EmbedPassages].
func (e *Embedder) EmbedQueries(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := modelhttp.Share(ctx, deadlineShare)
	defer cancel()
	return e.embed(ctx, e.client.Retrier(), e.prefix.query, texts)
}

// EmbedPassages implements [core.Embedder]. Errors wrap [core.ErrUnavailable], [core.ErrUnauthorized],
// [core.ErrNotFound], [core.ErrInvalid] or [context.DeadlineExceeded]; where the answer itself is at fault,
// [ErrAnswer], [core.ErrDimension], [core.ErrNotFinite] or [core.ErrZero].
func (e *Embedder) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	return e.embed(ctx, e.passages, e.prefix.passage, texts)
}

func (e *Embedder) embed(ctx context.Context, retrier *retry.Retrier, prefix string, texts []string) ([][]float32, error) {
	inputs := make([]string, len(texts))
	for i, text := range texts {
		if text == "" {
			return nil, fmt.Errorf("adapters/openai: embed text %d of %d: %w: it is empty", i+1, len(texts), core.ErrInvalid)
		}
		inputs[i] = prefix + text
	}
	vectors := make([][]float32, len(inputs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(e.config.Concurrency)
	start := 0
	for batch := range slices.Chunk(inputs, e.config.BatchSize) {
		dst := vectors[start : start+len(batch)]
		start += len(batch)
		group.Go(func() error { return e.embedBatch(ctx, retrier, dst, batch) })
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("adapters/openai: embed %d texts with %s: %w", len(texts), e.config.Model, err)
	}
	if err := e.checkDimensions(vectors); err != nil {
		return nil, err
	}
	return vectors, nil
}

// checkDimensions finds vectors that differ in length between batches, or from what was asked for.
func (e *Embedder) checkDimensions(vectors [][]float32) error {
	want := e.config.Dimensions
	for i, v := range vectors {
		want = cmp.Or(want, len(v))
		if len(v) != want {
			return fmt.Errorf("adapters/openai: embed with %s: %w: vector %d has %d components, not %d", e.config.Model, core.ErrDimension, i, len(v), want)
		}
	}
	return nil
}

// embedBatch fills dst with the vectors of batch. Where the server refuses base64 it asks again for numbers, once.
func (e *Embedder) embedBatch(ctx context.Context, retrier *retry.Retrier, dst [][]float32, batch []string) error {
	base64 := !e.plainOnly.Load()
	res, err := e.request(ctx, retrier, batch, base64)
	if base64 && e.config.Encoding == EncodingAuto && rejected(err) {
		if res, err = e.request(ctx, retrier, batch, false); err == nil {
			e.plainOnly.Store(true)
		}
	}
	if err != nil {
		return err
	}
	if err := order(dst, res.Data); err != nil {
		return err
	}
	for i, v := range dst {
		if err := vec.Check(v, len(v)); err != nil {
			return fmt.Errorf("text %d: %w", i, err)
		}
		if e.config.Normalise {
			vec.Normalise(v, v)
		}
	}
	return nil
}

func (e *Embedder) request(ctx context.Context, retrier *retry.Retrier, batch []string, base64 bool) (*openaisdk.CreateEmbeddingResponse, error) {
	params := openaisdk.EmbeddingNewParams{
		Model:          e.config.Model,
		Input:          openaisdk.EmbeddingNewParamsInputUnion{OfArrayOfStrings: batch},
		EncodingFormat: openaisdk.EmbeddingNewParamsEncodingFormatFloat,
	}
	if base64 {
		params.EncodingFormat = openaisdk.EmbeddingNewParamsEncodingFormatBase64
	}
	if e.config.Dimensions > 0 {
		params.Dimensions = openaisdk.Int(int64(e.config.Dimensions))
	}
	res, err := retry.Do(ctx, retrier, func(ctx context.Context) (*openaisdk.CreateEmbeddingResponse, error) {
		return e.service.New(ctx, params)
	}, modelhttp.Classify)
	return res, unusable(err, e.client.Key())
}
