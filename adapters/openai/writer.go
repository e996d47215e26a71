package openai

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/georag/georag/core"
)

// DefaultWriterTemperature is the publication's.
const DefaultWriterTemperature = 0.7

// Structured says whether the server is asked to hold the model to a JSON schema.
type Structured string

const (
	// StructuredAuto asks for it and, where the server refuses, does without from then on.
	StructuredAuto Structured = ""
	StructuredOn   Structured = "on"
	StructuredOff  Structured = "off"
)

// WriterConfig sets up a [SubQueryWriter]. Model is required.
type WriterConfig struct {
	ChatConfig   `koanf:",squash"`
	PromptConfig `koanf:",squash"`
	// Structured is "auto" (or empty), "on" or "off".
	Structured Structured `koanf:"structured"`
}

// Validate reports a setting out of its range; the error wraps [core.ErrInvalid].
func (c WriterConfig) Validate() error {
	if err := c.ChatConfig.Validate(); err != nil {
		return err
	}
	if !slices.Contains([]Structured{StructuredAuto, "auto", StructuredOn, StructuredOff}, c.Structured) {
		return fmt.Errorf("adapters/openai: structured %q: %w: must be auto, on or off", c.Structured, core.ErrInvalid)
	}
	return c.validateCount()
}

// SubQueryWriter asks a chat model for the parts of a question. It is safe for concurrent use.
type SubQueryWriter struct {
	*chat
	instructions, version string
	fixed                 bool        // structured is on, whatever the server says
	plain                 atomic.Bool // no schema: configured, or refused once
}

var _ core.SubQueryWriter = (*SubQueryWriter)(nil)

// NewSubQueryWriter prepares a writer; nothing is sent yet.
func NewSubQueryWriter(c WriterConfig) (*SubQueryWriter, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	chat, err := newChat(c.ChatConfig, DefaultWriterTemperature)
	if err != nil {
		return nil, err
	}
	w := &SubQueryWriter{chat: chat, fixed: c.Structured == StructuredOn}
	w.instructions, w.version = c.resolve(SubQueryPrompt, SubQueryPromptVersion)
	w.plain.Store(c.Structured == StructuredOff)
	return w, nil
}

// Fingerprint tells apart writers that give different sub-queries for the same question, for the keys of a cache.
func (w *SubQueryWriter) Fingerprint() string { return w.fingerprint() + " " + w.version }

// WriteSubQueries implements [core.SubQueryWriter]. It returns at most n texts, 1 ≤ n ≤ [core.MaxSubQueries]. An
// error is one of [core.ErrUnavailable], where the server is down, [core.ErrUnauthorized], the end of ctx by its
// caller, or [core.ErrInvalid] for n or an empty question. Any other trouble (rubbish, a refusal, an answer that is
// late or cut off) gives the texts there are and says why in Degraded.
func (w *SubQueryWriter) WriteSubQueries(ctx context.Context, question string, n int) (core.SubQueries, error) {
	if n < 1 || n > core.MaxSubQueries || letters(question) == "" {
		return core.SubQueries{}, fmt.Errorf("adapters/openai: write %d sub-queries of %q: %w: want a question and 1 to %d", n, question, core.ErrInvalid, core.MaxSubQueries)
	}
	m := message{instructions: counted(w.instructions, n), data: asData(questionData{Question: question})}
	answer, err := w.askStructured(ctx, m, func(text string) bool { return len(ParseSubQueries(text, true, n+1)) > n })
	if err != nil {
		return w.failed(ctx, err)
	}
	texts := ParseSubQueries(answer.text, answer.cut != "", n)
	written := core.SubQueries{Texts: texts}
	if len(texts) < n {
		written.Degraded = fmt.Sprintf("%s wrote %d of %d sub-queries", w.Model(), len(texts), n)
		if answer.cut != "" {
			written.Degraded += ": " + answer.cut
		}
	}
	return written, nil
}

// askStructured asks with a schema where the server takes one.
func (w *SubQueryWriter) askStructured(ctx context.Context, m message, enough func(string) bool) (reply, error) {
	if w.plain.Load() {
		return w.ask(ctx, m, enough)
	}
	structured := m
	structured.schema = subQuerySchema
	answer, err := w.ask(ctx, structured, enough)
	if w.fixed || !rejected(err) {
		return answer, err
	}
	if answer, err = w.ask(ctx, m, enough); err == nil {
		w.plain.Store(true)
	}
	return answer, err
}

// failed tells errors that the caller must see from those that only leave the question without sub-queries.
func (w *SubQueryWriter) failed(ctx context.Context, err error) (core.SubQueries, error) {
	ended := ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded)
	late := errors.Is(err, context.DeadlineExceeded)
	if ended || !late && (errors.Is(err, core.ErrUnavailable) || errors.Is(err, core.ErrUnauthorized)) {
		return core.SubQueries{}, fmt.Errorf("adapters/openai: write sub-queries with %s: %w", w.Model(), err)
	}
	return core.SubQueries{Degraded: fmt.Sprintf("%s wrote no sub-queries: %v", w.Model(), err)}, nil
}

var subQuerySchema = map[string]any{
	"type":                 "object",
	"properties":           map[string]any{"sub_queries": map[string]any{"type": "array", "items": map[string]any{"type": "string"}}},
	"required":             []string{"sub_queries"},
	"additionalProperties": false,
}
