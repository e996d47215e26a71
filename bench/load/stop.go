package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// inFlight is how many clients ask while the service is stopped.
const inFlight = 32

// stop terminates a service under requests in flight, once a round. The service logs every request that it took on;
// each of those must have had its whole answer.
func stop(ctx context.Context, o options) error {
	total := 0
	for round := range o.rounds {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := stopOnce(ctx, o, round)
		if err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
		total += n
	}
	fmt.Printf("stop: %d rounds, %d requests taken on, none lost\n", o.rounds, total)
	return nil
}

func stopOnce(ctx context.Context, o options, round int) (taken int, err error) {
	// With no drain the clients are cut off at the worst moment; with one they leave by themselves.
	drain := []string{"0s", "50ms"}[round%2]
	s, err := serve(ctx, o, "--demo", "--set", "server.timeouts.drain="+drain, "--set", "server.timeouts.request=10s")
	if err != nil {
		return 0, err
	}
	defer func() { _ = s.kill() }()
	bodies, err := demoQuestions(o.selector)
	if err != nil {
		return 0, err
	}
	answered, err := askWhileEnding(s, bodies)
	if err != nil {
		return 0, fmt.Errorf("the service did not end in order: %w: %s", err, &s.log)
	}
	for lines := bufio.NewScanner(bytes.NewReader(s.log.Bytes())); lines.Scan(); {
		var line struct {
			Msg, Route string
			ID         string `json:"request_id"`
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil || line.Msg != "request" || line.Route != "POST /v1/select" {
			continue
		}
		taken++
		if _, ok := answered.Load(line.ID); !ok {
			return taken, fmt.Errorf("request %s was taken on and its answer lost", line.ID)
		}
	}
	return taken, demand(taken >= inFlight, "only %d requests were taken on", taken)
}

// askWhileEnding has the clients ask until the service no longer answers, and terminates it meanwhile.
func askWhileEnding(s *service, bodies [][]byte) (answered *sync.Map, err error) {
	answered = &sync.Map{}
	d := newDriver(s, bodies)
	defer d.client.CloseIdleConnections()
	var clients sync.WaitGroup
	var sent atomic.Int64
	for client := range inFlight {
		clients.Go(func() {
			for n := 0; ; n++ {
				id := fmt.Sprintf("c%d-n%d", client, n)
				sent.Add(1)
				if d.ask(client+n, time.Now(), id) == 0 {
					return
				}
				answered.Store(id, true)
			}
		})
	}
	for sent.Load() < 2*inFlight {
		time.Sleep(time.Millisecond)
	}
	err = s.terminate()
	clients.Wait()
	return answered, err
}
