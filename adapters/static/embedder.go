package static

import (
	"context"
	"fmt"
	"math"

	"github.com/georag/georag/core"
)

// ModelName is what a trace shows, so that nobody takes the table's vectors for the real model's.
const ModelName = "static (distilled from all-MiniLM-L6-v2)"

// Embedder embeds texts with the table in the binary. It is safe for concurrent use and needs no service.
//
// A text without a known token (empty, or in a script that the vocabulary lacks) gets the zero vector, which every
// stage downstream reports as [core.ErrZero] at its place instead of failing the texts beside it.
type Embedder struct{ table *table }

var _ core.Embedder = (*Embedder)(nil)

// NewEmbedder opens the table in the binary.
func NewEmbedder() (*Embedder, error) {
	t, err := embedded()
	if err != nil {
		return nil, err
	}
	return &Embedder{table: t}, nil
}

// Model implements [core.Embedder].
func (e *Embedder) Model() string { return ModelName }

// Dimension is the length of every vector.
func (e *Embedder) Dimension() int { return e.table.dim }

// CheckDimension compares the length of the table's vectors with the collection's; the error wraps
// [core.ErrDimension].
func (e *Embedder) CheckDimension(_ context.Context, collection int) error {
	if e.table.dim == collection {
		return nil
	}
	return fmt.Errorf("adapters/static: %w: the table's vectors have %d components and the collection's %d; it was built with another model",
		core.ErrDimension, e.table.dim, collection)
}

// Tokenizer returns the tokenizer of the table.
func (e *Embedder) Tokenizer() *Tokenizer { return e.table.tokenizer }

// EmbedQueries implements [core.Embedder]: unit vectors, or the zero vector.
func (e *Embedder) EmbedQueries(ctx context.Context, texts []string) ([][]float32, error) {
	return e.embed(ctx, texts)
}

// EmbedPassages implements [core.Embedder]: unit vectors, or the zero vector.
func (e *Embedder) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	return e.embed(ctx, texts)
}

func (e *Embedder) embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	sum := make([]float64, e.table.dim)
	var rows []int32
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows = e.table.tokenizer.appendRows(rows[:0], text)
		clear(sum)
		for _, r := range rows {
			e.table.add(sum, r)
		}
		vectors[i] = unit(sum)
	}
	return vectors, nil
}

// unit returns v/|v|, or zeros where v is zero.
func unit(v []float64) []float32 {
	square := 0.0
	for _, x := range v {
		square += x * x
	}
	out := make([]float32, len(v))
	if square == 0 {
		return out
	}
	scale := 1 / math.Sqrt(square)
	for c, x := range v {
		out[c] = float32(x * scale)
	}
	return out
}
