package openai

import (
	"fmt"
	"strings"

	openaisdk "github.com/openai/openai-go/v3"

	"github.com/georag/georag/core"
)

// order puts each embedding at the place that its index says. A server that numbers none of them is taken to
// answer in the order of the request; one that numbers them must number all, once each.
func order(dst [][]float32, data []openaisdk.Embedding) error {
	if len(data) != len(dst) {
		return fmt.Errorf("%w: %d vectors for %d texts", ErrAnswer, len(data), len(dst))
	}
	numbered := false
	for _, item := range data {
		numbered = numbered || item.JSON.Index.Valid()
	}
	for position, item := range data {
		index := int64(position)
		if numbered {
			index = item.Index
		}
		switch {
		case numbered && !item.JSON.Index.Valid():
			return fmt.Errorf("%w: vector %d has no index and others have", ErrAnswer, position)
		case index < 0 || index >= int64(len(dst)):
			return fmt.Errorf("%w: index %d among %d texts", ErrAnswer, index, len(dst))
		case dst[index] != nil:
			return fmt.Errorf("%w: index %d comes twice", ErrAnswer, index)
		}
		v, err := components(item)
		if err != nil {
			return fmt.Errorf("text %d: %w", index, err)
		}
		dst[index] = v
	}
	return nil
}

// components returns the vector of one item. The library turns whatever stands among the numbers into 0 and leaves
// undecodable base64 empty, so both are caught here.
func components(item openaisdk.Embedding) ([]float32, error) {
	if numbers, ok := strings.CutPrefix(item.JSON.Embedding.Raw(), "["); ok {
		switch {
		case strings.ContainsAny(numbers, `"[{`):
			return nil, fmt.Errorf("%w: a component is no number", ErrAnswer)
		case strings.ContainsAny(numbers, "nN"):
			return nil, fmt.Errorf("%w: a component is null or NaN", core.ErrNotFinite)
		}
	}
	if len(item.Embedding) == 0 {
		return nil, fmt.Errorf("%w: no vector, or one that is not base64 of 32-bit floats", ErrAnswer)
	}
	v := make([]float32, len(item.Embedding))
	for i, x := range item.Embedding {
		v[i] = float32(x)
	}
	return v, nil
}
