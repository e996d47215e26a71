// Package evaluate measures selectors on questions whose gold passages are known: every variant answers every
// question, and the differences are reported with intervals.
package evaluate

import (
	"context"
	"errors"
	"fmt"
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
	Select     time.Duration
	Degraded   []core.Reason
	Selection  core.Selection
}

// Run answers every question with every variant, question by question, and returns one row of scores per variant.
// The stage's own settings are replaced by each variant's. The store is asked once per question for all variants
// that ask the same. progress is called after each question. The error is the first failed selection's, or the
// context's, and names question and variant.
func Run(ctx context.Context, stage core.Stage, asked []questions.Question, variants []Variant, progress func(done int)) ([][]Score, error) {
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
				return nil, fmt.Errorf("question %s, selector %s %s: %w", question.ID, variant.Settings.Selector, variant.Name, err)
			}
			scores[v][i] = score(question, answer)
		}
		progress(i + 1)
	}
	return scores, nil
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

func score(q questions.Question, answer core.Selection) Score {
	vectors := make([][]float32, len(answer.Items))
	for i, item := range answer.Items {
		vectors[i] = item.Vector
	}
	t := answer.Timings
	return Score{
		GoldRecall: measure.GoldRecall(answer.IDs(), q.Gold), AllGold: indicator(measure.AllGold(answer.IDs(), q.Gold)),
		Redundancy: measure.Redundancy(measure.Cosines(vectors, vectors)), Coverage: coverage(answer), Objective: answer.Trace.Objective,
		Select: t.Total - t.Plan - t.Store, Degraded: answer.Trace.Degraded, Selection: answer,
	}
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
