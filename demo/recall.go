package demo

import (
	"context"
	"fmt"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/questions"
)

// Recall knows the demonstration's questions: it is an embedder and a writer of sub-queries that gives what was made
// for them, so that an example needs no model. Any other text is [core.ErrNotFound].
type Recall struct {
	vectors    map[string][]float32
	subQueries map[string][]string
	texts      []string
}

var (
	_ core.Embedder       = (*Recall)(nil)
	_ core.SubQueryWriter = (*Recall)(nil)
)

// NewRecall reads the questions and their sub-queries with their vectors of dimension 384.
func NewRecall() (*Recall, error) {
	asked, err := questions.OpenFS(Files, "data")
	if err != nil {
		return nil, err
	}
	r := &Recall{vectors: map[string][]float32{}, subQueries: map[string][]string{}}
	for _, q := range asked {
		r.texts = append(r.texts, q.Text)
		r.vectors[q.Text], r.subQueries[q.Text] = q.Vector, q.SubQueries
		for j, text := range q.SubQueries {
			r.vectors[text] = q.SubQueryVectors[j]
		}
	}
	return r, nil
}

// Questions returns the texts of the questions.
func (r *Recall) Questions() []string { return r.texts }

// Model implements [core.Embedder] and [core.SubQueryWriter].
func (r *Recall) Model() string { return "recalled from the demonstration" }

// EmbedQueries implements [core.Embedder] for questions and sub-queries of the demonstration.
func (r *Recall) EmbedQueries(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if vectors[i] = r.vectors[text]; vectors[i] == nil {
			return nil, fmt.Errorf("demo: %w: %q is not among the questions of the demonstration", core.ErrNotFound, text)
		}
	}
	return vectors, nil
}

// EmbedPassages implements [core.Embedder]; it knows no passages.
func (r *Recall) EmbedPassages(context.Context, []string) ([][]float32, error) {
	return nil, fmt.Errorf("demo: %w: the vectors of passages stand in the index", core.ErrUnsupported)
}

// WriteSubQueries implements [core.SubQueryWriter].
func (r *Recall) WriteSubQueries(_ context.Context, question string, n int) (core.SubQueries, error) {
	written, ok := r.subQueries[question]
	if !ok {
		return core.SubQueries{}, fmt.Errorf("demo: %w: %q is not among the questions of the demonstration", core.ErrNotFound, question)
	}
	return core.SubQueries{Texts: written[:min(n, len(written))]}, nil
}
