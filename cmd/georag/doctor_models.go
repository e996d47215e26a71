package main

import (
	"context"
	"fmt"
	"time"

	"github.com/georag/georag/core"
)

// examinedQuestion is what the models are tried with.
const examinedQuestion = "Who shared the Nobel Prize with the discoverer of penicillin, and what did each of them contribute?"

// down says that a model failed, and what a selection does without it.
func (e *examination) down(model string, err error, without string) {
	e.change(err, "%s does not work (%s): %s", model, without, remedy(err))
}

// embed asks the embedder for one vector and compares its dimension.
func (e *examination) embed(ctx context.Context) {
	embedder := e.stage.Planner.Embedder
	if embedder == nil {
		e.line("embedder", "none: queries have to bring their vectors")
		return
	}
	start := time.Now()
	vectors, err := embedder.EmbedQueries(ctx, []string{examinedQuestion})
	if err != nil {
		e.down("the embedder", err, "questions in words fail")
		return
	}
	if got := len(vectors[0]); e.d.Dimension > 0 && got != e.d.Dimension {
		err := fmt.Errorf("%w: embedder %s gives %d dimensions and the collection has %d", core.ErrDimension, embedder.Model(), got, e.d.Dimension)
		e.change(err, "%s", remedy(err))
		return
	}
	e.line("embedder", "%s, dimension %d, in %s", embedder.Model(), len(vectors[0]), milliseconds(time.Since(start)))
}

// write asks the writer for sub-queries.
func (e *examination) write(ctx context.Context) {
	writer := e.stage.Planner.Writer
	if writer == nil {
		e.line("writer", "none: queries have to bring their sub-queries, or the demand is the question alone")
		return
	}
	start := time.Now()
	written, err := writer.WriteSubQueries(ctx, examinedQuestion, e.stage.Settings.SubQueries.Write)
	if err == nil && len(written.Texts) == 0 {
		err = fmt.Errorf("%w: %s", core.ErrUnavailable, or(written.Degraded, "it wrote nothing"))
	}
	if err != nil {
		e.down("the writer", err, "selections are degraded: no_subqueries")
		return
	}
	e.line("writer", "%s, %d sub-queries in %s%s", writer.Model(), len(written.Texts), milliseconds(time.Since(start)), ifAny("; ", written.Degraded))
}

// imagine asks for a hypothetical passage, where a model for them is configured.
func (e *examination) imagine(ctx context.Context) {
	if e.stage.Planner.Passage == nil {
		return
	}
	start := time.Now()
	passage, err := e.stage.Planner.Passage.WritePassage(ctx, examinedQuestion)
	if err != nil {
		e.down("hyde", err, "selections of pool hyde are degraded: hyde_fell_back")
		return
	}
	e.line("hyde", "%d characters in %s", len([]rune(passage)), milliseconds(time.Since(start)))
}

// rerank asks the reranker for the score of the sample, where one is configured.
func (e *examination) rerank(ctx context.Context) {
	if e.stage.Reranker == nil {
		return
	}
	start := time.Now()
	if _, err := e.stage.Reranker.Rerank(ctx, examinedQuestion, []string{or(e.sample.PayloadText(), examinedQuestion)}); err != nil {
		e.down("the reranker", err, "selector rerank is degraded: selector_fell_back")
		return
	}
	e.line("reranker", "%s, in %s", e.stage.Reranker.Model(), milliseconds(time.Since(start)))
}

// contradict asks the conflict scorer about one pair of texts, where one is configured.
func (e *examination) contradict(ctx context.Context) {
	if e.stage.Conflict == nil {
		return
	}
	start := time.Now()
	if _, err := e.stage.Conflict.Conflicts(ctx, [][2]string{{"The dam was built.", "The dam was never built."}}); err != nil {
		e.down("the conflict scorer", err, "selector smart is degraded: selector_fell_back")
		return
	}
	e.line("conflict", "%s, in %s", e.stage.Conflict.Model(), milliseconds(time.Since(start)))
}
