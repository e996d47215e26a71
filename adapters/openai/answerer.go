package openai

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// AnswererConfig sets up an [Answerer]. Model is required.
type AnswererConfig struct {
	ChatConfig   `koanf:",squash"`
	PromptConfig `koanf:",squash"`
}

// Answerer asks a chat model to answer questions from passages, for the evaluation of selections by exact match and
// F1. Its default temperature is 0. It is safe for concurrent use.
type Answerer struct {
	*chat
	instructions, version string
}

// NewAnswerer prepares an Answerer; nothing is sent yet.
func NewAnswerer(c AnswererConfig) (*Answerer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	chat, err := newChat(c.ChatConfig, 0)
	if err != nil {
		return nil, err
	}
	a := &Answerer{chat: chat}
	a.instructions, a.version = c.resolve(AnswerPrompt, AnswerPromptVersion)
	return a, nil
}

// Fingerprint tells apart answerers that answer differently, for the notes of an evaluation.
func (a *Answerer) Fingerprint() string { return a.fingerprint() + " " + a.version }

// Answer returns the model's short answer, which may be "unknown". Errors are those of [core.Embedder], and
// [ErrAnswer] where the answer is empty or was cut off.
func (a *Answerer) Answer(ctx context.Context, question string, passages []string) (string, error) {
	said, err := a.ask(ctx, message{instructions: a.instructions, data: asData(questionData{question, passages})}, never)
	short := shortAnswer(said.text)
	switch {
	case err == nil && said.cut != "":
		err = fmt.Errorf("%w: %s", ErrAnswer, said.cut)
	case err == nil && short == "":
		err = fmt.Errorf("%w: it is empty", ErrAnswer)
	}
	if err != nil {
		return "", fmt.Errorf("adapters/openai: answer with %s: %w", a.Model(), err)
	}
	return short, nil
}

var answerLabel = regexp.MustCompile(`(?is)^.*\b(?:final )?answer( is)?\s*[:：]\s*`)

// shortAnswer strips thinking, labels, quotes, emphasis and the full stop from an answer.
func shortAnswer(text string) string {
	text = withoutThinking(tidy(text))
	text = answerLabel.ReplaceAllString(strings.NewReplacer("```", "", "**", "").Replace(text), "")
	text = strings.Trim(strings.Join(strings.Fields(text), " "), "*_` ")
	return strings.TrimSuffix(unquoted(strings.TrimSuffix(text, ".")), ".")
}
