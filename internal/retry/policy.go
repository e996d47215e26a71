package retry

import (
	"cmp"
	"fmt"
	"time"

	"github.com/georag/georag/core"
)

// Defaults of [Policy].
const (
	DefaultTimeout  = 2 * time.Second
	DefaultRetries  = 2
	DefaultMinPause = 20 * time.Millisecond
	DefaultMaxPause = 200 * time.Millisecond
	DefaultBudget   = 0.1
)

// Policy says how long a call may take and when it is repeated. Its zero value is the default.
type Policy struct {
	// Timeout bounds the whole call, retries and pauses included. 0 is 2 s. A context that ends sooner wins.
	Timeout time.Duration `koanf:"timeout"`
	// Retries is how often a failed read is repeated: nil is 2, 0 is never. At most 10.
	Retries *int `koanf:"retries"`
	// MinPause bounds the first pause; the bound doubles with each retry up to MaxPause. 0 is 20 ms.
	MinPause time.Duration `koanf:"min_pause"`
	// MaxPause bounds every pause the server did not ask for. 0 is 200 ms.
	MaxPause time.Duration `koanf:"max_pause"`
	// Budget is the share of calls, in [0, 1], that may be retries in the long run: nil is 0.1, 0 is none.
	Budget *float64 `koanf:"budget"`
}

// Validate reports a setting out of its range; the error wraps [core.ErrInvalid].
func (p Policy) Validate() error {
	switch {
	case p.Timeout < 0:
		return fmt.Errorf("internal/retry: timeout %v: %w: must not be negative", p.Timeout, core.ErrInvalid)
	case p.Retries != nil && (*p.Retries < 0 || *p.Retries > 10):
		return fmt.Errorf("internal/retry: retries %d: %w: must be in [0, 10]", *p.Retries, core.ErrInvalid)
	case p.MinPause < 0 || p.MaxPause < 0:
		return fmt.Errorf("internal/retry: min_pause %v, max_pause %v: %w: must not be negative", p.MinPause, p.MaxPause, core.ErrInvalid)
	case cmp.Or(p.MinPause, DefaultMinPause) > cmp.Or(p.MaxPause, DefaultMaxPause):
		return fmt.Errorf("internal/retry: min_pause %v: %w: is above max_pause %v", p.MinPause, core.ErrInvalid, p.MaxPause)
	case p.Budget != nil && !(*p.Budget >= 0 && *p.Budget <= 1):
		return fmt.Errorf("internal/retry: budget %v: %w: must be in [0, 1]", *p.Budget, core.ErrInvalid)
	}
	return nil
}

func (p Policy) timeout() time.Duration { return cmp.Or(p.Timeout, DefaultTimeout) }

func (p Policy) retries() int {
	if p.Retries == nil {
		return DefaultRetries
	}
	return *p.Retries
}

func (p Policy) budget() float64 {
	if p.Budget == nil {
		return DefaultBudget
	}
	return *p.Budget
}

// pauseLimit bounds the pause before retry number n, counted from 0.
func (p Policy) pauseLimit(n int) time.Duration {
	limit, ceiling := cmp.Or(p.MinPause, DefaultMinPause), cmp.Or(p.MaxPause, DefaultMaxPause)
	for ; n > 0 && limit < ceiling; n-- {
		limit = min(2*limit, ceiling)
	}
	return limit
}
