package evaluate

import (
	"slices"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/measure"
)

// Filtered sums up what a filter did to the candidates before anything was selected.
type Filtered struct {
	FilterLooked float64    `json:"filter_looked"`      // mean number of candidates that the filter looked at
	FilterKept   float64    `json:"filter_kept"`        // mean number that it left to the selector
	FilterKeptCI [2]float64 `json:"filter_kept_ci"`     // its interval
	GoldLooked   float64    `json:"filter_gold_looked"` // gold recall of the candidates looked at
	GoldKept     float64    `json:"filter_gold_kept"`   // gold recall of those left
	GoldKeptCI   [2]float64 `json:"filter_gold_kept_ci"`
	GoldLostCI   [2]float64 `json:"filter_gold_lost_ci"` // of the paired difference GoldLooked − GoldKept
	// GoldNearest is the gold recall of the nearest candidates, as many as the filter left of each question's: what
	// cutting the list there would have kept.
	GoldNearest    float64    `json:"filter_gold_nearest"`
	AllGoldLooked  float64    `json:"filter_all_gold_looked"`
	AllGoldKept    float64    `json:"filter_all_gold_kept"`
	AllGoldKeptCI  [2]float64 `json:"filter_all_gold_kept_ci"`
	FilterFellBack float64    `json:"filter_fell_back"` // share of questions where it told nothing apart: all kept or none
}

// passage is what a filter did on one question.
type passage struct {
	looked, kept         int
	goldLooked, goldKept float64
	goldNearest          float64
	allLooked, allKept   float64
	fellBack             float64
}

// passed works out which gold passages a filter saw and left; nil where none ran.
func (p Plan) passed(gold []core.ID, f *core.FilterTrace) *passage {
	if f == nil {
		return nil
	}
	var looked, kept []core.ID
	for _, look := range f.Looked {
		id := p.original(look.ID)
		looked = append(looked, id)
		if look.Kept {
			kept = append(kept, id)
		}
	}
	for _, id := range f.Saved {
		if id = p.original(id); !slices.Contains(kept, id) {
			kept = append(kept, id)
		}
	}
	return &passage{
		looked: len(looked), kept: len(kept),
		goldLooked: measure.GoldRecall(looked, gold), goldKept: measure.GoldRecall(kept, gold),
		goldNearest: measure.GoldRecall(looked[:min(len(kept), len(looked))], gold),
		allLooked:   indicator(measure.AllGold(looked, gold)), allKept: indicator(measure.AllGold(kept, gold)),
		fellBack: indicator(f.Note != ""),
	}
}

// filtering sums up what a filter did; nil where none ran.
func filtering(scores []Score, boot measure.PairedBootstrap) *Filtered {
	if len(scores) == 0 || scores[0].filter == nil {
		return nil
	}
	column := func(figure func(passage) float64) []float64 {
		return Column(scores, func(s Score) float64 { return figure(*s.filter) })
	}
	looked, kept := column(func(p passage) float64 { return p.goldLooked }), column(func(p passage) float64 { return p.goldKept })
	number := boot.Mean(column(func(p passage) float64 { return float64(p.kept) }))
	gold, lost := boot.Mean(kept), boot.Difference(looked, kept)
	all := boot.Mean(column(func(p passage) float64 { return p.allKept }))
	return &Filtered{
		FilterLooked: mean(scores, func(s Score) float64 { return float64(s.filter.looked) }),
		FilterKept:   number.Mean, FilterKeptCI: [2]float64{number.Low, number.High},
		GoldLooked: boot.Mean(looked).Mean, GoldKept: gold.Mean, GoldKeptCI: [2]float64{gold.Low, gold.High},
		GoldLostCI:    [2]float64{lost.Low, lost.High},
		GoldNearest:   mean(scores, func(s Score) float64 { return s.filter.goldNearest }),
		AllGoldLooked: mean(scores, func(s Score) float64 { return s.filter.allLooked }),
		AllGoldKept:   all.Mean, AllGoldKeptCI: [2]float64{all.Low, all.High},
		FilterFellBack: mean(scores, func(s Score) float64 { return s.filter.fellBack }),
	}
}
