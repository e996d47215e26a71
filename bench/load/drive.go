package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"
)

// connections is how many the driver opens at most: fewer than the service accepts at once by default.
const connections = 400

// driver asks a service and counts the answers.
type driver struct {
	url    string
	bodies [][]byte
	client *http.Client

	mu      sync.Mutex
	took    []time.Duration // of answers 200, from when their request was due
	refused int             // answers 429
	others  map[string]int  // all else, by what it was
	good    time.Time       // of the last answer 200
}

func newDriver(s *service, bodies [][]byte) *driver {
	transport := &http.Transport{MaxIdleConns: connections, MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}
	return &driver{url: s.url + "/v1/select", bodies: bodies, others: map[string]int{}, client: &http.Client{Transport: transport, Timeout: 30 * time.Second}}
}

// ask makes the i-th request, which was due at a time, and counts its answer. It returns the status, 0 for none.
func (d *driver) ask(i int, due time.Time, id string) int {
	request, err := http.NewRequest(http.MethodPost, d.url, bytes.NewReader(d.bodies[i%len(d.bodies)]))
	if err != nil {
		d.count(err.Error(), due)
		return 0
	}
	request.Header.Set("Content-Type", "application/json")
	if id != "" {
		request.Header.Set("X-Request-Id", id)
	}
	answer, err := d.client.Do(request)
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	if err != nil {
		d.count("no answer", due)
		return 0
	}
	d.count(fmt.Sprint(answer.StatusCode), due)
	return answer.StatusCode
}

func (d *driver) count(what string, due time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch what {
	case "200":
		d.good = time.Now()
		d.took = append(d.took, d.good.Sub(due))
	case "429":
		d.refused++
	default:
		d.others[what]++
	}
}

// closed has each of the clients ask again as soon as it is answered, until ctx ends.
func (d *driver) closed(ctx context.Context, clients int) {
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for i := client; ctx.Err() == nil; i += clients {
				d.ask(i, time.Now(), "")
			}
		})
	}
	all.Wait()
}

// open lets requests arrive at a rate a second, whether or not earlier ones are answered, until ctx ends. Late
// arrivals are made up for, and timed from when they were due.
func (d *driver) open(ctx context.Context, rate float64) {
	var all sync.WaitGroup
	defer all.Wait()
	every := time.Duration(float64(time.Second) / rate)
	due := time.Now()
	for i := 0; ; i++ {
		due = due.Add(every)
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(due)):
		}
		at := due
		all.Go(func() { d.ask(i, at, "") })
	}
}

// report prints what was counted within span, and returns the answers 200 a second and the 99th percentile.
func (d *driver) report(name string, span time.Duration) (rate float64, p99 time.Duration) {
	slices.Sort(d.took)
	rate = float64(len(d.took)) / span.Seconds()
	p99 = quantile(d.took, .99)
	fmt.Printf("%s: %.1f answers/s, %d answered, %d refused, others %v, p50 %v, p99 %v\n", name, rate, len(d.took), d.refused, d.others, quantile(d.took, .5), p99)
	return rate, p99
}

// quantile of sorted times; 0 of none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	at := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[max(at, 0)].Round(10 * time.Microsecond)
}
