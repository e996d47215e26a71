package eino

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/document"
	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/schema"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/memstore"
)

// TransformerConfig says how a [Transformer] selects. One of the embedders is required.
type TransformerConfig struct {
	// Embedding embeds the question, its sub-queries, and documents without a dense vector.
	Embedding embedding.Embedder
	// Embedder is the same as georag knows it; it wins over Embedding.
	Embedder core.Embedder
	// Writer writes sub-queries; nil leaves them to [WithParts].
	Writer core.SubQueryWriter
	// Settings of the selection; the zero value is [core.DefaultPreset]. The pool is always the documents given.
	Settings core.Settings
	// Timeout bounds one call. 0 is 10 s.
	Timeout time.Duration
}

// Validate reports what is missing or out of its range; the error wraps [core.ErrInvalid].
func (c TransformerConfig) Validate() error {
	switch {
	case c.Embedding == nil && c.Embedder == nil:
		return fmt.Errorf("integrations/eino: %w: there is no embedder", core.ErrInvalid)
	case c.Timeout < 0:
		return fmt.Errorf("integrations/eino: %w: timeout is %s, want 0 or more", core.ErrInvalid, c.Timeout)
	case c.Settings != core.Settings{}:
		return c.Settings.Validate()
	}
	return nil
}

// Transformer keeps, of the documents another retriever found, those that together cover what a question needs. It is
// safe for concurrent use.
type Transformer struct {
	config TransformerConfig
	stage  core.Stage
}

var (
	_ document.Transformer = (*Transformer)(nil)
	_ components.Typer     = (*Transformer)(nil)
	_ components.Checker   = (*Transformer)(nil)
)

// NewTransformer checks the configuration.
func NewTransformer(c TransformerConfig) (*Transformer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	if c.Embedder == nil {
		c.Embedder = embedder{c.Embedding}
	}
	t := &Transformer{config: c, stage: core.Stage{Settings: c.Settings}}
	t.stage.Settings = settingsOf(&t.stage)
	t.stage.Settings.Pool = core.PoolDense
	t.stage.Planner = core.Planner{Embedder: c.Embedder, Writer: c.Writer}
	return t, nil
}

// GetType implements [components.Typer].
func (t *Transformer) GetType() string { return "Georag" }

// IsCallbacksEnabled implements [components.Checker]: Transform runs the callbacks itself.
func (t *Transformer) IsCallbacksEnabled() bool { return true }

// Transform returns the selected documents in selection order, unchanged. [WithQuestion] is required. Documents that
// bring a dense vector, as [Retriever]'s do, are not embedded again.
func (t *Transformer) Transform(ctx context.Context, src []*schema.Document, opts ...document.TransformerOption) (kept []*schema.Document, err error) {
	ctx = callbacks.EnsureRunInfo(ctx, t.GetType(), components.ComponentOfTransformer)
	ctx = callbacks.OnStart(ctx, &document.TransformerCallbackInput{Input: src})
	defer func() {
		if err != nil {
			callbacks.OnError(ctx, err)
		}
	}()
	own := document.GetTransformerImplSpecificOptions(&transformerOptions{k: t.stage.Settings.K}, opts...)
	selection, err := t.choose(ctx, src, own)
	if err != nil {
		return nil, err
	}
	kept = make([]*schema.Document, len(selection.Items))
	for i, item := range selection.Items {
		at, _ := item.ID.Int()
		kept[i] = src[at]
	}
	callbacks.OnEnd(ctx, &document.TransformerCallbackOutput{Output: kept, Extra: map[string]any{ExtraTrace: selection.Trace}})
	return kept, nil
}

// choose selects among the documents; the IDs of its items are their positions.
func (t *Transformer) choose(ctx context.Context, src []*schema.Document, own *transformerOptions) (core.Selection, error) {
	switch {
	case own.question == "":
		return core.Selection{}, fmt.Errorf("integrations/eino: %w: the question is missing; give WithQuestion", core.ErrInvalid)
	case own.k < 1 || own.k > core.MaxK:
		return core.Selection{}, fmt.Errorf("integrations/eino: %w: k is %d, want 1 to %d", core.ErrInvalid, own.k, core.MaxK)
	case len(src) == 0:
		return core.Selection{}, nil
	case len(src) > core.MaxCandidates:
		return core.Selection{}, fmt.Errorf("integrations/eino: %w: there are %d documents, want at most %d", core.ErrInvalid, len(src), core.MaxCandidates)
	}
	ctx, cancel := context.WithTimeout(ctx, t.config.Timeout)
	defer cancel()
	texts, vectors, err := t.vectors(ctx, src)
	if err != nil {
		return core.Selection{}, err
	}
	stage := t.stage
	stage.Store = memstore.New(texts, vectors)
	stage.Settings.K, stage.Settings.Candidates = own.k, max(own.k, len(src))
	selection, err := stage.Select(ctx, core.Query{Text: own.question, SubQueries: own.subQueries})
	if err != nil {
		return selection, fmt.Errorf("integrations/eino: %w", err)
	}
	return selection, nil
}

// vectors returns the texts and vectors of the documents; those that bring none are embedded in one call.
func (t *Transformer) vectors(ctx context.Context, src []*schema.Document) (texts []string, vectors [][]float32, err error) {
	texts, vectors = make([]string, len(src)), make([][]float32, len(src))
	var missing []int
	var toEmbed []string
	for i, d := range src {
		if d == nil {
			return nil, nil, fmt.Errorf("integrations/eino: %w: document %d is nil", core.ErrInvalid, i)
		}
		texts[i] = d.Content
		if v := d.DenseVector(); v != nil {
			vectors[i] = narrow(v)
			continue
		}
		missing, toEmbed = append(missing, i), append(toEmbed, d.Content)
	}
	if len(missing) == 0 {
		return texts, vectors, nil
	}
	made, err := t.config.Embedder.EmbedPassages(ctx, toEmbed)
	if err == nil && len(made) != len(toEmbed) {
		err = fmt.Errorf("%w: %d vectors for %d documents", core.ErrUnavailable, len(made), len(toEmbed))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("integrations/eino: embed documents: %w", err)
	}
	for n, i := range missing {
		vectors[i] = made[n]
	}
	return texts, vectors, nil
}
