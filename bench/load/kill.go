package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/qdrant"
	"github.com/georag/georag/bench"
	"github.com/georag/georag/core"
	"github.com/georag/georag/demo"
	"github.com/georag/georag/internal/qdranttest"
	demoquestions "github.com/georag/georag/internal/questions"
)

const (
	mostRecovery = 2 * time.Second
	killedFor    = 3 * time.Second
	collection   = "passages"
)

func openDemo() (bench.Corpus, error) {
	store, err := flat.OpenFS(demo.Files, "data", flat.Config{})
	if err != nil {
		return bench.Corpus{}, err
	}
	asked, err := demoquestions.OpenFS(demo.Files, "data")
	return bench.Corpus{Name: "demo", Store: store, Questions: asked}, err
}

func demoQuestions(selector string) ([][]byte, error) {
	corpus, err := openDemo()
	if err != nil {
		return nil, err
	}
	defer corpus.Store.Close()
	return questions(corpus, selector)
}

// kill ends the store under load and brings it back, three times: meanwhile requests fail as unavailable, and within
// two seconds of its return they are answered again. The store is a server of Qdrant's protocol in this process.
func kill(ctx context.Context, o options) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	config := qdranttest.Config{Addr: address, Data: qdranttest.NewData()}
	server, err := qdranttest.New(config)
	if err != nil {
		return err
	}
	defer func() { server.Close() }()
	if err := fill(ctx, address); err != nil {
		return err
	}
	bodies, err := demoQuestions(o.selector)
	if err != nil {
		return err
	}
	s, err := serve(ctx, o, "--store", "qdrant://"+address+"/"+collection)
	if err != nil {
		return err
	}
	defer func() { _ = s.kill() }()
	d := newDriver(s, bodies)
	driving, cancel := context.WithCancel(ctx)
	defer cancel()
	driven := make(chan struct{})
	go func() {
		defer close(driven)
		d.closed(driving, 8)
	}()
	for round := range 3 {
		time.Sleep(killedFor)
		server.Close()
		time.Sleep(killedFor)
		back := time.Now()
		if server, err = qdranttest.New(config); err != nil {
			return err
		}
		took, err := d.recovery(ctx, back)
		if err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
		fmt.Printf("kill: round %d, answered again %v after the store's return\n", round+1, took.Round(time.Millisecond))
	}
	cancel()
	<-driven
	d.report("kill, 8 clients", 6*killedFor)
	delete(d.others, "503")
	delete(d.others, "504")
	return errors.Join(demand(len(d.others) == 0, "answers other than 200, 429, 503 and 504: %v", d.others), s.terminate())
}

// recovery waits for the first answer 200 after a time.
func (d *driver) recovery(ctx context.Context, back time.Time) (time.Duration, error) {
	for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
		d.mu.Lock()
		good := d.good
		d.mu.Unlock()
		if good.After(back) {
			return good.Sub(back), nil
		}
		if time.Since(back) > mostRecovery {
			return 0, fmt.Errorf("no answer within %v of the store's return", mostRecovery)
		}
	}
	return 0, ctx.Err()
}

// fill writes the demonstration's passages into the server.
func fill(ctx context.Context, address string) error {
	corpus, err := openDemo()
	if err != nil {
		return err
	}
	defer corpus.Store.Close()
	var passages []core.Candidate
	err = corpus.Store.Scan(ctx, core.Scope{}, 0, func(c core.Candidate) bool {
		passages = append(passages, c)
		return true
	})
	if err != nil {
		return err
	}
	store, err := qdrant.New(qdrant.Config{Addr: address, Collection: collection, IDField: "id"})
	if err != nil {
		return err
	}
	defer store.Close()
	spec := core.CollectionSpec{Dimension: len(passages[0].Vector), TextIDs: true, SampleID: passages[0].ID}
	if err := store.Create(ctx, spec); err != nil {
		return err
	}
	return store.Upsert(ctx, passages)
}
