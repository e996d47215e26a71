package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	openaisdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/modelhttp"
	"github.com/georag/georag/internal/retry"
)

const (
	// DefaultChatTimeout bounds a call to a chat model. The list of sub-queries takes some 500 tokens.
	DefaultChatTimeout = 15 * time.Second
	// deadlineShare is the part of the caller's remaining time that a model may take while planning, because
	// search and selection come after it.
	deadlineShare = 0.7
)

// ChatConfig says which chat model answers, and how. Model is required.
type ChatConfig struct {
	// Config says where the server is. Timeout bounds a call, retries included; 0 is 15 s. A caller's deadline
	// shortens it to 0.7 of the time left.
	modelhttp.Config `koanf:",squash"`

	Model string `koanf:"model"`
	// Temperature is nil for the default of the task, and in [0, 2].
	Temperature *float64 `koanf:"temperature"`
	// MaxTokens bounds the answer; 0 leaves that to the server.
	MaxTokens int `koanf:"max_tokens"`
}

// Validate reports a setting out of its range; the error wraps [core.ErrInvalid].
func (c ChatConfig) Validate() error {
	if err := c.Config.Validate(); err != nil {
		return err
	}
	switch {
	case c.Model == "":
		return fmt.Errorf("adapters/openai: chat model: %w: must be set", core.ErrInvalid)
	case c.Temperature != nil && !(*c.Temperature >= 0 && *c.Temperature <= 2):
		return fmt.Errorf("adapters/openai: temperature %v: %w: must be in [0, 2]", *c.Temperature, core.ErrInvalid)
	case c.MaxTokens < 0:
		return fmt.Errorf("adapters/openai: max_tokens %d: %w: must not be negative", c.MaxTokens, core.ErrInvalid)
	}
	return nil
}

// chat asks one chat model. It is safe for concurrent use.
type chat struct {
	config      ChatConfig
	temperature float64
	client      *modelhttp.Client
	service     openaisdk.ChatCompletionService
}

func newChat(c ChatConfig, temperature float64) (*chat, error) {
	client, options, err := connect(c.Config, DefaultChatTimeout)
	if err != nil {
		return nil, fmt.Errorf("adapters/openai: chat: %w", err)
	}
	if c.Temperature != nil {
		temperature = *c.Temperature
	}
	return &chat{config: c, temperature: temperature, client: client, service: openaisdk.NewChatCompletionService(options...)}, nil
}

// Model is the configured model name.
func (c *chat) Model() string { return c.config.Model }

// Close ends idle connections.
func (c *chat) Close() error { return c.client.Close() }

// fingerprint names everything but the prompt that an answer depends on.
func (c *chat) fingerprint() string {
	return fmt.Sprintf("%s %s t=%v max=%d", c.client.BaseURL(), c.config.Model, c.temperature, c.config.MaxTokens)
}

// message is what a model is asked: instructions of ours, and data of someone else.
type message struct {
	instructions string
	data         string         // see [asData]
	schema       map[string]any // of the answer; nil leaves its form open
}

// reply is a model's answer, or its beginning.
type reply struct {
	text string
	cut  string // why it is only the beginning, "" where it is whole
}

// ask streams the answer, so that what has arrived when the time is up is not lost. It stops early where enough says
// so of the text so far. An error comes only where there is no text at all.
func (c *chat) ask(ctx context.Context, m message, enough func(string) bool) (reply, error) {
	ctx, cancel := modelhttp.Share(ctx, deadlineShare)
	defer cancel()
	params := c.params(m)
	answer, err := retry.Do(ctx, c.client.Retrier(), func(ctx context.Context) (reply, error) {
		stream := c.service.NewStreaming(ctx, params, option.WithMiddleware(streamed))
		defer stream.Close()
		return c.read(stream, enough)
	}, modelhttp.Classify)
	return answer, unusable(err, c.client.Key())
}

func (c *chat) params(m message) openaisdk.ChatCompletionNewParams {
	params := openaisdk.ChatCompletionNewParams{
		Model:       c.config.Model,
		Temperature: openaisdk.Float(c.temperature),
		Messages:    []openaisdk.ChatCompletionMessageParamUnion{openaisdk.SystemMessage(m.instructions), openaisdk.UserMessage(m.data)},
	}
	if c.config.MaxTokens > 0 {
		params.MaxTokens = openaisdk.Int(int64(c.config.MaxTokens))
	}
	if m.schema != nil {
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "answer", Strict: openaisdk.Bool(true), Schema: m.schema},
		}
	}
	return params
}

func (c *chat) read(stream *ssestream.Stream[openaisdk.ChatCompletionChunk], enough func(string) bool) (reply, error) {
	var text strings.Builder
	finish := ""
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			finish = cmp.Or(choice.FinishReason, finish)
			text.WriteString(choice.Delta.Content)
			if strings.ContainsAny(choice.Delta.Content, "\"\n") && enough(text.String()) {
				return reply{text.String(), "more than asked for"}, nil
			}
		}
		if text.Len() > maxAnswer {
			return reply{text.String(), "the answer does not end"}, nil
		}
	}
	err := stream.Err()
	switch {
	case err != nil && text.Len() == 0:
		return reply{}, err
	case errors.Is(err, context.DeadlineExceeded):
		return reply{text.String(), "the time was up"}, nil
	case err != nil:
		return reply{text.String(), "the answer broke off: " + modelhttp.Message(err.Error(), c.client.Key())}, nil
	case finish == "length":
		return reply{text.String(), "the model's limit of tokens was reached"}, nil
	case finish == "content_filter":
		return reply{text.String(), "the server's content filter stopped the answer"}, nil
	case finish == "" && text.Len() > 0:
		return reply{text.String(), "the connection ended before the answer did"}, nil
	}
	return reply{text: text.String()}, nil
}
