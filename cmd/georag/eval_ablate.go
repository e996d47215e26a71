package main

import (
	"context"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/evaluate"
)

// ablate prints what each part of the method is worth, table by table, and how near the selections come to the best
// F_P. Differences are to the preset as it is.
func (e *evaluation) ablate(ctx context.Context, base core.Settings) error {
	fmt.Fprintf(e.s.out, "Ablations of preset %s, selector %s: share of %d questions with all gold passages among the k\n\n", base.Preset, base.Selector, len(e.asked))
	for _, group := range evaluate.Ablations(base) {
		plan := e.plan(group.Variants)
		scores, err := e.scores(ctx, plan)
		if err != nil {
			return err
		}
		rows := evaluate.Rows(plan, scores, 0, bootstrap)
		for i := range rows {
			rows[i].Condition = group.Name
		}
		writeGroup(e.s.out, group.Name, rows)
		e.rows = append(e.rows, rows...)
	}
	near, err := evaluate.Approximate(ctx, e.stage, e.asked, base, []string{"facility", "georag", "mmr", "cosine"})
	if err != nil {
		return err
	}
	t := newTable(e.s.out, "F_P against the best of C(12, 3)", "mean", "least")
	for _, a := range near {
		t.AppendRow(table.Row{a.Selector, share(a.Share), share(a.Least)})
	}
	t.Render()
	return nil
}
