package measure

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Confidence is the level of every interval.
const Confidence = 0.95

// PairedBootstrap resamples questions with replacement (Efron and Tibshirani 1993, ch. 13; Berg-Kirkpatrick et al.
// 2012 for comparing systems on one test set). The zero value draws 1,000 samples. The questions drawn depend on
// Seed and on how many questions there are, not on their values: all selectors are judged on the same samples, and
// the same input gives the same interval.
type PairedBootstrap struct {
	// Samples is how many resamples are drawn; 0 means 1,000.
	Samples int
	// Seed of the draws.
	Seed uint64
}

// Interval is a mean over questions and the range in which [Confidence] of the resampled means lie.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Mean returns the mean of the values, one per question, with its percentile interval; zero where there are none.
func (b PairedBootstrap) Mean(values []float64) Interval {
	if len(values) == 0 {
		return Interval{}
	}
	means := b.means(values)
	slices.Sort(means)
	tail := (1 - Confidence) / 2
	return Interval{
		Mean: stat.Mean(values, nil),
		Low:  stat.Quantile(tail, stat.Empirical, means, nil),
		High: stat.Quantile(1-tail, stat.Empirical, means, nil),
	}
}

// Difference returns the mean of a_i − b_i with its interval. a and other hold one value per question, in the same
// order; it panics where their lengths differ.
func (b PairedBootstrap) Difference(a, other []float64) Interval {
	return b.Mean(differences(a, other))
}

// PValue returns the two-sided p-value, in (0, 1], of the hypothesis that a and other have the same mean: twice the
// smaller share of resampled differences on either side of 0, those at 0 counting for both sides, the observed sample
// counted as one of them so that it is never 0. Arguments as for Difference; 1 where there are none.
func (b PairedBootstrap) PValue(a, other []float64) float64 {
	difference := differences(a, other)
	if len(difference) == 0 {
		return 1
	}
	means := b.means(difference)
	below, above := 1, 1
	for _, mean := range means {
		if mean <= rounding {
			below++
		}
		if mean >= -rounding {
			above++
		}
	}
	return min(1, 2*float64(min(below, above))/float64(len(means)+1))
}

// rounding is what a mean of differences that cancel out may be off from 0.
const rounding = 1e-12

// means returns the mean of each resample.
func (b PairedBootstrap) means(values []float64) []float64 {
	samples := b.Samples
	if samples == 0 {
		samples = 1000
	}
	random := rand.New(rand.NewPCG(b.Seed, uint64(len(values))))
	means := make([]float64, samples)
	for i := range means {
		sum := 0.0
		for range values {
			sum += values[random.IntN(len(values))]
		}
		means[i] = sum / float64(len(values))
	}
	return means
}

func differences(a, b []float64) []float64 {
	if len(a) != len(b) {
		panic("core/measure: paired values of different lengths")
	}
	return floats.SubTo(make([]float64, len(a)), a, b)
}
