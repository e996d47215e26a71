// Package evaluate measures selectors on questions whose gold passages are known: every variant answers every
// question, and the differences are reported with intervals.
package evaluate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/measure"
	"github.com/georag/georag/internal/questions"
)

// Variant is one way to select.
type Variant struct {
	// Name tells variants of one selector and preset apart ("epsilon=0.05"); empty for the plain one.
	Name     string
	Settings core.Settings
}

// Score is how one variant did on one question. Shares are in [0, 1].
type Score struct {
	GoldRecall float64 // share of the gold passages among the k
	AllGold    float64 // 1 where all gold passages are among the k, else 0
	Redundancy float64 // mean pairwise cosine of the k
	Coverage   float64 // share of the kept sub-queries with a selected passage at cosine above the threshold
	Objective  float64 // F_P(S), see [core.Trace]
	// Peaks tells for each gold passage whether a selected passage is near it, at cosine above the threshold: the
	// publication's coverage of the dimensions of a question's demand. AllPeaks is 1 where all are.
	Peaks    []bool
	AllPeaks float64
	// ExactMatch and F1 of the model's answer, where it was asked.
	ExactMatch, F1 float64
	Select         time.Duration
	Degraded       []core.Reason
	Selection      core.Selection
	filter         *passage
}

// Plan is one evaluation.
type Plan struct {
	// Stage whose Settings are replaced by each variant's.
	Stage     core.Stage
	Questions []questions.Question
	Variants  []Variant
	// Original names the passage that an ID stands for, where the store holds copies; nil is the ID itself.
	Original func(core.ID) core.ID
	// Answer, where set, asks a model for a short answer from passages.
	Answer func(ctx context.Context, question string, passages []string) (string, error)
	// Progress, where set, is called after each question.
	Progress func(done int)
}

// Run answers every question with every variant, question by question, and returns one row of scores per variant. The
// store is asked once per question for all variants that ask the same. The error is the first failed selection's, or
// the context's, and names question and variant.
func Run(ctx context.Context, plan Plan) ([][]Score, error) {
	stage, asked, variants := plan.Stage, plan.Questions, plan.Variants
	scores := make([][]Score, len(variants))
	for v := range scores {
		scores[v] = make([]Score, len(asked))
	}
	source := stage.Store
	for i, question := range asked {
		stage.Store = remember(source)
		for v, variant := range variants {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			stage.Settings = variant.Settings
			answer, err := stage.Select(ctx, question.Query())
			if err != nil {
				return nil, fmt.Errorf("question %s, selector %s: %w", question.ID, strings.TrimSpace(variant.Settings.Selector+" "+variant.Name), err)
			}
			if scores[v][i], err = plan.score(ctx, stage.Store, question, answer); err != nil {
				return nil, fmt.Errorf("question %s: %w", question.ID, err)
			}
		}
		if plan.Progress != nil {
			plan.Progress(i + 1)
		}
	}
	return scores, nil
}

// answer asks the model and compares.
func (p Plan) answer(ctx context.Context, q questions.Question, selected core.Selection) (exact, f1 float64, err error) {
	if p.Answer == nil {
		return 0, 0, nil
	}
	passages := make([]string, len(selected.Items))
	for i, item := range selected.Items {
		passages[i] = item.PayloadText()
	}
	text, err := p.Answer(ctx, q.Text, passages)
	if err != nil {
		return 0, 0, fmt.Errorf("answer: %w", err)
	}
	return measure.ExactMatch(text, q.Answers), measure.F1(text, q.Answers), nil
}

// Half returns every other question of each dataset, from the first (0) or the second (1) on.
func Half(asked []questions.Question, which int) []questions.Question {
	var half []questions.Question
	seen := map[string]int{}
	for _, q := range asked {
		if seen[q.Dataset]%2 == which {
			half = append(half, q)
		}
		seen[q.Dataset]++
	}
	return half
}

// ErrNoGold: the questions name no gold passages, so nothing can be measured.
var ErrNoGold = errors.New("no gold passages")

// CheckGold reports the first question without gold passages.
func CheckGold(asked []questions.Question) error {
	if len(asked) == 0 {
		return fmt.Errorf("%w: there are no questions", core.ErrInvalid)
	}
	for _, q := range asked {
		if len(q.Gold) == 0 {
			return fmt.Errorf("%w: question %s: %w", core.ErrInvalid, q.ID, ErrNoGold)
		}
	}
	return nil
}

func (p Plan) score(ctx context.Context, store core.Store, q questions.Question, answer core.Selection) (Score, error) {
	vectors, chosen := make([][]float32, len(answer.Items)), make([]core.ID, len(answer.Items))
	for i, item := range answer.Items {
		vectors[i], chosen[i] = item.Vector, p.original(item.ID)
	}
	gold, err := store.Fetch(ctx, core.FetchRequest{IDs: q.Gold})
	if err != nil {
		return Score{}, fmt.Errorf("fetch the gold passages: %w", err)
	}
	peaks := make([][]float32, len(gold))
	for i, c := range gold {
		peaks[i] = c.Vector
	}
	dimensions := measure.DimensionCoverage(measure.Cosines(peaks, vectors))
	exact, f1, err := p.answer(ctx, q, answer)
	if err != nil {
		return Score{}, err
	}
	t := answer.Timings
	return Score{
		ExactMatch: exact, F1: f1,
		GoldRecall: measure.GoldRecall(chosen, q.Gold), AllGold: indicator(measure.AllGold(chosen, q.Gold)),
		Redundancy: measure.Redundancy(measure.Cosines(vectors, vectors)), Coverage: coverage(answer), Objective: answer.Trace.Objective,
		Peaks: dimensions.Peaks, AllPeaks: indicator(dimensions.All),
		Select: t.Total - t.Plan - t.Store, Degraded: answer.Trace.Degraded, Selection: answer,
		filter: p.passed(q.Gold, answer.Trace.Filter),
	}, nil
}

// original is the passage that an ID stands for.
func (p Plan) original(id core.ID) core.ID {
	if p.Original == nil {
		return id
	}
	return p.Original(id)
}

func indicator(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// coverage is the share of kept sub-queries that a selected passage covers.
func coverage(answer core.Selection) float64 {
	kept, covered := 0, make(map[int]bool)
	for _, q := range answer.Trace.SubQueries {
		if q.Kept {
			kept++
		}
	}
	for _, item := range answer.Items {
		for _, j := range item.Covers {
			covered[j] = true
		}
	}
	if kept == 0 {
		return 0
	}
	return float64(len(covered)) / float64(kept)
}
