package qdrant_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/georag/georag/adapters/qdrant"
	"github.com/georag/georag/adapters/storetest"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/faultproxy"
	"github.com/georag/georag/internal/qdranttest"
	"github.com/georag/georag/internal/qdranttest/conformance"
)

// deadline of the store's calls in these tests. A call that meets a fault ends by itself, so patience, ten times
// as long, is only there to tell a hang.
const (
	deadline = 400 * time.Millisecond
	patience = 10 * deadline
)

// faulty is a line between a store and its server, with what the right answer is.
type faulty struct {
	proxy *faultproxy.Proxy
	store *qdrant.Store
	want  core.SearchResult
}

// faultyCorpus is large enough that an answer takes many packets: 200 × 96 floats.
func faultyCorpus() storetest.Collection {
	c := storetest.Collection{Dimension: 96, Metric: core.MetricCosine, IDs: storetest.UintIDs}
	for i := range 300 {
		v := make([]float32, c.Dimension)
		for j := range v {
			v[j] = float32((i*31+j*17)%101) - 50
		}
		c.Passages = append(c.Passages, core.Candidate{ID: core.UintID(uint64(i + 1)), Vector: v, Payload: map[string]any{"i": i}})
	}
	return c
}

func faultyRequest() core.SearchRequest {
	passages := faultyCorpus().Passages
	return core.SearchRequest{Vector: passages[3].Vector, K: 200, SubQueries: [][]float32{passages[50].Vector, passages[99].Vector}, Depth: 20}
}

func throughProxy(t *testing.T, srv conformance.Server) faulty {
	t.Helper()
	cfg := srv.Fill(t, faultyCorpus())
	want, err := conformance.Opened(t, cfg).Search(t.Context(), faultyRequest())
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := faultproxy.Start(srv.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	cfg.Addr, cfg.Timeout = proxy.Addr(), deadline
	return faulty{proxy, conformance.Opened(t, cfg), want}
}

func (f faulty) set(t *testing.T, fault faultproxy.Fault) {
	t.Helper()
	if err := f.proxy.Set(fault); err != nil {
		t.Fatal(err)
	}
}

// search requires an end within patience, and the right IDs where there is an answer.
func (f faulty) search(t *testing.T) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got, err := f.store.Search(ctx, faultyRequest())
	if ctx.Err() != nil {
		t.Fatalf("no end within %v: %v", patience, err)
	}
	if err != nil {
		return err
	}
	f.check(t, "main", got.Candidates, f.want.Candidates)
	for j, sub := range got.SubQueries {
		if sub.Err == nil {
			f.check(t, "sub-query", sub.Hits, f.want.SubQueries[j].Hits)
		}
	}
	return nil
}

func (f faulty) check(t *testing.T, what string, got, want []core.Candidate) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d results, want %d", what, len(got), len(want))
	}
	for r := range got {
		if got[r].ID != want[r].ID {
			t.Fatalf("%s, rank %d: id %v, want %v", what, r, got[r].ID, want[r].ID)
		}
	}
}

// recovers requires an answer again within two seconds, from the same store.
func (f faulty) recovers(t *testing.T) {
	t.Helper()
	var err error
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = f.search(t); err == nil {
			return
		}
	}
	t.Errorf("no answer within two seconds of the fault's end: %v", err)
}

func TestHarmlessFaults(t *testing.T) {
	srv := server(t)
	f := throughProxy(t, srv)
	for name, fault := range map[string]faultproxy.Fault{
		"latency": {Latency: 5 * time.Millisecond},
		"jitter":  {Latency: time.Millisecond, Jitter: 10 * time.Millisecond},
		"slices":  {ChunkBytes: 977},
	} {
		f.set(t, fault)
		if err := f.search(t); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFaults: each ends the search with ErrUnavailable, never with wrong passages, and is over once it is healed.
func TestFaults(t *testing.T) {
	srv := server(t)
	for name, c := range map[string]struct {
		fault faultproxy.Fault
		late  bool // the error is also that of a deadline
		small bool // an answer of one vector still comes through
	}{
		"slow line":          {faultproxy.Fault{BytesPerSecond: 4000}, true, true},
		"long latency":       {faultproxy.Fault{Latency: 2 * deadline}, true, false},
		"reset":              {faultproxy.Fault{Reset: true}, false, false},
		"refusal":            {faultproxy.Fault{Refuse: true}, false, false},
		"half-open":          {faultproxy.Fault{Silent: true}, true, false},
		"cut in mid-message": {faultproxy.Fault{CutAfter: 20000}, false, true},
		"cut at once":        {faultproxy.Fault{CutAfter: 1}, false, false},
	} {
		for _, when := range []string{"from the start", "later"} {
			t.Run(name+" "+when, func(t *testing.T) {
				f := throughProxy(t, srv)
				if when == "later" {
					if err := f.search(t); err != nil {
						t.Fatal(err)
					}
				}
				f.set(t, c.fault)
				err := f.search(t)
				if !errors.Is(err, core.ErrUnavailable) || c.late && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v, want ErrUnavailable (past its deadline: %v)", err, c.late)
				}
				one, err := f.store.Fetch(t.Context(), core.FetchRequest{IDs: []core.ID{core.UintID(1)}})
				if !errors.Is(err, core.ErrUnavailable) && !(c.small && err == nil && len(one) == 1 && one[0].ID == core.UintID(1)) {
					t.Errorf("fetch: %d passages, error %v", len(one), err)
				}
				if err := f.proxy.Heal(); err != nil {
					t.Fatal(err)
				}
				f.recovers(t)
			})
		}
	}
}

// TestServerRestarts: the same store finds a server again that was killed and came back with the same data.
func TestServerRestarts(t *testing.T) {
	srv := qdranttest.Start(t, qdranttest.Config{})
	f := throughProxy(t, inProcess(srv))
	if err := f.search(t); err != nil {
		t.Fatal(err)
	}
	srv.Close()
	if err := f.search(t); !errors.Is(err, core.ErrUnavailable) {
		t.Errorf("while it is down: %v", err)
	}
	again := qdranttest.Start(t, qdranttest.Config{Data: srv.Data()})
	f.proxy.Retarget(again.Addr())
	f.recovers(t)
}

// TestServerDiesInMidSearch kills it while searches run: each ends rightly or with ErrUnavailable.
func TestServerDiesInMidSearch(t *testing.T) {
	srv := qdranttest.Start(t, qdranttest.Config{})
	f := throughProxy(t, inProcess(srv))
	var searches sync.WaitGroup
	started := make(chan struct{}, 8)
	for range 8 {
		searches.Go(func() {
			for range 20 {
				err := f.search(t)
				select {
				case started <- struct{}{}:
				default:
				}
				if err != nil && !errors.Is(err, core.ErrUnavailable) {
					t.Errorf("error %v, want ErrUnavailable", err)
				}
			}
		})
	}
	<-started
	srv.Close()
	searches.Wait()
	qdranttest.Start(t, qdranttest.Config{Addr: srv.Addr(), Data: srv.Data()})
	f.recovers(t)
}

// TestNeverAnswers: a port that accepts and says nothing ends within the deadline, and a caller who leaves is let go.
func TestNeverAnswers(t *testing.T) {
	srv := server(t)
	f := throughProxy(t, srv)
	f.set(t, faultproxy.Fault{Silent: true})
	start := time.Now()
	if err := f.search(t); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, core.ErrUnavailable) {
		t.Errorf("error %v, want a deadline", err)
	}
	t.Logf("ended %v after its deadline of %v", time.Since(start)-deadline, deadline)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := f.store.Search(ctx, faultyRequest()); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who left: %v", err)
	}
}

// TestFailsOver: of several addresses, those that are dead in any way are passed over.
func TestFailsOver(t *testing.T) {
	srv := server(t)
	for name, fault := range map[string]faultproxy.Fault{"refusing": {Refuse: true}, "resetting": {Reset: true}, "silent": {Silent: true}} {
		t.Run(name, func(t *testing.T) {
			f := throughProxy(t, srv)
			cfg := f.store.Config()
			cfg.Addrs = []string{srv.Addr}
			f.store = conformance.Opened(t, cfg)
			f.set(t, fault)
			f.recovers(t)
			if err := f.proxy.Heal(); err != nil {
				t.Fatal(err)
			}
			if err := f.search(t); err != nil {
				t.Errorf("after healing: %v", err)
			}
		})
	}
}

// TestDiesWhileServing: the node in use goes away, and the next call goes to another.
func TestDiesWhileServing(t *testing.T) {
	srv := server(t)
	f := throughProxy(t, srv)
	cfg := f.store.Config()
	cfg.Addrs = []string{srv.Addr}
	f.store = conformance.Opened(t, cfg)
	if err := f.search(t); err != nil {
		t.Fatal(err)
	}
	for name, fault := range map[string]faultproxy.Fault{"silent": {Silent: true}, "refusing": {Refuse: true}} {
		f.set(t, fault)
		f.recovers(t)
		if err := f.proxy.Heal(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// TestAnswerAboveTheLimit: an answer above max_message_bytes names the setting; the batch's main query alone may
// still fit, and then the search goes on without its sub-queries.
func TestAnswerAboveTheLimit(t *testing.T) {
	srv := server(t)
	cfg := srv.Fill(t, faultyCorpus())
	req := faultyRequest()
	cfg.MaxMessageBytes = 50_000
	if _, err := conformance.Opened(t, cfg).Search(t.Context(), req); !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), "max_message_bytes") {
		t.Errorf("error %v, want one that names max_message_bytes", err)
	}
	cfg.MaxMessageBytes, cfg.OutsideVectors = 95_000, qdrant.OutsideBatch
	req.OutsideVectors, req.Depth = true, 150
	got, err := conformance.Opened(t, cfg).Search(t.Context(), req)
	if err != nil || len(got.Candidates) != 200 {
		t.Fatalf("%d candidates, error %v", len(got.Candidates), err)
	}
	for j, sub := range got.SubQueries {
		if !errors.Is(sub.Err, core.ErrInvalid) {
			t.Errorf("sub-query %d: error %v", j, sub.Err)
		}
	}
}
