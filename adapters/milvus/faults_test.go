package milvus

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/georag/georag/adapters/storetest"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/faultproxy"
	"github.com/georag/georag/internal/milvusserver"
)

// hangs bounds every call far above its deadline: what takes longer has hung.
const hangs = 10 * time.Second

// comeback is how long a store may need to work again once its server does.
const comeback = 2 * time.Second

// line is a store behind a faulty line to a real server, with a request and its right answer.
type line struct {
	store   *Store
	proxy   *faultproxy.Proxy
	request core.SearchRequest
	want    core.SearchResult
}

// newLine puts a proxy before the collection of cfg and asks the request over a healthy line first.
func newLine(t *testing.T, cfg Config, request core.SearchRequest) *line {
	t.Helper()
	proxy, err := faultproxy.Start(cfg.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	cfg.Addr = proxy.Addr()
	l := &line{proxy: proxy, request: request, store: newStore(t, cfg)}
	t.Cleanup(func() { l.store.Close() })
	slowly := cfg
	slowly.Policy = patient
	s := newStore(t, slowly)
	defer s.Close()
	if l.want, err = s.Search(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *line) set(t *testing.T, f faultproxy.Fault) {
	t.Helper()
	if err := l.proxy.Set(f); err != nil {
		t.Fatal(err)
	}
}

// search returns the error of a search whose answer, where there is one, must be right: the main candidates, and
// each sub-query's hits unless it failed with a sentinel of its own.
func (l *line) search(t *testing.T) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	got, err := l.store.Search(ctx, l.request)
	if ctx.Err() != nil {
		t.Errorf("the search hung: %v", err)
	}
	if err != nil {
		l.mustBeUnavailable(t, err)
		return err
	}
	sameIDs(t, "main", got.Candidates, l.want.Candidates)
	for j, sub := range got.SubQueries {
		if sub.Err != nil {
			l.mustBeUnavailable(t, sub.Err)
			continue
		}
		sameIDs(t, "sub-query", sub.Hits, l.want.SubQueries[j].Hits)
	}
	return nil
}

func (l *line) mustBeUnavailable(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, core.ErrUnavailable) {
		t.Errorf("error %v does not wrap %v", err, core.ErrUnavailable)
	}
}

// recovers requires a right answer within [comeback].
func (l *line) recovers(t *testing.T) {
	t.Helper()
	var err error
	for start := time.Now(); time.Since(start) < comeback; time.Sleep(10 * time.Millisecond) {
		if err = l.search(t); err == nil {
			return
		}
	}
	t.Errorf("no answer within %v of the line's recovery: %v", comeback, err)
}

func sameIDs(t *testing.T, what string, got, want []core.Candidate) {
	t.Helper()
	ids := func(list []core.Candidate) (out []core.ID) {
		for _, c := range list {
			out = append(out, c.ID)
		}
		return out
	}
	if !slices.Equal(ids(got), ids(want)) {
		t.Errorf("%s: ids %v, want %v", what, ids(got), ids(want))
	}
}

// randomPassages are n passages of dimension d, the same each time.
func randomPassages(n, d int) []core.Candidate {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	passages := make([]core.Candidate, n)
	for i := range passages {
		v := make([]float32, d)
		for k := range v {
			v[k] = float32(rng.NormFloat64())
		}
		passages[i] = core.Candidate{ID: core.IntID(int64(i) - 1<<60), Vector: v, Payload: map[string]any{"n": int64(i)}}
	}
	return passages
}

// askAll is a request whose answer is a third of a megabyte, so that faults strike within messages.
func askAll(passages []core.Candidate) core.SearchRequest {
	request := core.SearchRequest{Vector: passages[0].Vector, K: len(passages), Depth: 20}
	for _, p := range passages[1:11] {
		request.SubQueries = append(request.SubQueries, p.Vector)
	}
	return request
}

func TestFaults(t *testing.T) {
	passages := randomPassages(250, 384)
	cfg := fill(t, milvusserver.Addr(t), storetest.Collection{Passages: passages, Dimension: 384, Metric: core.MetricCosine, IDs: storetest.IntIDs}, true)
	request := askAll(passages)
	brief := cfg
	cfg.Policy.Timeout, brief.Policy.Timeout = hangs, 600*time.Millisecond
	t.Run("slow", func(t *testing.T) { slowLines(t, cfg, request) })
	t.Run("broken", func(t *testing.T) { brokenLines(t, brief, request) })
	t.Run("silent", func(t *testing.T) { silentLines(t, brief, request) })
	t.Run("given up", func(t *testing.T) { givenUp(t, cfg, request) })
	t.Run("any at any time", func(t *testing.T) { faultsAtRandom(t, newLine(t, brief, request)) })
}

// slowLines are no failure.
func slowLines(t *testing.T, cfg Config, request core.SearchRequest) {
	for name, fault := range map[string]faultproxy.Fault{
		"latency":         {Latency: 30 * time.Millisecond},
		"jitter":          {Latency: 5 * time.Millisecond, Jitter: 20 * time.Millisecond},
		"small pieces":    {ChunkBytes: 1000},
		"slow bandwidth":  {BytesPerSecond: 1 << 20},
		"lingering close": {SlowClose: 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t, cfg, request)
			l.set(t, fault)
			if err := l.search(t); err != nil {
				t.Error(err)
			}
		})
	}
}

// brokenLines are told at once.
func brokenLines(t *testing.T, cfg Config, request core.SearchRequest) {
	for name, fault := range map[string]faultproxy.Fault{
		"reset":                 {Reset: true},
		"refusal":               {Refuse: true},
		"cut before an answer":  {CutAfter: 1},
		"cut within a header":   {CutAfter: 100},
		"cut within a message":  {CutAfter: 50_000},
		"cut late in a message": {CutAfter: 300_000},
	} {
		l := newLine(t, cfg, request)
		for _, state := range []string{"unconnected", "connected"} {
			t.Run(name+", "+state, func(t *testing.T) {
				l.set(t, fault)
				if err := l.search(t); err == nil {
					t.Error("no error over a broken line")
				}
				l.set(t, faultproxy.Fault{})
				l.recovers(t) // and is connected for the second round
			})
		}
	}
}

// silentLines end with the deadline.
func silentLines(t *testing.T, cfg Config, request core.SearchRequest) {
	for name, fault := range map[string]faultproxy.Fault{
		"never answers":          {Silent: true},
		"twenty bytes a second":  {BytesPerSecond: 20},
		"endless latency":        {Latency: time.Hour},
		"too slow for an answer": {BytesPerSecond: 100_000},
	} {
		l := newLine(t, cfg, request)
		for _, state := range []string{"unconnected", "connected"} {
			t.Run(name+", "+state, func(t *testing.T) {
				l.set(t, fault)
				start := time.Now()
				if err := l.search(t); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v does not wrap %v", err, context.DeadlineExceeded)
				}
				t.Logf("ended %v after the deadline", time.Since(start)-cfg.Policy.Timeout)
				l.set(t, faultproxy.Fault{})
				l.recovers(t)
			})
		}
	}
}

// givenUp has the caller end a call that waits for a silent server.
func givenUp(t *testing.T, cfg Config, request core.SearchRequest) {
	for name, end := range map[string]func(cancel func(), s *Store){
		"cancelled": func(cancel func(), _ *Store) { cancel() },
		"closed":    func(_ func(), s *Store) { s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t, cfg, request)
			l.set(t, faultproxy.Fault{Silent: true})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(50*time.Millisecond, func() { end(cancel, l.store) })
			_, err := l.store.Search(ctx, request)
			if name == "cancelled" && !errors.Is(err, context.Canceled) || err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// faultsAtRandom changes the fault every few milliseconds under concurrent searches.
func faultsAtRandom(t *testing.T, l *line) {
	faults := []faultproxy.Fault{{}, {Reset: true}, {}, {CutAfter: 70_000}, {Latency: 10 * time.Millisecond}, {Refuse: true}, {},
		{Silent: true}, {ChunkBytes: 500}, {CutAfter: 1}}
	var searching sync.WaitGroup
	for range 3 {
		searching.Go(func() {
			for range 60 {
				_ = l.search(t) // it judges the answer and the error itself
			}
		})
	}
	done := make(chan struct{})
	go func() { searching.Wait(); close(done) }()
	for i := 0; ; i++ {
		select {
		case <-done:
			l.set(t, faultproxy.Fault{})
			l.recovers(t)
			return
		case <-time.After(40 * time.Millisecond):
			l.set(t, faults[i%len(faults)])
		}
	}
}
