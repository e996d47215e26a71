package core_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/georag/georag/core"
)

// TestSettingsOutOfRangeAreNamedOnce: the message has the key as a file has it and the value, and says "invalid" once.
func TestSettingsOutOfRangeAreNamedOnce(t *testing.T) {
	for want, change := range map[string]func(*core.Settings){
		"k is 0,":                           func(s *core.Settings) { s.K = 0 },
		"k is 101,":                         func(s *core.Settings) { s.K, s.Candidates = 101, 200 },
		"candidates is 4, fewer than k = 5": func(s *core.Settings) { s.Candidates = 4 },
		"candidates is 16385,":              func(s *core.Settings) { s.Candidates = 16385 },
		"subqueries.depth is 0,":            func(s *core.Settings) { s.SubQueries.Depth = 0 },
		"subqueries.write is -1,":           func(s *core.Settings) { s.SubQueries.Write = -1 },
		"timeout is -1ns,":                  func(s *core.Settings) { s.Timeout = -1 },
		`selector is "best",`:               func(s *core.Settings) { s.Selector = "best" },
		`pool is "union+union",`:            func(s *core.Settings) { s.Pool = "union+union" },
		`pool is "",`:                       func(s *core.Settings) { s.Pool = "" },
		`filter.name is "rici",`:            func(s *core.Settings) { s.Filter.Name = "rici" },
		"filter.eta is NaN,":                func(s *core.Settings) { s.Filter.Eta = math.NaN() },
		"filter.step_size is 0,":            func(s *core.Settings) { s.Filter.StepSize = 0 },
		"selectors: core/pick: option out of range: mmr.lambda is 1.01,": func(s *core.Settings) { s.Selectors.MMR.Lambda = 1.01 },
		"demand: core/demand: option out of range: alpha is -1,":         func(s *core.Settings) { s.Demand.Alpha = -1 },
		"likelihood_temperature is 0, want":                              func(s *core.Settings) { s.Demand.LikelihoodTemperature = 0 },
	} {
		settings := core.DefaultPreset()
		change(&settings)
		err := settings.Validate()
		if !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one that wraps %v and says %q", err, core.ErrInvalid, want)
			continue
		}
		if n := strings.Count(err.Error(), core.ErrInvalid.Error()); n != 1 {
			t.Errorf("%q says %d times that it is invalid", err, n)
		}
	}
}
