package diagnose_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
	"github.com/georag/georag/demo"
	"github.com/georag/georag/internal/diagnose"
	"github.com/georag/georag/internal/questions"
	"github.com/georag/georag/internal/shareddata"
)

// list turns questions into a sample.
func list(asked []questions.Question) diagnose.List {
	var sample diagnose.List
	for _, q := range asked {
		sample = append(sample, diagnose.Query{ID: q.ID, Query: q.Query()})
	}
	return sample
}

// wiki is the index of 9,002 passages and its 140 questions.
func wiki(t testing.TB) (core.Store, diagnose.List) {
	t.Helper()
	dir := shareddata.Shared(t, "data/wiki-multihop")
	store, err := flat.Open(flat.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	asked, err := questions.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return store, list(asked)
}

// demonstration is the small corpus that comes with the program: 155 passages and 12 questions.
func demonstration(t testing.TB) (*table, diagnose.List) {
	t.Helper()
	store, err := flat.OpenFS(demo.Files, "data", flat.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	asked, err := questions.OpenFS(demo.Files, "data")
	if err != nil {
		t.Fatal(err)
	}
	copied := &table{metric: core.MetricCosine, dim: 384}
	err = store.Scan(context.Background(), core.Scope{}, 0, func(c core.Candidate) bool {
		c.Vector = slices.Clone(c.Vector)
		copied.passages = append(copied.passages, c)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return copied, list(asked)
}

func run(t testing.TB, store core.Store, queries diagnose.Queries, change func(*diagnose.Config)) *diagnose.Report {
	t.Helper()
	cfg := diagnose.Config{
		Stage: core.Stage{Store: store}, Expect: diagnose.Expectation{Dimension: 384, Metric: core.MetricCosine},
	}
	if change != nil {
		change(&cfg)
	}
	report, err := diagnose.Run(context.Background(), queries, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// alarms returns the codes of a report's alarms.
func alarms(r *diagnose.Report) []diagnose.AdviceCode {
	codes := []diagnose.AdviceCode{}
	for _, a := range r.Advice {
		if a.Level == diagnose.Alarm {
			codes = append(codes, a.Code)
		}
	}
	return codes
}

func TestHealthyIndexRaisesNoAlarm(t *testing.T) {
	store, queries := wiki(t)
	report := run(t, store, queries, nil)
	if found := alarms(report); len(found) > 0 {
		t.Errorf("alarms %v: %+v", found, report.Advice)
	}
	if e := report.Health.Exact; e == nil || e.Shallow < 1-1e-9 || e.Deep < 1-1e-9 || e.Queries != 100 {
		t.Errorf("exact search against itself: %+v", e)
	}
	if report.Health.Scanned != 9002 || report.Queries != 140 || len(report.Health.Unmeasured) > 0 {
		t.Errorf("scanned %d, asked %d, not measured %q", report.Health.Scanned, report.Queries, report.Health.Unmeasured)
	}
	if c := report.Coverage; c.After.Mean <= c.Before.Mean || c.After.Mean > c.Ceiling.Mean+1e-9 {
		t.Errorf("coverage %.3f before, %.3f after, %.3f possible", c.Before.Mean, c.After.Mean, c.Ceiling.Mean)
	}
	if gap := 1 - report.Coverage.Ceiling.Mean; math.Abs(gap-report.Coverage.RecallGap) > 1e-9 {
		t.Errorf("recall gap %v, want %v", report.Coverage.RecallGap, gap)
	}
	if s := report.SubQuery; s.CosineAfter.Mean >= s.CosineBefore.Mean || s.Written != 20 || s.Kept != 10 {
		t.Errorf("sub-queries %+v", s)
	}
}

// TestPlantedFaults breaks a healthy index in one way at a time: each fault is found, and nothing else is.
func TestPlantedFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		plant func(*table)
		want  []diagnose.AdviceCode
	}{
		{"none", func(*table) {}, nil},
		{"zero and NaN vectors", func(s *table) {
			s.passages[3].Vector = make([]float32, 384)
			s.passages[5].Vector[7] = float32(math.NaN())
			s.passages[9].Vector = nil
			s.passages[11].Vector = s.passages[11].Vector[:100]
		}, []diagnose.AdviceCode{diagnose.AdviceBrokenVectors}},
		{"every passage twice", func(s *table) {
			for _, p := range s.passages {
				p.ID = core.StringID(p.ID.String() + "-again")
				s.passages = append(s.passages, p)
			}
		}, []diagnose.AdviceCode{diagnose.AdviceDuplicateVectors, diagnose.AdviceNearDuplicates}},
		{"wrong metric", func(s *table) {
			s.metric = core.MetricDot
			s.stretch()
		}, []diagnose.AdviceCode{diagnose.AdviceMetric, diagnose.AdviceNorms}},
		{"wrong metric that the store does not admit", func(s *table) {
			s.metric, s.says = core.MetricDot, "unknown"
			s.stretch()
		}, []diagnose.AdviceCode{diagnose.AdviceANNRecall}},
		{"another dimension than configured", func(s *table) { s.dim = 768 },
			[]diagnose.AdviceCode{diagnose.AdviceBrokenVectors, diagnose.AdviceDimension}},
		{"low recall", func(s *table) { s.forget = 4 }, []diagnose.AdviceCode{diagnose.AdviceANNRecall}},
		{"missing topic", func(s *table) {
			s.passages = slices.DeleteFunc(s.passages, func(p core.Candidate) bool { return p.Payload["topic"] == "voting-rights" })
		}, []diagnose.AdviceCode{diagnose.AdviceMissingTopic}},
		{"hub", func(s *table) { s.always = s.passages[0].ID }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, queries := demonstration(t)
			c.plant(store)
			report := run(t, store, queries, nil)
			if found := alarms(report); !slices.Equal(found, c.want) && len(found)+len(c.want) > 0 {
				t.Errorf("alarms %v, want %v: %+v", found, c.want, report.Advice)
			}
		})
	}
}

var _ = []any{bytes.NewReader, json.Marshal, errors.Is, os.ReadFile, filepath.Join, reflect.DeepEqual, strings.Contains, vec.Dot}
