package diagnose

import (
	"fmt"

	"github.com/georag/georag/core"
)

// Query is one question of the sample.
type Query struct {
	ID string
	core.Query
}

// Queries is the sample. At is asked for each index once, in ascending order, and again for the query shown in detail,
// so that a large sample can stay in its file.
type Queries interface {
	Len() int
	At(i int) (Query, error)
}

// List is a sample in memory.
type List []Query

// Len implements [Queries].
func (l List) Len() int { return len(l) }

// At implements [Queries].
func (l List) At(i int) (Query, error) { return l[i], nil }

// Config says what is diagnosed. Only Stage.Store is required.
type Config struct {
	// Stage is the selection to look at, with the store, and the planner where queries come as text.
	Stage core.Stage
	// Scope restricts the scan of the index; the queries bring their own, which is usually the same.
	Scope core.Scope
	// Expect is what the configuration says of the index; zero fields are not compared.
	Expect Expectation
	// State is the file that records go to and an interrupted run goes on from; "" keeps none.
	State string
	// ExactQueries is how many queries, evenly spread, are also searched exactly; 0 is [DefaultExactQueries].
	ExactQueries int
	// SkipScan leaves the index itself unread: no health, no exact search.
	SkipScan bool
	// Featured is the ID of the query to show in detail; "" takes the one that selection helps most.
	Featured string
	// Progress, where set, is called as work goes on; total is -1 where it is not known.
	Progress func(phase Phase, done, total int)
}

// Expectation is what a configuration says of the index.
type Expectation struct {
	Dimension int
	Metric    core.Metric
}

// Phase names a part of the work.
type Phase string

const (
	PhaseQueries Phase = "queries"
	PhaseScan    Phase = "passages"
)

// DefaultExactQueries is how many queries are searched exactly.
const DefaultExactQueries = 100

// Validate reports the first field out of its range; the error wraps [core.ErrInvalid].
func (c Config) Validate() error {
	if c.Stage.Store == nil {
		return fmt.Errorf("internal/diagnose: %w: no store", core.ErrInvalid)
	}
	if c.ExactQueries < 0 {
		return fmt.Errorf("internal/diagnose: %w: exact queries is %d, want 0 or more", core.ErrInvalid, c.ExactQueries)
	}
	if c.Stage.Settings != (core.Settings{}) {
		return c.Stage.Settings.Validate()
	}
	return nil
}

func (c Config) withDefaults() Config {
	if c.Stage.Settings == (core.Settings{}) {
		c.Stage.Settings = core.DefaultPreset()
	}
	if c.ExactQueries == 0 {
		c.ExactQueries = DefaultExactQueries
	}
	if c.Progress == nil {
		c.Progress = func(Phase, int, int) {}
	}
	return c
}
