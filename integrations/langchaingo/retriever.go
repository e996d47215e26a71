// Package langchaingo gives georag to programs built with LangChainGo (github.com/tmc/langchaingo): [Retriever] is a
// schema.Retriever whose documents are the passages that together cover what a question needs.
package langchaingo

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/schema"

	"github.com/georag/georag/core"
)

// Keys of a document's metadata beside those of the passage's own payload.
const (
	MetaID     = "georag_id"     // string: the passage's identifier, for which LangChainGo has no place
	MetaCovers = "georag_covers" // []string: the sub-queries it answers
)

// Config says what a [Retriever] searches. Only Stage is required.
type Config struct {
	// Stage selects. It needs an embedder.
	Stage *core.Stage
	// TopK is how many documents are wanted; 0 is the stage's own k.
	TopK int
	// ScoreThreshold is the least cosine of a document; nil is none. Documents below it are left out of the selection.
	ScoreThreshold *float64
	// Scope restricts every search: condition, tenant, partitions.
	Scope core.Scope
	// SubQueries replace those that the stage's writer would write.
	SubQueries []string
	// Timeout bounds one call. 0 is 10 s.
	Timeout time.Duration
	// Callbacks are told of the start and end of every call; nil is nobody.
	Callbacks callbacks.Handler
	// Trace is called with the trace of every selection, which tells why each passage was chosen and what was
	// degraded; nil is nobody.
	Trace func(ctx context.Context, question string, trace core.Trace)
}

// Validate reports what is missing or out of its range; the error wraps [core.ErrInvalid].
func (c Config) Validate() error {
	switch {
	case c.Stage == nil || c.Stage.Store == nil:
		return fmt.Errorf("integrations/langchaingo: %w: there is no stage with a store", core.ErrInvalid)
	case c.TopK < 0:
		return fmt.Errorf("integrations/langchaingo: %w: TopK is %d, want 0 or more", core.ErrInvalid, c.TopK)
	case c.ScoreThreshold != nil && !(*c.ScoreThreshold >= -1 && *c.ScoreThreshold <= 1):
		return fmt.Errorf("integrations/langchaingo: %w: ScoreThreshold is %v, want -1 to 1", core.ErrInvalid, *c.ScoreThreshold)
	case c.Timeout < 0:
		return fmt.Errorf("integrations/langchaingo: %w: timeout is %s, want 0 or more", core.ErrInvalid, c.Timeout)
	}
	return c.settings().Validate()
}

// settings are those of the stage with what the configuration changes.
func (c Config) settings() core.Settings {
	s := c.Stage.Settings
	if s == (core.Settings{}) {
		s = core.DefaultPreset()
	}
	if c.TopK > 0 {
		s.K, s.Candidates = c.TopK, max(s.Candidates, c.TopK)
	}
	return s
}

// Retriever is safe for concurrent use.
type Retriever struct {
	config Config
	stage  core.Stage
}

var _ schema.Retriever = (*Retriever)(nil)

// New checks the configuration.
func New(c Config) (*Retriever, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	stage := *c.Stage
	stage.Settings = c.settings()
	return &Retriever{config: c, stage: stage}, nil
}

// GetRelevantDocuments returns the selected passages in selection order. A document's content is the passage's text,
// its metadata the payload beside [MetaID] and [MetaCovers], its score the cosine to the question.
func (r *Retriever) GetRelevantDocuments(ctx context.Context, query string) ([]schema.Document, error) {
	if r.config.Callbacks != nil {
		r.config.Callbacks.HandleRetrieverStart(ctx, query)
	}
	limited, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	q := core.Query{Text: query, Scope: r.config.Scope}
	for _, text := range r.config.SubQueries {
		q.SubQueries = append(q.SubQueries, core.SubQuery{Text: text})
	}
	selection, err := r.stage.Select(limited, q)
	if err != nil {
		return nil, fmt.Errorf("integrations/langchaingo: %w", err)
	}
	if r.config.Trace != nil {
		r.config.Trace(ctx, query, selection.Trace)
	}
	documents := r.documents(selection)
	if r.config.Callbacks != nil {
		r.config.Callbacks.HandleRetrieverEnd(ctx, query, documents)
	}
	return documents, nil
}

func (r *Retriever) documents(selection core.Selection) []schema.Document {
	documents := []schema.Document{}
	for _, item := range selection.Items {
		if least := r.config.ScoreThreshold; least != nil && item.Cosine < *least {
			continue
		}
		d := schema.Document{PageContent: item.PayloadBody(), Metadata: maps.Clone(item.Payload), Score: float32(item.Cosine)}
		if d.Metadata == nil {
			d.Metadata = map[string]any{}
		}
		covers := make([]string, len(item.Covers))
		for i, j := range item.Covers {
			covers[i] = selection.Trace.SubQueries[j].Text
		}
		d.Metadata[MetaID], d.Metadata[MetaCovers] = item.ID.String(), covers
		documents = append(documents, d)
	}
	return documents
}
