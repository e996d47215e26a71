package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/georag/georag/adapters/cache"
	"github.com/georag/georag/adapters/openai"
	"github.com/georag/georag/adapters/rerank"
	"github.com/georag/georag/adapters/rules"
	"github.com/georag/georag/adapters/static"
	"github.com/georag/georag/core"
)

// Models are the models a configuration names. All are optional: a query that brings its vectors needs none.
type Models struct {
	Embedder EmbedderConfig         `koanf:"embedder"`
	Writer   WriterConfig           `koanf:"writer"`
	HyDE     *openai.PassageConfig  `koanf:"hyde"` // for the pool hyde
	Reranker *rerank.Config         `koanf:"reranker"`
	Conflict *rerank.ConflictConfig `koanf:"conflict"` // for the selector smart
	// Answerer answers questions from the selected passages, for eval.
	Answerer *openai.AnswererConfig `koanf:"answerer"`
	// Cache keeps what the embedder and the writers answered.
	Cache *cache.Config `koanf:"cache"`
}

// EmbedderConfig names one embedder, or none.
type EmbedderConfig struct {
	OpenAI *openai.EmbedderConfig `koanf:"openai"`
	// Static is the table of token vectors that is part of the program.
	Static bool `koanf:"static"`
}

// WriterConfig names one writer of sub-queries, or none.
type WriterConfig struct {
	OpenAI *openai.WriterConfig `koanf:"openai"`
	// Rules cut the question into parts without a model.
	Rules bool `koanf:"rules"`
}

// Validate reports the first setting out of its range; the error wraps [core.ErrInvalid].
func (m Models) Validate() error {
	if m.Embedder.OpenAI != nil && m.Embedder.Static {
		return fmt.Errorf("%w: embedder names both openai and static", core.ErrInvalid)
	}
	if m.Writer.OpenAI != nil && m.Writer.Rules {
		return fmt.Errorf("%w: writer names both openai and rules", core.ErrInvalid)
	}
	for _, part := range []struct {
		name  string
		given bool
		check func() error
	}{
		{"embedder.openai", m.Embedder.OpenAI != nil, func() error { return m.Embedder.OpenAI.Validate() }},
		{"writer.openai", m.Writer.OpenAI != nil, func() error { return m.Writer.OpenAI.Validate() }},
		{"hyde", m.HyDE != nil, func() error { return m.HyDE.Validate() }},
		{"answerer", m.Answerer != nil, func() error { return m.Answerer.Validate() }},
		{"reranker", m.Reranker != nil, func() error { return m.Reranker.Validate() }},
		{"conflict", m.Conflict != nil, func() error { return m.Conflict.Validate() }},
		{"cache", m.Cache != nil, func() error { return m.Cache.Validate() }},
	} {
		if !part.given {
			continue
		}
		if err := part.check(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// closers end what was opened, the last first.
type closers []io.Closer

func (c *closers) add(closer any) {
	if closer, ok := closer.(io.Closer); ok {
		*c = append(*c, closer)
	}
}

func (c closers) Close() error {
	var failed []error
	for i := len(c) - 1; i >= 0; i-- {
		failed = append(failed, c[i].Close())
	}
	return errors.Join(failed...)
}

// wire gives the stage its models. What was opened is added to open, also before an error.
func (m Models) wire(stage *core.Stage, open *closers) (err error) {
	if stage.Planner.Embedder, err = m.embedder(); err != nil {
		return err
	}
	open.add(stage.Planner.Embedder)
	if stage.Planner.Writer, err = m.writer(); err != nil {
		return err
	}
	open.add(stage.Planner.Writer)
	if m.HyDE != nil {
		writer, err := openai.NewPassageWriter(*m.HyDE)
		if err != nil {
			return err
		}
		stage.Planner.Passage = writer
		open.add(writer)
	}
	if m.Reranker != nil {
		client, err := rerank.New(*m.Reranker)
		if err != nil {
			return err
		}
		stage.Reranker = client
		open.add(client)
	}
	if m.Conflict != nil {
		scorer, err := rerank.NewConflictScorer(*m.Conflict)
		if err != nil {
			return err
		}
		stage.Conflict = scorer
		open.add(scorer)
	}
	return m.wireCache(stage, open)
}

func (m Models) embedder() (core.Embedder, error) {
	switch {
	case m.Embedder.OpenAI != nil:
		return openai.NewEmbedder(*m.Embedder.OpenAI)
	case m.Embedder.Static:
		return static.NewEmbedder()
	}
	return nil, nil
}

func (m Models) writer() (core.SubQueryWriter, error) {
	switch {
	case m.Writer.OpenAI != nil:
		return openai.NewSubQueryWriter(*m.Writer.OpenAI)
	case m.Writer.Rules:
		return rules.Writer{}, nil
	}
	return nil, nil
}

// wireCache puts a cache before the models that are worth one.
func (m Models) wireCache(stage *core.Stage, open *closers) error {
	if m.Cache == nil {
		return nil
	}
	kept, err := cache.Open(*m.Cache)
	if err != nil {
		return err
	}
	open.add(kept)
	if m.Embedder.OpenAI != nil {
		stage.Planner.Embedder = kept.Embedder(stage.Planner.Embedder)
	}
	if m.Writer.OpenAI != nil {
		stage.Planner.Writer = kept.SubQueryWriter(stage.Planner.Writer)
	}
	if m.HyDE != nil {
		stage.Planner.Passage = kept.PassageWriter(stage.Planner.Passage, m.HyDE.Model)
	}
	return nil
}
