package diagnose_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/core"
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
	} {
		t.Run(c.name, func(t *testing.T) {
			store, queries := demonstration(t)
			c.plant(store)
			report := run(t, store, queries, nil)
			if found := alarms(report); !slices.Equal(found, c.want) && len(found)+len(c.want) > 0 {
				t.Errorf("alarms %v, want %v: %+v", found, c.want, report.Advice)
			}
			if random := report.Health.RandomCosine; random > 0.2 {
				t.Errorf("two random passages of different topics have a median cosine of %v", random)
			}
		})
	}
}

func TestHub(t *testing.T) {
	store, queries := demonstration(t)
	store.always = store.passages[0].ID
	many := slices.Repeat(queries, 5) // a share of a dozen queries says little
	report := run(t, store, many, nil)
	if !slices.Contains(alarms(report), diagnose.AdviceHubs) || report.Health.Hubs.Most[0] != (diagnose.Hub{ID: store.always, Share: 1}) {
		t.Errorf("alarms %v, hubs %v", alarms(report), report.Health.Hubs.Most)
	}
}

func TestFilterSelectivity(t *testing.T) {
	store, queries := demonstration(t)
	store.admits = 1
	report := run(t, store, queries, func(c *diagnose.Config) { c.Scope.Filter = "id = 1" })
	if s := report.Health.Scope; s == nil || s.Matching != 1 || s.Total != 155 || !slices.Contains(alarms(report), diagnose.AdviceSelectivity) {
		t.Errorf("scope %+v, alarms %v", s, alarms(report))
	}
}

// TestInterruptedRunGoesOn stops a run at every seventh search and tears the state file's last line each time.
func TestInterruptedRunGoesOn(t *testing.T) {
	store, queries := demonstration(t)
	want := run(t, store, queries, nil)
	state := filepath.Join(t.TempDir(), "state.jsonl")
	store.searches = 0
	interrupted := 0
	for {
		ctx, cancel := context.WithCancel(context.Background())
		cfg := diagnose.Config{
			Stage: core.Stage{Store: store}, State: state, Expect: diagnose.Expectation{Dimension: 384, Metric: core.MetricCosine},
		}
		first := -1
		cfg.Progress = func(phase diagnose.Phase, done, _ int) {
			if first < 0 {
				first = done
			}
			if phase == diagnose.PhaseQueries && done >= first+5 && done < len(queries) {
				cancel()
			}
		}
		got, err := diagnose.Run(ctx, queries, cfg)
		cancel()
		if err == nil {
			if a, b := marshal(t, got), marshal(t, want); a != b {
				t.Errorf("resumed report differs from the whole one\n%s\n%s", a, b)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if interrupted++; interrupted > 5 {
			t.Fatal("does not get on")
		}
		tear(t, state)
	}
	if wanted := len(queries) + 1; interrupted < 2 || store.searches != wanted { // + 1 for the featured query
		t.Errorf("%d searches after %d interruptions, want %d", store.searches, interrupted, wanted)
	}
}

func marshal(t *testing.T, r *diagnose.Report) string {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func tear(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"row":11,"id":"tor`); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestStateOfAnotherDiagnosisIsRefused(t *testing.T) {
	store, queries := demonstration(t)
	state := filepath.Join(t.TempDir(), "state.jsonl")
	run(t, store, queries, func(c *diagnose.Config) { c.State = state })
	settings := core.DefaultPreset()
	settings.K = 3
	_, err := diagnose.Run(context.Background(), queries, diagnose.Config{Stage: core.Stage{Store: store, Settings: settings}, State: state})
	if !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), state) {
		t.Errorf("error %v", err)
	}
}

func TestFaults(t *testing.T) {
	store, queries := demonstration(t)
	queries[2].Vector = make([]float32, 384)
	report := run(t, store, queries, nil)
	if len(report.Failed) != 1 || report.Failed[0].ID != queries[2].ID || !slices.Contains(alarms(report), diagnose.AdviceFailed) {
		t.Errorf("failed %v, alarms %v", report.Failed, alarms(report))
	}
	for i := range queries {
		queries[i].Vector = make([]float32, 384)
	}
	report = run(t, store, queries, nil)
	if len(report.Failed) != len(queries) || report.Detail != nil {
		t.Errorf("failed %v, detail %v", report.Failed, report.Detail)
	}
	render(t, report)
	store.fail = core.ErrUnavailable
	_, fresh := demonstration(t)
	if _, err := diagnose.Run(context.Background(), fresh, diagnose.Config{Stage: core.Stage{Store: store}}); !errors.Is(err, core.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	for _, cfg := range []diagnose.Config{{}, {Stage: core.Stage{Store: store}, ExactQueries: -1}} {
		if _, err := diagnose.Run(context.Background(), fresh, cfg); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("error %v", err)
		}
	}
	if _, err := diagnose.Run(context.Background(), diagnose.List{}, diagnose.Config{Stage: core.Stage{Store: store}}); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("error %v", err)
	}
}

// TestBareStore has neither description nor scan, and queries without sub-queries.
func TestBareStore(t *testing.T) {
	store, queries := demonstration(t)
	for i := range queries {
		queries[i].SubQueries = nil
	}
	report := run(t, struct{ core.Store }{store}, queries, nil)
	if len(report.Health.Unmeasured) != 1 || report.Health.Exact != nil || len(alarms(report)) > 0 {
		t.Errorf("health %+v, advice %+v", report.Health, report.Advice)
	}
	if report.Degraded[string(core.ReasonNoSubQueries)] != len(queries) {
		t.Errorf("degraded %v", report.Degraded)
	}
	render(t, report)
}

// render writes a report in every form and returns the page.
func render(t *testing.T, report *diagnose.Report) string {
	t.Helper()
	marshal(t, report)
	var text, page bytes.Buffer
	if err := errors.Join(report.WriteText(&text), report.WriteHTML(&page)); err != nil {
		t.Fatal(err)
	}
	for _, a := range report.Advice {
		if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), a.Text) {
			t.Errorf("text lacks %q", a.Text)
		}
	}
	for _, broken := range []string{"NaN", "%!", "Inf", "<script", "http:", "https:"} {
		if strings.Contains(page.String()+text.String(), broken) {
			t.Errorf("the report holds %q", broken)
		}
	}
	return page.String()
}

func TestPageShowsTheQuestion(t *testing.T) {
	store, queries := demonstration(t)
	for i := range store.passages {
		store.passages[i].Payload["title"] = `<b>"Title" & more</b>`
	}
	report := run(t, store, queries, func(c *diagnose.Config) { c.Featured = queries[4].ID })
	page := render(t, report)
	if strings.Contains(page, "<b>&#34;Title") || strings.Contains(page, `<b>"Title`) || !strings.Contains(page, "&lt;b&gt;&#34;Title&#34;") {
		t.Error("titles are not escaped")
	}
	decoder := xml.NewDecoder(strings.NewReader(page))
	decoder.Strict, decoder.AutoClose, decoder.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	charts := 0
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("the page is malformed: %v", err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "svg" {
			charts++
		}
	}
	if charts != 5 {
		t.Errorf("%d charts, want 5", charts)
	}
	d := report.Detail
	if d.ID != queries[4].ID || len(d.Picks) != 5 || len(d.Nearest) != 5 || len(d.SubQueries) != 10 {
		t.Errorf("detail %+v", d)
	}
	demand := 0.0
	for _, p := range d.Points {
		demand += p.Demand
	}
	if math.Abs(demand-1) > 1e-6 {
		t.Errorf("the demand shown sums to %v", demand)
	}
	if _, err := diagnose.Run(context.Background(), queries, diagnose.Config{Stage: core.Stage{Store: store}, Featured: "absent"}); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("error %v", err)
	}
}

// TestPlaneKeepsDistances: unit vectors on a circle lie in a plane, so the projection must be exact.
func TestPlaneKeepsDistances(t *testing.T) {
	circle := func(angle float64) []float32 {
		return []float32{0, float32(math.Cos(angle)), 0, float32(math.Sin(angle)), 0}
	}
	store := &table{metric: core.MetricCosine, dim: 5}
	for i := range 12 {
		store.passages = append(store.passages, core.Candidate{ID: core.IntID(int64(i)), Vector: circle(float64(i) / 2), Payload: map[string]any{}})
	}
	query := diagnose.Query{ID: "q", Query: core.Query{Vector: circle(0.3), SubQueries: []core.SubQuery{{Vector: circle(1)}, {Vector: circle(2)}}}}
	report := run(t, store, diagnose.List{query}, nil)
	points := report.Detail.Points
	if len(points) != 15 || math.Abs(report.Detail.Explained[0]+report.Detail.Explained[1]-1) > 1e-9 {
		t.Fatalf("%d points, explained %v", len(points), report.Detail.Explained)
	}
	for i := range 12 {
		for j := range i {
			got := math.Hypot(points[i].X-points[j].X, points[i].Y-points[j].Y)
			a, _ := core.ParseID(points[i].Name).Int()
			b, _ := core.ParseID(points[j].Name).Int()
			if want := 2 * math.Abs(math.Sin(float64(a-b)/4)); math.Abs(got-want) > 1e-6 {
				t.Fatalf("distance of %d and %d is %v, want %v", a, b, got, want)
			}
		}
	}
}
