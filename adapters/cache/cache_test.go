package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"github.com/georag/georag/core"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model is an embedder, a sub-query writer and a passage writer that counts its calls and waits in them where told to.
type model struct {
	name string

	mu    sync.Mutex
	calls [][]string
	wait  func(context.Context) error // nil: no wait
	short bool                        // write one sub-query less than asked
	fail  error
}

func (m *model) Model() string       { return m.name }
func (m *model) Fingerprint() string { return m.name + " v1" }

func (m *model) called(ctx context.Context, texts ...string) error {
	m.mu.Lock()
	m.calls = append(m.calls, texts)
	wait, fail := m.wait, m.fail
	m.mu.Unlock()
	if wait != nil {
		if err := wait(ctx); err != nil {
			return err
		}
	}
	return fail
}

func (m *model) vectors(ctx context.Context, add float32, texts []string) ([][]float32, error) {
	if err := m.called(ctx, texts...); err != nil {
		return nil, err
	}
	var out [][]float32
	for _, text := range texts {
		out = append(out, []float32{float32(len(text)), add, -0.1})
	}
	return out, nil
}

func (m *model) EmbedQueries(ctx context.Context, texts []string) ([][]float32, error) {
	return m.vectors(ctx, 1, texts)
}

func (m *model) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	return m.vectors(ctx, 2, texts)
}

func (m *model) WriteSubQueries(ctx context.Context, question string, n int) (core.SubQueries, error) {
	if err := m.called(ctx, question); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return core.SubQueries{Texts: []string{"partial"}, Degraded: "the time was up"}, nil
		}
		return core.SubQueries{}, err
	}
	written := core.SubQueries{}
	for i := range n {
		written.Texts = append(written.Texts, fmt.Sprintf("%s %d", question, i))
	}
	if m.short {
		written.Texts, written.Degraded = written.Texts[1:], "one too few"
	}
	return written, nil
}

func (m *model) WritePassage(ctx context.Context, question string) (string, error) {
	return "passage on " + question, m.called(ctx, question)
}

func open(t *testing.T, c Config) *Cache {
	t.Helper()
	cache, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cache.Close() })
	return cache
}

func TestEmbedderAsksForWhatIsMissingInOneCall(t *testing.T) {
	m := &model{name: "m"}
	e := open(t, Config{}).Embedder(m)
	for _, texts := range [][]string{{"a", "bb"}, {"ccc", "bb", "a", "ccc", "dddd"}, {"dddd", "a"}} {
		got, err := e.EmbedQueries(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			if !slices.Equal(got[i], []float32{float32(len(text)), 1, -0.1}) {
				t.Errorf("%q: %v", text, got[i])
			}
			got[i][0] = 99 // a caller may do with its vectors what it likes
		}
	}
	if want := [][]string{{"a", "bb"}, {"ccc", "dddd"}}; !slices.EqualFunc(m.calls, want, slices.Equal) {
		t.Errorf("calls %q, want %q", m.calls, want)
	}
	if got, _ := e.EmbedPassages(t.Context(), []string{"a"}); got[0][1] != 2 {
		t.Errorf("the passage got the query's vector %v", got[0])
	}
}

func TestModelsDoNotMix(t *testing.T) {
	cache := open(t, Config{})
	one, two := &model{name: "one"}, &model{name: "two"}
	for range 2 {
		for _, m := range []*model{one, two} {
			if _, err := cache.Embedder(m).EmbedQueries(t.Context(), []string{"a"}); err != nil {
				t.Fatal(err)
			}
			for n := 1; n <= 2; n++ {
				got, err := cache.SubQueryWriter(m).WriteSubQueries(t.Context(), "a", n)
				if err != nil || len(got.Texts) != n {
					t.Errorf("got %+v, error %v", got, err)
				}
			}
			if got, err := cache.PassageWriter(m, "").WritePassage(t.Context(), "a"); err != nil || got != "passage on a" {
				t.Errorf("got %q, error %v", got, err)
			}
		}
	}
	if len(one.calls) != 4 || len(two.calls) != 4 {
		t.Errorf("%d and %d calls, want 4 each", len(one.calls), len(two.calls))
	}
	if s := cache.Stats(); s.Calls != 8 || s.Memory != 8 || s.Disk != 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestKeysOfPartsDiffer(t *testing.T) {
	if keyOf("ab", "c") == keyOf("a", "bc") || keyOf("a") == keyOf("a", "") {
		t.Error("different parts have one key")
	}
}

func TestBoundsOfMemory(t *testing.T) {
	t.Run("number", func(t *testing.T) {
		m := &model{name: "m"}
		e := open(t, Config{Entries: 2}).Embedder(m)
		for _, text := range []string{"a", "b", "a", "c", "a", "b"} { // b was used least recently when c came
			if _, err := e.EmbedQueries(t.Context(), []string{text}); err != nil {
				t.Fatal(err)
			}
		}
		if want := [][]string{{"a"}, {"b"}, {"c"}, {"b"}}; !slices.EqualFunc(m.calls, want, slices.Equal) {
			t.Errorf("calls %q, want %q", m.calls, want)
		}
	})
	t.Run("age", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := &model{name: "m"}
			w := open(t, Config{TTL: time.Minute}).SubQueryWriter(m)
			for range 3 {
				if _, err := w.WriteSubQueries(t.Context(), "a", 2); err != nil {
					t.Fatal(err)
				}
				time.Sleep(40 * time.Second)
			}
			if len(m.calls) != 2 {
				t.Errorf("%d calls, want 2: at 0 s and at 80 s", len(m.calls))
			}
		})
	})
}

func TestFailuresAndDegradedAnswersAreNotKept(t *testing.T) {
	m := &model{name: "m", fail: core.ErrUnavailable}
	cache := open(t, Config{})
	e, w, p := cache.Embedder(m), cache.SubQueryWriter(m), cache.PassageWriter(m, "")
	ask := func() (int, error, error, error) {
		before := len(m.calls)
		_, err1 := e.EmbedQueries(t.Context(), []string{"a"})
		_, err2 := w.WriteSubQueries(t.Context(), "a", 3)
		_, err3 := p.WritePassage(t.Context(), "a")
		return len(m.calls) - before, err1, err2, err3
	}
	for range 2 {
		calls, err1, err2, err3 := ask()
		if calls != 3 || !errors.Is(err1, core.ErrUnavailable) || !errors.Is(err2, core.ErrUnavailable) || !errors.Is(err3, core.ErrUnavailable) {
			t.Errorf("%d calls, errors %v, %v, %v", calls, err1, err2, err3)
		}
	}
	m.fail, m.short = nil, true
	for range 2 {
		got, err := w.WriteSubQueries(t.Context(), "a", 3)
		if err != nil || len(got.Texts) != 2 || got.Degraded == "" {
			t.Errorf("got %+v, error %v", got, err)
		}
	}
	m.short = false
	before := len(m.calls)
	for range 2 {
		if got, err := w.WriteSubQueries(t.Context(), "a", 3); err != nil || len(got.Texts) != 3 || got.Degraded != "" {
			t.Errorf("got %+v, error %v", got, err)
		}
	}
	if len(m.calls) != before+1 {
		t.Errorf("%d calls, want 1", len(m.calls)-before)
	}
}

func TestSimultaneousCallersShareOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{name: "m", wait: func(context.Context) error { time.Sleep(time.Second); return nil }}
		cache := open(t, Config{})
		w, e := cache.SubQueryWriter(m), cache.Embedder(m)
		var group sync.WaitGroup
		for i := range 50 {
			group.Go(func() {
				got, err := w.WriteSubQueries(t.Context(), "a", 2)
				if err != nil || !slices.Equal(got.Texts, []string{"a 0", "a 1"}) {
					t.Errorf("got %+v, error %v", got, err)
				}
				got.Texts[0] = fmt.Sprint(i) // must not show in another caller's answer
			})
			group.Go(func() {
				if got, err := e.EmbedQueries(t.Context(), []string{"a", "b"}); err != nil || len(got) != 2 {
					t.Errorf("got %v, error %v", got, err)
				}
			})
		}
		group.Wait()
		if len(m.calls) != 2 {
			t.Errorf("%d calls, want one each", len(m.calls))
		}
	})
}

func sleep(d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// The first caller gives up; the others get the answer of the call that it started, at the time it was due.
func TestCancelledLeaderDoesNotPoisonFollowers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{name: "m", wait: sleep(time.Second)}
		w := open(t, Config{}).SubQueryWriter(m)
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		var group sync.WaitGroup
		group.Go(func() {
			_, err := w.WriteSubQueries(ctx, "a", 2)
			if !errors.Is(err, context.Canceled) || time.Since(start) != 100*time.Millisecond {
				t.Errorf("leader: error %v after %v", err, time.Since(start))
			}
		})
		synctest.Wait()
		for range 5 {
			group.Go(func() {
				got, err := w.WriteSubQueries(t.Context(), "a", 2)
				if err != nil || len(got.Texts) != 2 || time.Since(start) != time.Second {
					t.Errorf("follower: %+v, error %v after %v", got, err, time.Since(start))
				}
			})
		}
		time.Sleep(100 * time.Millisecond)
		cancel()
		group.Wait()
		if len(m.calls) != 1 {
			t.Errorf("%d calls, want 1", len(m.calls))
		}
	})
}

// A follower with more time does not have to be content with what the leader's short deadline left, neither a partial
// answer nor an error.
func TestLeadersDeadlineIsNotTheFollowers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{name: "m", wait: sleep(time.Second)}
		cache := open(t, Config{})
		w, e := cache.SubQueryWriter(m), cache.Embedder(m)
		hasty, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := e.EmbedQueries(hasty, []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("hasty embedding: error %v", err)
			}
		})
		group.Go(func() { _, _ = w.WriteSubQueries(hasty, "a", 2) })
		synctest.Wait()
		for range 5 {
			group.Go(func() {
				if got, err := w.WriteSubQueries(t.Context(), "a", 2); err != nil || len(got.Texts) != 2 || got.Degraded != "" {
					t.Errorf("patient writing: %+v, error %v", got, err)
				}
			})
			group.Go(func() {
				if got, err := e.EmbedQueries(t.Context(), []string{"a"}); err != nil || len(got) != 1 {
					t.Errorf("patient embedding: %v, error %v", got, err)
				}
			})
		}
		group.Wait()
		if len(m.calls) != 4 {
			t.Errorf("%d calls, want 4: each first one, and one for all who waited on", len(m.calls))
		}
	})
}

// A server that is down is asked once by all who wait, not once by each.
func TestErrorsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{name: "m", wait: sleep(time.Second), fail: core.ErrUnavailable}
		e := open(t, Config{}).Embedder(m)
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				if _, err := e.EmbedQueries(t.Context(), []string{"a"}); !errors.Is(err, core.ErrUnavailable) {
					t.Errorf("error %v", err)
				}
			})
		}
		group.Wait()
		if len(m.calls) != 1 {
			t.Errorf("%d calls, want 1", len(m.calls))
		}
	})
}

func TestCloseEndsCallsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{name: "m", wait: sleep(time.Hour)}
		cache := open(t, Config{})
		ctx, cancel := context.WithCancel(t.Context())
		cancelled := make(chan struct{})
		go func() {
			_, _ = cache.Embedder(m).EmbedQueries(ctx, []string{"a"})
			close(cancelled)
		}()
		synctest.Wait()
		cancel()
		<-cancelled
		start := time.Now()
		_ = cache.Close()
		synctest.Wait() // the call's goroutine has ended, or the bubble would wait out the hour
		if time.Since(start) != 0 {
			t.Errorf("%v passed", time.Since(start))
		}
	})
}

func TestFileOutlivesTheProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cache.db")
	ask := func() (calls int, s Stats) {
		m := &model{name: "m"}
		cache, err := Open(Config{File: file})
		if err != nil {
			t.Fatal(err)
		}
		defer cache.Close()
		got, err := cache.Embedder(m).EmbedQueries(t.Context(), []string{"a", "bb"})
		if err != nil || !slices.Equal(got[1], []float32{2, 1, -0.1}) {
			t.Errorf("vectors %v, error %v", got, err)
		}
		written, err := cache.SubQueryWriter(m).WriteSubQueries(t.Context(), "Wer führte Regie?", 3)
		if err != nil || len(written.Texts) != 3 || written.Texts[2] != "Wer führte Regie? 2" {
			t.Errorf("written %+v, error %v", written, err)
		}
		if passage, err := cache.PassageWriter(m, "").WritePassage(t.Context(), "a"); err != nil || passage != "passage on a" {
			t.Errorf("passage %q, error %v", passage, err)
		}
		return len(m.calls), cache.Stats()
	}
	if calls, s := ask(); calls != 3 || s.Disk != 0 || s.FailedWrites != 0 {
		t.Errorf("first: %d calls, %+v", calls, s)
	}
	if calls, s := ask(); calls != 0 || s.Disk != 4 || s.Calls != 0 {
		t.Errorf("again: %d calls, %+v", calls, s)
	}
}

func TestFileHoldsNoTextOfKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cache.db")
	cache := open(t, Config{File: file})
	if _, err := cache.Embedder(&model{name: "m"}).EmbedQueries(t.Context(), []string{"a most private question"}); err != nil {
		t.Fatal(err)
	}
	_ = cache.Close()
	content, err := os.ReadFile(file)
	if err != nil || bytes.Contains(content, []byte("private")) {
		t.Errorf("the question stands in the file; error %v", err)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// Damaged entries are asked for anew.
func TestDamagedEntriesAreMisses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cache.db")
	m := &model{name: "m"}
	damage := func(k key) {
		disk, err := bbolt.Open(file, 0o600, nil)
		if err == nil {
			err = disk.Update(func(tx *bbolt.Tx) error {
				b, err := tx.CreateBucketIfNotExists(bucket)
				if err != nil {
					return err
				}
				return b.Put(k[:], []byte("{oops"))
			})
		}
		if err := errors.Join(err, disk.Close()); err != nil {
			t.Fatal(err)
		}
	}
	damage(keyOf("embed query", m.Fingerprint(), "a"))
	damage(keyOf("sub-queries", m.Fingerprint(), "2", "a"))
	cache := open(t, Config{File: file})
	if got, err := cache.Embedder(m).EmbedQueries(t.Context(), []string{"a"}); err != nil || len(got[0]) != 3 {
		t.Errorf("vectors %v, error %v", got, err)
	}
	if got, err := cache.SubQueryWriter(m).WriteSubQueries(t.Context(), "a", 2); err != nil || len(got.Texts) != 2 {
		t.Errorf("got %+v, error %v", got, err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("no database", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	held := filepath.Join(dir, "held")
	open(t, Config{File: held})
	for name, c := range map[string]struct {
		config Config
		is     error
	}{
		"negative entries": {Config{Entries: -1}, core.ErrInvalid},
		"negative ttl":     {Config{TTL: -1}, core.ErrInvalid},
		"folder":           {Config{File: dir}, core.ErrInvalid},
		"no such folder":   {Config{File: filepath.Join(dir, "x", "y")}, core.ErrInvalid},
		"other file":       {Config{File: garbage}, core.ErrInvalid},
		"held by another":  {Config{File: held}, core.ErrUnavailable},
	} {
		if cache, err := Open(c.config); !errors.Is(err, c.is) || cache != nil {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A file that cannot be written costs the cache, not the answer.
func TestFailedWritesAreCountedOnly(t *testing.T) {
	cache := open(t, Config{File: filepath.Join(t.TempDir(), "cache.db")})
	_ = cache.disk.Close()
	if got, err := cache.Embedder(&model{name: "m"}).EmbedQueries(t.Context(), []string{"a"}); err != nil || len(got) != 1 {
		t.Errorf("got %v, error %v", got, err)
	}
	if s := cache.Stats(); s.FailedWrites != 1 {
		t.Errorf("stats %+v", s)
	}
}

func TestWrongNumberOfVectors(t *testing.T) {
	if _, err := open(t, Config{}).Embedder(&fewer{}).EmbedQueries(t.Context(), []string{"a", "b"}); !errors.Is(err, core.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
}

type fewer struct{ model }

func (*fewer) EmbedQueries(context.Context, []string) ([][]float32, error) {
	return [][]float32{{1}}, nil
}
