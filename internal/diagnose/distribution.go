package diagnose

import (
	"gonum.org/v1/gonum/stat"

	"github.com/georag/georag/core/measure"
)

// Distribution sums up one figure over the queries, or over the passages.
type Distribution struct {
	Count  int     `json:"count"`
	Mean   float64 `json:"mean"`
	Least  float64 `json:"least"`
	P5     float64 `json:"p5"`
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	Most   float64 `json:"most"`
	// Bins counts the values in equal steps from Low to High; the last bin includes High.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	Bins []int   `json:"bins"`
}

// bins is how many bins a distribution has; [shareBins] where the values are shares of about ten things.
const (
	bins      = 20
	shareBins = 10
)

// distribute sums up the values, with bins from low to high.
func distribute(values []float64, low, high float64) Distribution {
	return distributeIn(bins, values, low, high)
}

func distributeIn(bins int, values []float64, low, high float64) Distribution {
	d := Distribution{Count: len(values), Low: low, High: high, Bins: make([]int, bins)}
	if len(values) == 0 {
		return d
	}
	d.Mean = stat.Mean(values, nil)
	d.Least, d.Most = measure.Quantile(values, 0), measure.Quantile(values, 1)
	d.P5, d.Median, d.P95 = measure.Quantile(values, 0.05), measure.Quantile(values, 0.5), measure.Quantile(values, 0.95)
	for _, v := range values {
		at := int((v-low)/(high-low)*float64(bins) + 1e-9) // 3/10 belongs to the bin that starts there
		d.Bins[max(0, min(bins-1, at))]++
	}
	return d
}
