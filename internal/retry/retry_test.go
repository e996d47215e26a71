package retry

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/georag/georag/core"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errFailed = errors.New("failed")

func always(error) (bool, time.Duration) { return true, 0 }

func mustNew(t testing.TB, p Policy) *Retrier {
	t.Helper()
	r, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// failing returns a call that fails n times and then gives its number of attempts.
func failing(n int) func(context.Context) (int, error) {
	attempts := 0
	return func(context.Context) (int, error) {
		attempts++
		if attempts <= n {
			return 0, errFailed
		}
		return attempts, nil
	}
}

func TestDoRepeatsReads(t *testing.T) {
	never, five := 0, 5
	tests := map[string]struct {
		policy   Policy
		failures int
		classify Classify
		want     int // attempts when it succeeded, 0 when it failed
	}{
		"first attempt succeeds":     {failures: 0, classify: always, want: 1},
		"second retry succeeds":      {failures: 2, classify: always, want: 3},
		"default is two retries":     {failures: 3, classify: always},
		"nil classify never repeats": {failures: 1},
		"not worth repeating":        {failures: 1, classify: func(error) (bool, time.Duration) { return false, 0 }},
		"zero retries means none":    {policy: Policy{Retries: &never}, failures: 1, classify: always},
		"five retries":               {policy: Policy{Retries: &five}, failures: 5, classify: always, want: 6},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := Do(t.Context(), mustNew(t, test.policy), failing(test.failures), test.classify)
				if got != test.want || (err == nil) != (test.want > 0) {
					t.Errorf("got %d attempts and error %v, want %d", got, err, test.want)
				}
				if err != nil && !errors.Is(err, errFailed) {
					t.Errorf("error %v does not wrap the last failure", err)
				}
			})
		})
	}
}

func TestDoHonoursTheServersPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		pause := func(error) (bool, time.Duration) { return true, 700 * time.Millisecond }
		if _, err := Do(t.Context(), mustNew(t, Policy{}), failing(1), pause); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited != 700*time.Millisecond {
			t.Errorf("waited %v, want the 700ms the server asked for", waited)
		}
	})
}

func TestDoDoesNotWaitPastItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		pause := func(error) (bool, time.Duration) { return true, 3 * time.Second }
		_, err := Do(t.Context(), mustNew(t, Policy{}), failing(1), pause)
		if !errors.Is(err, errFailed) || time.Since(start) != 0 {
			t.Errorf("error %v after %v, want the failure at once", err, time.Since(start))
		}
	})
}

func TestDoEndsAtItsOwnDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		hang := func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, errFailed }
		_, err := Do(t.Context(), mustNew(t, Policy{}), hang, always)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errFailed) {
			t.Errorf("error %v, want the deadline and the failure", err)
		}
		if time.Since(start) != DefaultTimeout {
			t.Errorf("ended after %v, want %v", time.Since(start), DefaultTimeout)
		}
	})
}

func TestDoTellsTheCallersEndFromItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("the user left")
		ctx, cancel := context.WithCancelCause(t.Context())
		hang := func(own context.Context) (int, error) {
			cancel(why)
			<-own.Done()
			return 0, errFailed
		}
		_, err := Do(ctx, mustNew(t, Policy{}), hang, always)
		if !errors.Is(err, why) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the caller's cause", err)
		}
	})
}

func TestCancelDuringPauseEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Millisecond, cancel)
		start := time.Now()
		pause := func(error) (bool, time.Duration) { return true, time.Second }
		_, err := Do(ctx, mustNew(t, Policy{}), failing(1), pause)
		if !errors.Is(err, context.Canceled) || time.Since(start) != 5*time.Millisecond {
			t.Errorf("error %v after %v, want Canceled after 5ms", err, time.Since(start))
		}
	})
}

// In the long run, whatever the concurrency, retries stay within a tenth of the calls plus the first burst.
func TestBudgetBoundsRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := mustNew(t, Policy{})
		const workers, callsEach = 8, 50
		var mu sync.Mutex
		attempts := 0
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				for range callsEach {
					_, err := Do(t.Context(), r, func(context.Context) (int, error) {
						mu.Lock()
						defer mu.Unlock()
						attempts++
						return 0, errFailed
					}, always)
					if !errors.Is(err, errFailed) {
						t.Errorf("error %v", err)
					}
				}
			})
		}
		group.Wait()
		const calls = workers * callsEach
		retries := attempts - calls
		if most := calls/10 + bucketSize; retries > most || retries < calls/10-1 {
			t.Errorf("%d retries of %d calls, want about %d and at most %d", retries, calls, calls/10, most)
		}
	})
}

func TestZeroBudgetIsNoRetries(t *testing.T) {
	none := 0.0
	if _, err := Do(t.Context(), mustNew(t, Policy{Budget: &none}), failing(1), always); !errors.Is(err, errFailed) {
		t.Errorf("error %v, want no retry at budget 0", err)
	}
}

func TestPausesAreWithinTheirLimits(t *testing.T) {
	want := []time.Duration{20, 40, 80, 160, 200, 200}
	for n, limit := range want {
		if got := (Policy{}).pauseLimit(n); got != limit*time.Millisecond {
			t.Errorf("pause limit %d is %v, want %v", n, got, limit*time.Millisecond)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		limit := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "limit"))
		if pause := fullJitter(limit); pause < 0 || pause > limit {
			t.Fatalf("pause %v outside [0, %v]", pause, limit)
		}
	})
}

func TestValidate(t *testing.T) {
	minus, eleven, half, above := -1, 11, 0.5, 1.5
	for name, bad := range map[string]Policy{
		"timeout":   {Timeout: -1},
		"retries":   {Retries: &minus},
		"many":      {Retries: &eleven},
		"pause":     {MinPause: -1},
		"min > max": {MinPause: time.Second},
		"budget":    {Budget: &above},
	} {
		if _, err := New(bad); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
	}
	if err := (Policy{Budget: &half}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestBoundedLeavesACalleeThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := Bounded(ctx, func(context.Context) (int, error) { time.Sleep(time.Minute); return 1, nil })
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("error %v after %v, want the deadline after 1s", err, time.Since(start))
		}
		if got, err := Bounded(t.Context(), failing(0)); got != 1 || err != nil {
			t.Errorf("got %d, %v", got, err)
		}
		time.Sleep(time.Minute) // until the abandoned call has returned, as its documentation demands
	})
}

func TestAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"":                              0,
		"3":                             3 * time.Second,
		" 0 ":                           0,
		"-3":                            0,
		"99999999999":                   0,
		"soon":                          0,
		"Sun, 01 Mar 2026 12:00:05 GMT": 5 * time.Second,
		"Sun, 01 Mar 2026 11:00:00 GMT": 0,
	} {
		if got := After(header, now); got != want {
			t.Errorf("After(%q) = %v, want %v", header, got, want)
		}
	}
}
