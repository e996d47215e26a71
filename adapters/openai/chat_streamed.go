package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/openai/openai-go/v3/option"
)

// streamed lets servers that answer a streaming request with one whole completion be read as those that stream.
func streamed(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err != nil {
		return res, err
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != "application/json" {
		return res, nil
	}
	defer res.Body.Close()
	whole, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	event, err := asEvent(whole)
	if err != nil {
		return nil, err
	}
	res.Header.Set("Content-Type", "text/event-stream")
	res.Body = io.NopCloser(bytes.NewReader(event))
	return res, nil
}

// asEvent turns a chat completion into the one chunk that a stream of it would have.
func asEvent(completion []byte) ([]byte, error) {
	type choice struct {
		Index        int             `json:"index"`
		Message      json.RawMessage `json:"message,omitempty"`
		Delta        json.RawMessage `json:"delta,omitempty"`
		FinishReason json.RawMessage `json:"finish_reason,omitempty"`
	}
	var whole struct {
		Choices []choice        `json:"choices"`
		Error   json.RawMessage `json:"error,omitempty"`
	}
	if err := json.Unmarshal(completion, &whole); err != nil {
		return nil, fmt.Errorf("%w: not a chat completion: %w", ErrAnswer, err)
	}
	for i, c := range whole.Choices {
		whole.Choices[i].Delta, whole.Choices[i].Message = c.Message, nil
	}
	event, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "data: %s\n\ndata: [DONE]\n\n", event), nil
}
