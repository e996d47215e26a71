package openai

import (
	"context"
	"fmt"
	"strings"

	"github.com/georag/georag/core"
)

// DefaultPassageTemperature is that of the HyDE publication.
const DefaultPassageTemperature = 0.7

// PassageConfig sets up a [PassageWriter]. Model is required.
type PassageConfig struct {
	ChatConfig   `koanf:",squash"`
	PromptConfig `koanf:",squash"`
}

// PassageWriter asks a chat model for a passage that would answer a question (HyDE). It is safe for concurrent use.
type PassageWriter struct {
	*chat
	instructions, version string
}

var _ core.PassageWriter = (*PassageWriter)(nil)

// NewPassageWriter prepares a writer; nothing is sent yet.
func NewPassageWriter(c PassageConfig) (*PassageWriter, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	chat, err := newChat(c.ChatConfig, DefaultPassageTemperature)
	if err != nil {
		return nil, err
	}
	w := &PassageWriter{chat: chat}
	w.instructions, w.version = c.resolve(PassagePrompt, PassagePromptVersion)
	return w, nil
}

// Fingerprint tells apart writers that give different passages for the same question, for the keys of a cache.
func (w *PassageWriter) Fingerprint() string { return w.fingerprint() + " " + w.version }

// WritePassage implements [core.PassageWriter]. A passage that was cut off is returned as far as it goes, since its
// vector is all that is wanted of it. Errors are those of [core.Embedder] and [ErrAnswer] for an empty answer.
func (w *PassageWriter) WritePassage(ctx context.Context, question string) (string, error) {
	answer, err := w.ask(ctx, message{instructions: w.instructions, data: asData(questionData{Question: question})}, never)
	passage := strings.TrimSpace(withoutThinking(tidy(answer.text)))
	if err == nil && letters(passage) == "" {
		err = fmt.Errorf("%w: no passage", ErrAnswer)
	}
	if err != nil {
		return "", fmt.Errorf("adapters/openai: write a passage with %s: %w", w.Model(), err)
	}
	return passage, nil
}

// never reads an answer to its end.
func never(string) bool { return false }
