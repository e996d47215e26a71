package evaluate

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/measure"
	"github.com/georag/georag/internal/questions"
)

// Sizes of the instances whose optimum is computed: all C(12, 3) = 220 selections are tried.
const (
	smallPool      = 12
	smallSelection = 3
)

// Approximation tells how far selections fall short of the best possible F_P.
type Approximation struct {
	Selector string `json:"selector"`
	// Share is the mean of F_P over that of the best selection of k = 3 of 12 candidates, Least the smallest; in [0, 1].
	Share float64 `json:"share_of_optimum"`
	Least float64 `json:"least"`
	N     int     `json:"n"`
}

// Approximate compares the named selectors with the optimum on the nearest 12 candidates of each question.
func Approximate(ctx context.Context, stage core.Stage, asked []questions.Question, settings core.Settings, selectors []string) ([]Approximation, error) {
	settings.Pool, settings.Candidates, settings.K = core.PoolDense, smallPool, smallSelection
	settings.Filter = core.NoFilter()
	results := make([]Approximation, len(selectors))
	for i, selector := range selectors {
		results[i] = Approximation{Selector: selector, Least: 1}
	}
	source := stage.Store
	for _, question := range asked {
		stage.Store = remember(source)
		best := 0.0
		for i, selector := range selectors {
			settings.Selector = selector
			stage.Settings = settings
			answer, err := stage.Select(ctx, question.Query())
			if err != nil {
				return nil, fmt.Errorf("question %s, selector %s: %w", question.ID, selector, err)
			}
			if i == 0 {
				if best, err = optimum(ctx, stage.Store, answer.Trace); err != nil {
					return nil, fmt.Errorf("question %s: %w", question.ID, err)
				}
			}
			share := answer.Trace.Objective / best
			results[i].Share += share / float64(len(asked))
			results[i].Least = min(results[i].Least, share)
			results[i].N++
		}
	}
	return results, nil
}

// optimum is the largest F_P of any selection of the trace's candidates.
func optimum(ctx context.Context, store core.Store, trace core.Trace) (float64, error) {
	ids, demand := make([]core.ID, len(trace.Demand)), make([]float64, len(trace.Demand))
	for i, share := range trace.Demand {
		ids[i], demand[i] = share.ID, share.Share
	}
	candidates, err := store.Fetch(ctx, core.FetchRequest{IDs: ids})
	if err != nil {
		return 0, err
	}
	vectors := make([][]float32, len(candidates))
	for i, c := range candidates {
		vectors[i] = c.Vector
	}
	best := 0.0
	for _, chosen := range combin.Combinations(len(vectors), min(smallSelection, len(vectors))) {
		picked := make([][]float32, len(chosen))
		for i, row := range chosen {
			picked[i] = vectors[row]
		}
		best = max(best, measure.FacilityObjective(demand, measure.Cosines(vectors, picked)))
	}
	return best, nil
}
