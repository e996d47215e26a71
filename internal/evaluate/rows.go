package evaluate

import (
	"slices"

	"github.com/georag/georag/core/measure"
	"github.com/georag/georag/internal/questions"
)

// All names the row over every dataset.
const All = "all"

// Row sums up one variant on one dataset.
type Row struct {
	Selector        string     `json:"selector"`
	Preset          string     `json:"preset"`
	Variant         string     `json:"variant,omitempty"`
	Condition       string     `json:"condition,omitempty"` // what was done to passages or sub-queries
	Baseline        bool       `json:"-"`                   // the others are compared to this one
	Dataset         string     `json:"dataset"`             // "all" for overall
	N               int        `json:"n"`
	K               int        `json:"k"`
	GoldRecall      float64    `json:"gold_recall"`
	AllGold         float64    `json:"all_gold"`
	Redundancy      float64    `json:"redundancy"`
	Coverage        float64    `json:"coverage"`
	DemandObjective float64    `json:"demand_objective"`
	SelectMsP50     float64    `json:"select_ms_p50"`
	AllGoldCI       [2]float64 `json:"all_gold_ci"`
	// AllGoldMinusCosineCI is the interval of the paired difference to the selector "cosine" on the same questions.
	AllGoldMinusCosineCI [2]float64 `json:"all_gold_minus_cosine_ci"`
	// P is the p-value of that difference, corrected by Holm for all rows of the dataset.
	P float64 `json:"p_holm"`
	// PeakA, PeakB and AllPeaks are the shares of questions whose first, second, and all gold passages have a
	// selected passage near them.
	PeakA    float64 `json:"peak_a"`
	PeakB    float64 `json:"peak_b"`
	AllPeaks float64 `json:"all_peaks"`
	// Answers are set where a model answered.
	Answers *Answers `json:"answers,omitempty"`
	// Filtered is set where a filter ran.
	*Filtered
	// Degraded is the share of questions whose selection was degraded.
	Degraded float64 `json:"degraded"`
}

// Answers compares a model's answers with the right ones.
type Answers struct {
	ExactMatch measure.Interval `json:"exact_match"`
	F1         measure.Interval `json:"f1"`
}

// answered sums up a model's answers.
func answered(scores []Score, boot measure.PairedBootstrap) *Answers {
	return &Answers{
		ExactMatch: boot.Mean(Column(scores, func(s Score) float64 { return s.ExactMatch })),
		F1:         boot.Mean(Column(scores, func(s Score) float64 { return s.F1 })),
	}
}

// Rows sums up the scores of [Run] per dataset and overall, overall last. baseline is the position in variants of
// the one the differences are taken to.
func Rows(plan Plan, scores [][]Score, baseline int, boot measure.PairedBootstrap) []Row {
	asked, variants := plan.Questions, plan.Variants
	var rows []Row
	compared := map[string][]int{} // by dataset, the rows that are compared to the baseline
	for v, variant := range variants {
		for _, dataset := range Datasets(asked) {
			var mine, theirs []Score
			for i, q := range asked {
				if dataset == All || q.Dataset == dataset {
					mine, theirs = append(mine, scores[v][i]), append(theirs, scores[baseline][i])
				}
			}
			if v != baseline {
				compared[dataset] = append(compared[dataset], len(rows))
			}
			r := row(variant, dataset, mine, theirs, boot)
			r.Baseline = v == baseline
			r.Filtered = filtering(mine, boot)
			if plan.Answer != nil {
				r.Answers = answered(mine, boot)
			}
			rows = append(rows, r)
		}
	}
	for _, positions := range compared {
		correct(rows, positions)
	}
	return rows
}

// correct replaces the p-values of one dataset's rows by Holm's.
func correct(rows []Row, compared []int) {
	p := make([]float64, len(compared))
	for j, i := range compared {
		p[j] = rows[i].P
	}
	for j, adjusted := range measure.Holm(p) {
		rows[compared[j]].P = adjusted
	}
}

// Datasets lists the datasets among the questions, sorted, and "all" last; only "all" where there is but one.
func Datasets(asked []questions.Question) []string {
	var names []string
	for _, q := range asked {
		if !slices.Contains(names, q.Dataset) {
			names = append(names, q.Dataset)
		}
	}
	slices.Sort(names)
	if len(names) == 1 {
		names = nil
	}
	return append(names, All)
}

func row(variant Variant, dataset string, mine, theirs []Score, boot measure.PairedBootstrap) Row {
	allGold := Column(mine, func(s Score) float64 { return s.AllGold })
	baseline := Column(theirs, func(s Score) float64 { return s.AllGold })
	difference := boot.Difference(allGold, baseline)
	interval := boot.Mean(allGold)
	return Row{
		Selector: variant.Settings.Selector, Preset: variant.Settings.Preset, Variant: variant.Name,
		Dataset: dataset, N: len(mine), K: variant.Settings.K,
		GoldRecall:           mean(mine, func(s Score) float64 { return s.GoldRecall }),
		AllGold:              interval.Mean,
		Redundancy:           mean(mine, func(s Score) float64 { return s.Redundancy }),
		Coverage:             mean(mine, func(s Score) float64 { return s.Coverage }),
		DemandObjective:      mean(mine, func(s Score) float64 { return s.Objective }),
		SelectMsP50:          measure.Quantile(Column(mine, func(s Score) float64 { return s.Select.Seconds() * 1e3 }), 0.5),
		AllGoldCI:            [2]float64{interval.Low, interval.High},
		AllGoldMinusCosineCI: [2]float64{difference.Low, difference.High},
		P:                    boot.PValue(allGold, baseline),
		PeakA:                mean(mine, func(s Score) float64 { return s.peak(0) }),
		PeakB:                mean(mine, func(s Score) float64 { return s.peak(1) }),
		AllPeaks:             mean(mine, func(s Score) float64 { return s.AllPeaks }),
		Degraded:             mean(mine, func(s Score) float64 { return indicator(len(s.Degraded) > 0) }),
	}
}

// Column is one figure of every question.
func Column(scores []Score, figure func(Score) float64) []float64 {
	column := make([]float64, len(scores))
	for i, s := range scores {
		column[i] = figure(s)
	}
	return column
}

func mean(scores []Score, figure func(Score) float64) float64 {
	total := 0.0
	for _, s := range scores {
		total += figure(s)
	}
	return total / float64(len(scores))
}

// peak is 1 where gold passage i is covered.
func (s Score) peak(i int) float64 { return indicator(i < len(s.Peaks) && s.Peaks[i]) }
