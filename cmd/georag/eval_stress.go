package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/evaluate"
	"github.com/georag/georag/internal/questions"
	"github.com/georag/georag/internal/stress"
)

const (
	stressSeed = 1
	// corruptedShare of the sub-queries are corrupted.
	corruptedShare = 0.5
)

// stress prints one table for each percentage of near-duplicates and each corruption.
func (e *evaluation) stress(ctx context.Context, variants []evaluate.Variant, duplicates, corruptions []string) error {
	for _, text := range duplicates {
		percent, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return usagef("--duplicates %s: want percentages", text)
		}
		store, err := stress.New(e.stage.Store, stress.Config{Share: percent / 100, Seed: stressSeed, Embedder: e.stage.Planner.Embedder})
		if err != nil {
			return err
		}
		plan := e.plan(variants)
		plan.Stage.Store, plan.Original = store, stress.Original
		if err := e.compareOn(ctx, plan, text+"% near-duplicates", true); err != nil {
			return err
		}
		fmt.Fprintln(e.s.out)
	}
	for _, how := range corruptions {
		plan := e.plan(variants)
		var err error
		if plan.Questions, err = corrupted(e.asked, stress.Corruption(how)); err != nil {
			return err
		}
		if err := e.compareOn(ctx, plan, fmt.Sprintf("%.0f%% of the sub-queries: %s", 100*corruptedShare, how), true); err != nil {
			return err
		}
		fmt.Fprintln(e.s.out)
	}
	return nil
}

// corrupted returns the questions with half of their sub-queries corrupted.
func corrupted(asked []questions.Question, how stress.Corruption) ([]questions.Question, error) {
	subQueries := make([][]core.SubQuery, len(asked))
	for i, q := range asked {
		subQueries[i] = q.Query().SubQueries
	}
	changed, err := stress.Corrupt(subQueries, how, corruptedShare, stressSeed)
	if err != nil {
		return nil, err
	}
	result := make([]questions.Question, len(asked))
	for i, q := range asked {
		q.SubQueries, q.SubQueryVectors = nil, nil
		for _, s := range changed[i] {
			q.SubQueries, q.SubQueryVectors = append(q.SubQueries, s.Text), append(q.SubQueryVectors, s.Vector)
		}
		result[i] = q
	}
	return result, nil
}
