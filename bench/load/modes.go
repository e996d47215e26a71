package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/georag/georag/bench"
	"github.com/georag/georag/internal/shareddata"
)

const (
	mostP99      = 250 * time.Millisecond // of answers 200, at any load
	leastGoodput = 0.9                    // at twice the capacity, of the closed loop's
	mostGrowth   = 1.1                    // of memory in use, last quarter of a soak over the second
	sampleEvery  = 2 * time.Second        // of a soak
)

// overCorpus serves the corpus of package bench.
func overCorpus(ctx context.Context, o options) (*service, [][]byte, error) {
	corpus, err := bench.OpenCorpus()
	if err != nil {
		return nil, nil, err
	}
	defer corpus.Store.Close()
	bodies, err := questions(corpus, o.selector)
	if err != nil {
		return nil, nil, err
	}
	source := []string{"--demo"}
	if dir, ok := shareddata.Find("data/" + corpus.Name); ok {
		source = []string{"--passages", dir}
	}
	s, err := serve(ctx, o, source...)
	fmt.Printf("corpus %s, %d questions, selector %s\n", corpus.Name, len(bodies), o.selector)
	return s, bodies, err
}

// load is the closed loop, then the open one.
func load(ctx context.Context, o options) error {
	s, bodies, err := overCorpus(ctx, o)
	if err != nil {
		return err
	}
	defer func() { _ = s.kill() }()
	warm, cancel := context.WithTimeout(ctx, o.span/10)
	newDriver(s, bodies).closed(warm, o.clients)
	cancel()

	closed := newDriver(s, bodies)
	const processor = "process_cpu_seconds_total"
	before, err := s.gauge(ctx, processor)
	if err != nil {
		return err
	}
	half, cancel := context.WithTimeout(ctx, o.span)
	closed.closed(half, o.clients)
	cancel()
	after, err := s.gauge(ctx, processor)
	if err != nil {
		return err
	}
	peak, closedP99 := closed.report(fmt.Sprintf("closed loop, %d clients", o.clients), o.span)
	if peak == 0 {
		return errors.New("nothing was answered")
	}
	fmt.Printf("the service's processor time is %.1f ms an answer, refusals included\n", 1000*(after-before)/float64(len(closed.took)))
	rate := o.rate
	if rate == 0 {
		rate = 2 * peak
	}
	open := newDriver(s, bodies)
	half, cancel = context.WithTimeout(ctx, o.span)
	open.open(half, rate)
	cancel()
	goodput, openP99 := open.report(fmt.Sprintf("open loop, %.0f arrivals/s", rate), o.span)
	fmt.Printf("goodput %.3f of the closed loop's\n", goodput/peak)
	return errors.Join(
		demand(len(closed.others) == 0 && len(open.others) == 0, "answers other than 200 and 429: %v and %v", closed.others, open.others),
		demand(closedP99 <= mostP99 && openP99 <= mostP99, "p99 %v and %v, want at most %v", closedP99, openP99, mostP99),
		demand(goodput >= leastGoodput*peak, "goodput %.3f of the peak, want %v", goodput/peak, leastGoodput),
		s.terminate(),
	)
}

// demand is an error where something promised does not hold.
func demand(holds bool, format string, values ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, values...)
}

// soak watches goroutines and heap. Each is compared by the median of the second quarter, when all caches are full,
// and that of the last: a single sample says more of the collector's phase than of a leak.
func soak(ctx context.Context, o options) error {
	s, bodies, err := overCorpus(ctx, o)
	if err != nil {
		return err
	}
	defer func() { _ = s.kill() }()
	d := newDriver(s, bodies)
	span, cancel := context.WithTimeout(ctx, o.span)
	defer cancel()
	driven := make(chan struct{})
	go func() {
		defer close(driven)
		d.closed(span, 8)
	}()
	names := []string{"go_goroutines", "go_memstats_heap_inuse_bytes", "process_resident_memory_bytes"}
	samples := make([][]float64, len(names))
	for tick := time.NewTicker(sampleEvery); span.Err() == nil; {
		select {
		case <-tick.C:
		case <-span.Done():
			continue
		}
		for i, name := range names {
			value, err := s.gauge(ctx, name)
			if err != nil {
				return err
			}
			samples[i] = append(samples[i], value)
		}
	}
	<-driven
	d.report("soak, 8 clients", o.span)
	faults := []error{demand(len(d.others) == 0, "answers other than 200 and 429: %v", d.others)}
	for i, name := range names {
		n := len(samples[i])
		if n < 8 {
			return fmt.Errorf("%d samples are too few: a soak takes at least %v", n, 10*sampleEvery)
		}
		early, late := median(samples[i][n/4:n/2]), median(samples[i][3*n/4:])
		fmt.Printf("%s: median %.0f in the second quarter, %.0f in the last\n", name, early, late)
		faults = append(faults, demand(late <= mostGrowth*early, "%s grew from %.0f to %.0f", name, early, late))
	}
	return errors.Join(append(faults, s.terminate())...)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
