package eino

import (
	"context"

	"github.com/cloudwego/eino/components/embedding"

	"github.com/georag/georag/core"
)

// embedder is Eino's embedder as the core sees it. Eino's makes no difference between questions and passages.
type embedder struct{ embedding.Embedder }

var _ core.Embedder = embedder{}

// EmbedQueries implements [core.Embedder].
func (e embedder) EmbedQueries(ctx context.Context, texts []string) ([][]float32, error) {
	wide, err := e.EmbedStrings(ctx, texts)
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(wide))
	for i, v := range wide {
		vectors[i] = narrow(v)
	}
	return vectors, nil
}

// EmbedPassages implements [core.Embedder].
func (e embedder) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	return e.EmbedQueries(ctx, texts)
}

// Model implements [core.Embedder].
func (e embedder) Model() string { return "an Eino embedder" }

func narrow(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

func widen(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}
