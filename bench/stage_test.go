package bench

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/georag/georag/core"
)

func openCorpus(b *testing.B) Corpus {
	b.Helper()
	c, err := OpenCorpus()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Store.Close() })
	return c
}

// settings is preset "default" with another selector.
func settings(selector string) core.Settings {
	s := core.DefaultPreset()
	s.Selector = selector
	return s
}

// arrowFinish is what follows the last arrow: the objective, the trace, the answer.
const arrowFinish core.Arrow = "finish"

// meter adds up the processor time of each arrow of one selection. The search of the flat index runs on threads of
// its own, so its figure is left out.
type meter struct {
	last  time.Duration
	spent map[core.Arrow]time.Duration
}

func (m *meter) start() { m.last, m.spent = CPU(), make(map[core.Arrow]time.Duration) }

func (m *meter) end(arrow core.Arrow) {
	now := CPU()
	m.spent[arrow] += now - m.last
	m.last = now
}

// own is the stage's own time, all but the store's.
func (m *meter) own() (total time.Duration) {
	for arrow, spent := range m.spent {
		if arrow != core.ArrowStore {
			total += spent
		}
	}
	return total
}

// BenchmarkStage selects for every question under preset "default" on the flat index, and reports the processor time
// that the stage itself spends on a question: p50 and p95, and the p50 of each arrow, in microseconds.
func BenchmarkStage(b *testing.B) {
	corpus := openCorpus(b)
	for _, selector := range []string{"georag", "facility", "mmr"} {
		b.Run(selector, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var m meter
			stage := core.Stage{Store: corpus.Store, Settings: settings(selector)}
			stage.Observe = func(_ context.Context, arrow core.Arrow, _ time.Time, _ time.Duration) { m.end(arrow) }
			spent := make(map[core.Arrow][]time.Duration)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				m.start()
				if _, err := stage.Select(b.Context(), corpus.Questions[i%len(corpus.Questions)].Query()); err != nil {
					b.Fatal(err)
				}
				m.end(arrowFinish)
				spent["own"] = append(spent["own"], m.own())
				for arrow, d := range m.spent {
					spent[arrow] = append(spent[arrow], d)
				}
			}
			b.ReportMetric(quantile(spent["own"], 0.5), "own-µs-p50")
			b.ReportMetric(quantile(spent["own"], 0.95), "own-µs-p95")
			for _, arrow := range []core.Arrow{core.ArrowPlan, core.ArrowDemand, core.ArrowPick, arrowFinish} {
				b.ReportMetric(quantile(spent[arrow], 0.5), string(arrow)+"-µs")
			}
		})
	}
}

// quantile returns the q-quantile in microseconds.
func quantile(d []time.Duration, q float64) float64 {
	slices.Sort(d)
	return float64(d[int(q*float64(len(d)-1))].Nanoseconds()) / 1e3
}

// BenchmarkThroughput selects from many goroutines at once, each with its own question; ns/op is the time per answer
// of the whole machine.
func BenchmarkThroughput(b *testing.B) {
	corpus := openCorpus(b)
	stage := core.Stage{Store: corpus.Store, Settings: core.DefaultPreset()}
	for _, concurrent := range []int{1, 2, 4, 8, 16, 32, 64} {
		b.Run(fmt.Sprintf("requests=%d", concurrent), func(b *testing.B) { selectFrom(b, &stage, corpus, concurrent) })
	}
}

// selectFrom answers b.N questions, concurrent of them at a time.
func selectFrom(b *testing.B, stage *core.Stage, corpus Corpus, concurrent int) {
	next := make(chan int)
	failed := make(chan error, concurrent)
	for range concurrent {
		go func() {
			var first error
			for i := range next {
				_, err := stage.Select(b.Context(), corpus.Questions[i%len(corpus.Questions)].Query())
				first = cmp.Or(first, err)
			}
			failed <- first
		}()
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		next <- i
	}
	close(next)
	for range concurrent {
		if err := <-failed; err != nil {
			b.Error(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
}
