package core_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/georag/georag/core"
)

// lateStore answers, but only once the caller's deadline has passed.
type lateStore struct{ *memory }

func (s lateStore) Search(ctx context.Context, req core.SearchRequest) (core.SearchResult, error) {
	<-ctx.Done()
	return s.memory.Search(ctx, req)
}

func TestAnswerAfterTheDeadlineEndsTheSelection(t *testing.T) {
	for _, name := range []string{"georag", "facility", "mmr", "cosine", "dpp", "rrf"} {
		m, q := world(1, 60, 6)
		stage := core.Stage{Store: lateStore{m}, Settings: core.DefaultPreset()}
		stage.Settings.Selector, stage.Settings.Timeout = name, time.Millisecond
		if _, err := stage.Select(context.Background(), q); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want the deadline's error", name, err)
		}
	}
}
