package core_test

import (
	"context"
	"errors"
	"slices"
	"strings"
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

// patient is a reranker that answers only when its time is up.
type patient struct{}

func (patient) Rerank(ctx context.Context, _ string, _ []string) ([]float64, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (patient) Model() string { return "patient" }

// TestSelectorThatTakesTooLongLeavesTimeForAnother: it is given part of the time before the deadline, so the rung
// below still answers, and the trace says which did.
func TestSelectorThatTakesTooLongLeavesTimeForAnother(t *testing.T) {
	m, q := world(1, 60, 6)
	for i := range m.passages {
		m.passages[i].Payload = map[string]any{"text": "a passage"}
	}
	q.Text = "a question"
	stage := core.Stage{Store: m, Reranker: patient{}, Settings: core.DefaultPreset()}
	stage.Settings.Selector = "rerank"
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	selection, err := stage.Select(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	told := slices.ContainsFunc(selection.Trace.Degraded, func(r core.Reason) bool {
		return r.Code == core.ReasonSelectorFellBack && strings.Contains(r.Detail, "share of the time") && strings.Contains(r.Detail, "cosine answered")
	})
	if len(selection.Items) != stage.Settings.K || selection.Trace.Mode != "cosine" || !told {
		t.Errorf("%d items, mode %q, %+v", len(selection.Items), selection.Trace.Mode, selection.Trace.Degraded)
	}
	stage.Settings.Timeout = time.Nanosecond
	if _, err := stage.Select(t.Context(), q); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no time at all: %v", err)
	}
}
