package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestQuantileIsOneOfTheValues(t *testing.T) {
	values := []float64{9, 1, 8, 2, 7, 3, 6, 4, 5, 10}
	for p, want := range map[float64]float64{0: 1, 0.05: 1, 0.5: 5, 0.51: 6, 0.95: 10, 1: 10} {
		near(t, "quantile", Quantile(values, p), want)
	}
	near(t, "quantile of nothing", Quantile(nil, 0.5), 0)
	if values[0] != 9 {
		t.Error("the values were reordered")
	}
}

func TestQuantileSplitsTheValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-5, 5), 1, 30).Draw(t, "values")
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		q := Quantile(values, p)
		below, within := 0, 0
		for _, v := range values {
			if v < q {
				below++
			}
			if v <= q {
				within++
			}
		}
		n := float64(len(values))
		if !slices.Contains(values, q) || float64(within) < p*n-1e-9 || (below > 0 && float64(below) >= p*n+1e-9) {
			t.Errorf("quantile %v of %v is %v", p, values, q)
		}
	})
}

func TestBootstrapOfTwoQuestions(t *testing.T) {
	// The mean of two draws from {0, 1} is 0, ½ or 1 with chance ¼, ½, ¼: both ends lie within 95%.
	got := PairedBootstrap{}.Mean([]float64{0, 1})
	if got != (Interval{Mean: 0.5, Low: 0, High: 1}) {
		t.Errorf("interval %+v", got)
	}
	if got := (PairedBootstrap{}).Mean([]float64{2, 2, 2}); got != (Interval{2, 2, 2}) {
		t.Errorf("interval of a constant %+v", got)
	}
	if got := (PairedBootstrap{}).Mean(nil); got != (Interval{}) {
		t.Errorf("interval of nothing %+v", got)
	}
}

// TestBootstrapIntervalHasTheWidthOfTheNormalLaw compares with mean ± 1.96·σ/√n, which the percentile interval
// approaches for many questions.
func TestBootstrapIntervalHasTheWidthOfTheNormalLaw(t *testing.T) {
	values := make([]float64, 400)
	for i := range values {
		values[i] = float64(i % 2)
	}
	got := PairedBootstrap{Samples: 20000, Seed: 7}.Mean(values)
	if half := 1.96 * 0.5 / math.Sqrt(400); math.Abs(got.Low-(0.5-half)) > 0.004 || math.Abs(got.High-(0.5+half)) > 0.004 {
		t.Errorf("interval %+v, want 0.5 ± %v", got, half)
	}
}

func TestBootstrapPValue(t *testing.T) {
	better, worse := []float64{1, 1, 1, 1}, []float64{0, 0.5, 0, 0.9}
	b := PairedBootstrap{Samples: 999}
	near(t, "p of a difference in every sample", b.PValue(better, worse), 2.0/1000)
	near(t, "p the other way round", b.PValue(worse, better), 2.0/1000)
	near(t, "p of equals", b.PValue(better, better), 1)
	near(t, "p of nothing", b.PValue(nil, nil), 1)
	near(t, "p of values that cancel", b.PValue([]float64{0.1 + 0.2}, []float64{0.3}), 1)
	// Of n questions one differs: it is absent from a resample with chance (1−1/n)ⁿ, which then has no difference.
	one, none := []float64{1, 0, 0, 0, 0}, make([]float64, 5)
	p := PairedBootstrap{Samples: 20000}.PValue(one, none)
	if want := 2 * math.Pow(0.8, 5); math.Abs(p-want) > 0.02 {
		t.Errorf("p is %v, want about %v", p, want)
	}
}

func TestBootstrapPanicsOnUnpairedValues(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	PairedBootstrap{}.Difference([]float64{1}, nil)
}

func TestBootstrapProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := PairedBootstrap{Samples: 200, Seed: rapid.Uint64().Draw(t, "seed")}
		n := rapid.IntRange(1, 20).Draw(t, "n")
		value := rapid.SliceOfN(rapid.Float64Range(-1, 1), n, n)
		x, y := value.Draw(t, "x"), value.Draw(t, "y")
		forth, back := b.Difference(x, y), b.Difference(y, x)
		if forth != b.Difference(x, y) {
			t.Error("the same input gave two intervals")
		}
		if forth.Low > forth.High || forth.Low < -2 || forth.High > 2 {
			t.Errorf("interval %+v", forth)
		}
		near(t, "mean of the difference", forth.Mean, -back.Mean)
		near(t, "p-value", b.PValue(x, y), b.PValue(y, x))
		shifted := slices.Clone(x)
		for i := range shifted {
			shifted[i] += 3
		}
		at, up := b.Mean(x), b.Mean(shifted)
		if math.Abs(up.Low-at.Low-3) > 1e-9 || math.Abs(up.High-at.High-3) > 1e-9 {
			t.Errorf("interval %+v moved by 3 is %+v", at, up)
		}
	})
}

// TestBootstrapIntervalsCoverTheTruth draws questions from a law of mean 0.3 many times over: about 95% of the
// intervals hold it.
func TestBootstrapIntervalsCoverTheTruth(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	covered := 0
	for trial := range 400 {
		values := make([]float64, 100)
		for i := range values {
			if random.Float64() < 0.3 {
				values[i] = 1
			}
		}
		if got := (PairedBootstrap{Seed: uint64(trial)}).Mean(values); got.Low <= 0.3 && 0.3 <= got.High {
			covered++
		}
	}
	if covered < 360 || covered > 396 {
		t.Errorf("%d of 400 intervals hold the mean", covered)
	}
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		near(t, "adjusted p", got[i], want)
	}
	near(t, "adjusted p above 1", Holm([]float64{0.9, 0.8})[0], 1)
	if got := Holm(nil); len(got) != 0 {
		t.Errorf("adjusted %v", got)
	}
}

func TestHolmLiesBetweenOneTestAndBonferroni(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 12).Draw(t, "p")
		adjusted := Holm(p)
		for i := range p {
			if adjusted[i] < p[i] || adjusted[i] > min(1, float64(len(p))*p[i])+1e-12 {
				t.Errorf("p %v became %v", p[i], adjusted[i])
			}
			for j := range p {
				if p[i] < p[j] && adjusted[i] > adjusted[j] {
					t.Errorf("%v < %v became %v > %v", p[i], p[j], adjusted[i], adjusted[j])
				}
			}
		}
	})
}
