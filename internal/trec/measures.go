package trec

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ErrMeasure: no measure has the given name.
var ErrMeasure = errors.New("unknown measure")

// Measure is one of trec_eval's measures of a single query, in [0, 1], higher is better.
type Measure struct {
	name   string
	cutoff int // 0 where the whole list counts
	of     func(ranked []int, grades []int) float64
}

// String is the measure's name as ir_measures writes it: "P@5", "R@20", "nDCG@10", "AP", "RR".
func (m Measure) String() string { return m.name }

// Precision is P@k: the share of the first k places that hold a relevant document.
func Precision(k int) Measure {
	return Measure{fmt.Sprintf("P@%d", k), k, func(ranked, _ []int) float64 {
		return float64(relevant(ranked)) / float64(k)
	}}
}

// Recall is R@k: the share of the relevant documents among the first k.
func Recall(k int) Measure {
	return Measure{fmt.Sprintf("R@%d", k), k, func(ranked, grades []int) float64 {
		return share(float64(relevant(ranked)), float64(relevant(grades)))
	}}
}

// NDCG is nDCG@k with gain = grade and discount log2(rank+1), over the best that k documents could reach
// (trec_eval's ndcg_cut).
func NDCG(k int) Measure {
	return Measure{fmt.Sprintf("nDCG@%d", k), k, func(ranked, grades []int) float64 {
		ideal := slices.Clone(grades)
		slices.SortFunc(ideal, func(a, b int) int { return b - a })
		return share(dcg(ranked), dcg(ideal[:min(k, len(ideal))]))
	}}
}

// AveragePrecision is AP over the whole list; its mean over queries is MAP.
func AveragePrecision() Measure {
	return Measure{"AP", 0, func(ranked, grades []int) float64 {
		found, sum := 0, 0.0
		for i, grade := range ranked {
			if grade > 0 {
				found++
				sum += float64(found) / float64(i+1)
			}
		}
		return share(sum, float64(relevant(grades)))
	}}
}

// ReciprocalRank is RR, 1/rank of the first relevant document; its mean over queries is MRR.
func ReciprocalRank() Measure {
	return Measure{"RR", 0, func(ranked, _ []int) float64 {
		if first := slices.IndexFunc(ranked, func(grade int) bool { return grade > 0 }); first >= 0 {
			return 1 / float64(first+1)
		}
		return 0
	}}
}

// ParseMeasure returns the measure of the given name; the error wraps [ErrMeasure].
func ParseMeasure(name string) (Measure, error) {
	base, cutoff, cut := strings.Cut(name, "@")
	k, err := strconv.Atoi(cutoff)
	switch {
	case !cut && base == "AP":
		return AveragePrecision(), nil
	case !cut && base == "RR":
		return ReciprocalRank(), nil
	case cut && err == nil && k > 0 && base == "P":
		return Precision(k), nil
	case cut && err == nil && k > 0 && base == "R":
		return Recall(k), nil
	case cut && err == nil && k > 0 && base == "nDCG":
		return NDCG(k), nil
	}
	return Measure{}, fmt.Errorf("internal/trec: %w %q; have P@k, R@k, nDCG@k, AP and RR", ErrMeasure, name)
}

// Evaluate returns the measure of each query that is both judged and in the run, as trec_eval does without -c.
func (m Measure) Evaluate(qrels Qrels, run Run) map[string]float64 {
	values := make(map[string]float64)
	for query, documents := range run {
		if judged, ok := qrels[query]; ok {
			values[query] = m.query(judged, documents)
		}
	}
	return values
}

// EvaluateAll returns the measure of each judged query, 0 for those that the run has nothing for (trec_eval -c, and
// what ir_measures reports).
func (m Measure) EvaluateAll(qrels Qrels, run Run) map[string]float64 {
	values := m.Evaluate(qrels, run)
	for query := range qrels {
		if _, ok := values[query]; !ok {
			values[query] = 0
		}
	}
	return values
}

// Mean is the mean of the values in byte order of the queries, which fixes its last digit; 0 where there are none.
func Mean(values map[string]float64) float64 {
	sum := 0.0
	for _, query := range sortedKeys(values) {
		sum += values[query]
	}
	return share(sum, float64(len(values)))
}

func (m Measure) query(judged map[string]int, documents []Scored) float64 {
	documents = slices.Clone(documents)
	rank(documents)
	if m.cutoff > 0 {
		documents = documents[:min(m.cutoff, len(documents))]
	}
	ranked := make([]int, len(documents))
	for i, d := range documents {
		ranked[i] = max(0, judged[d.Doc])
	}
	var grades []int
	for _, doc := range sortedKeys(judged) {
		grades = append(grades, max(0, judged[doc]))
	}
	return m.of(ranked, grades)
}

// relevant counts the grades above 0.
func relevant(grades []int) int {
	count := 0
	for _, grade := range grades {
		if grade > 0 {
			count++
		}
	}
	return count
}

func dcg(grades []int) float64 {
	sum := 0.0
	for i, grade := range grades {
		sum += float64(grade) / math.Log2(float64(i+2))
	}
	return sum
}

// share is part/whole, 0 where there is no whole.
func share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}
