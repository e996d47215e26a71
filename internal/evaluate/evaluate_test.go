package evaluate_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/core"
	"github.com/georag/georag/core/measure"
	"github.com/georag/georag/demo"
	"github.com/georag/georag/internal/evaluate"
	"github.com/georag/georag/internal/questions"
)

// counted counts the calls that reach the store.
type counted struct {
	core.Store
	searches int
}

func (c *counted) Search(ctx context.Context, req core.SearchRequest) (core.SearchResult, error) {
	c.searches++
	return c.Store.Search(ctx, req)
}

func demonstration(t *testing.T) (*counted, []questions.Question) {
	t.Helper()
	store, err := flat.OpenFS(demo.Files, "data", flat.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	asked, err := questions.OpenFS(demo.Files, "data")
	if err != nil {
		t.Fatal(err)
	}
	return &counted{Store: store}, asked
}

func variant(selector string, set func(*core.Settings)) evaluate.Variant {
	s := core.DefaultPreset()
	s.Selector = selector
	if set != nil {
		set(&s)
	}
	return evaluate.Variant{Settings: s}
}

// TestVariantsShareARoundTrip: the store is asked once a question for all that ask the same, and the answers are those
// of a stage that asks for itself.
func TestVariantsShareARoundTrip(t *testing.T) {
	store, asked := demonstration(t)
	variants := []evaluate.Variant{
		variant("cosine", nil), variant("georag", nil), variant("facility", nil),
		variant("georag", func(s *core.Settings) { s.Pool = core.PoolDense }),
	}
	scores, err := evaluate.Run(t.Context(), evaluate.Plan{Stage: core.Stage{Store: store}, Questions: asked, Variants: variants})
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * len(asked); store.searches != want {
		t.Errorf("%d searches, want %d: one for each pool of each question", store.searches, want)
	}
	for v, variant := range variants {
		stage := core.Stage{Store: store.Store, Settings: variant.Settings}
		for i, q := range asked {
			alone, err := stage.Select(t.Context(), q.Query())
			if err != nil {
				t.Fatal(err)
			}
			if got, want := scores[v][i].Selection.IDs(), alone.IDs(); !equal(got, want) {
				t.Errorf("%s, %s: %v, want %v", variant.Settings.Selector, q.ID, got, want)
			}
		}
	}
}

func equal(a, b []core.ID) bool {
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

func TestRowsSumUp(t *testing.T) {
	asked := []questions.Question{{Dataset: "a"}, {Dataset: "a"}, {Dataset: "b"}, {Dataset: "b"}}
	variants := []evaluate.Variant{variant("cosine", nil), variant("georag", nil)}
	scores := [][]evaluate.Score{
		{{AllGold: 0}, {AllGold: 1}, {AllGold: 0}, {AllGold: 0}},
		{{AllGold: 1, GoldRecall: 1, Peaks: []bool{true, false}}, {AllGold: 1, GoldRecall: 1}, {AllGold: 1, GoldRecall: 0.5},
			{AllGold: 0, GoldRecall: 0.5, Degraded: []core.Reason{{}}}},
	}
	plan := evaluate.Plan{Questions: asked, Variants: variants}
	rows := evaluate.Rows(plan, scores, 0, measure.PairedBootstrap{Seed: 1})
	if len(rows) != 6 {
		t.Fatalf("%d rows, want 2 variants × (a, b, all)", len(rows))
	}
	all := rows[5]
	if all.Dataset != evaluate.All || all.N != 4 || all.AllGold != 0.75 || all.GoldRecall != 0.75 || all.Degraded != 0.25 || all.PeakA != 0.25 || all.PeakB != 0 {
		t.Errorf("%+v", all)
	}
	if lo, hi := all.AllGoldMinusCosineCI[0], all.AllGoldMinusCosineCI[1]; lo < 0 || hi > 1 || lo > 0.5 || hi < 0.5 {
		t.Errorf("the difference 0.5 is not within %v to %v", lo, hi)
	}
	if rows[3].Dataset != "a" || rows[3].AllGold != 1 || rows[4].Dataset != "b" || rows[4].AllGold != 0.5 {
		t.Errorf("%+v %+v", rows[3], rows[4])
	}
	if !rows[0].Baseline || rows[3].Baseline {
		t.Error("the baseline is the first variant")
	}
}

// TestFilteredGoldIsCounted counts by hand what the filters left of two questions' gold passages.
func TestFilteredGoldIsCounted(t *testing.T) {
	store, asked := demonstration(t)
	ricci := func(s *core.Settings) { s.Filter.Name = core.FilterRicci }
	variants := []evaluate.Variant{variant("cosine", nil), variant("cosine", ricci), variant("cosine", func(s *core.Settings) {
		ricci(s)
		s.Filter.Protect = true
	})}
	plan := evaluate.Plan{Stage: core.Stage{Store: store}, Questions: asked, Variants: variants}
	scores, err := evaluate.Run(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	rows := evaluate.Rows(plan, scores, 0, measure.PairedBootstrap{Seed: 1})
	if rows[0].Filtered != nil {
		t.Errorf("no filter ran: %+v", rows[0].Filtered)
	}
	for v := 1; v < len(variants); v++ {
		var looked, kept, goldLooked, goldKept, all float64
		for i, q := range asked {
			found := map[core.ID]bool{}
			for _, d := range scores[v][i].Selection.Trace.Demand {
				found[d.ID] = true
			}
			kept += float64(len(found))
			here := 0.0
			for _, id := range q.Gold {
				if found[id] {
					here++
				}
			}
			goldKept += here / float64(len(q.Gold))
			if here == float64(len(q.Gold)) {
				all++
			}
			for _, look := range scores[v][i].Selection.Trace.Filter.Looked {
				looked++
				for _, id := range q.Gold {
					if look.ID == id {
						goldLooked += 1 / float64(len(q.Gold))
					}
				}
			}
		}
		n, f := float64(len(asked)), rows[v].Filtered
		for _, figure := range [][2]float64{
			{f.FilterLooked, looked / n}, {f.FilterKept, kept / n}, {f.GoldLooked, goldLooked / n}, {f.GoldKept, goldKept / n}, {f.AllGoldKept, all / n},
		} {
			if math.Abs(figure[0]-figure[1]) > 1e-9 {
				t.Errorf("variant %d: %v, counted %v: %+v", v, figure[0], figure[1], f)
			}
		}
	}
	if rows[1].GoldKept >= rows[2].GoldKept || rows[1].GoldKept >= rows[1].GoldLooked {
		t.Errorf("gold kept %v, %v with protection, of %v: the test shows nothing", rows[1].GoldKept, rows[2].GoldKept, rows[1].GoldLooked)
	}
}

func TestHalvesAreDisjointAndWhole(t *testing.T) {
	_, asked := demonstration(t)
	seen := map[string]int{}
	for which := range 2 {
		for _, q := range evaluate.Half(asked, which) {
			seen[q.ID]++
		}
	}
	for _, q := range asked {
		if seen[q.ID] != 1 {
			t.Errorf("%s is in %d halves", q.ID, seen[q.ID])
		}
	}
}

// TestGreedyFacilityIsNearTheOptimum: greedy facility location reaches at least 1 − 1/e of the best F_P.
func TestGreedyFacilityIsNearTheOptimum(t *testing.T) {
	store, asked := demonstration(t)
	near, err := evaluate.Approximate(t.Context(), core.Stage{Store: store}, asked, core.DefaultPreset(), []string{"facility", "cosine"})
	if err != nil {
		t.Fatal(err)
	}
	if near[0].Least < 1-1/math.E || near[0].Share > 1+1e-12 || near[0].N != len(asked) {
		t.Errorf("facility: %+v", near[0])
	}
	if near[1].Share >= near[0].Share {
		t.Errorf("cosine %v is above facility %v", near[1].Share, near[0].Share)
	}
}

func TestAnswersAreCompared(t *testing.T) {
	store, asked := demonstration(t)
	plan := evaluate.Plan{
		Stage: core.Stage{Store: store}, Questions: asked[:1], Variants: []evaluate.Variant{variant("georag", nil)},
		Answer: func(_ context.Context, question string, passages []string) (string, error) {
			if len(passages) != 5 || !strings.Contains(question, "Voting Rights Act") {
				t.Errorf("%q with %d passages", question, len(passages))
			}
			return "the Hubert Humphrey.", nil
		},
	}
	scores, err := evaluate.Run(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	rows := evaluate.Rows(plan, scores, 0, measure.PairedBootstrap{Seed: 1})
	if a := rows[0].Answers; a == nil || a.ExactMatch.Mean != 1 || a.F1.Mean != 1 {
		t.Errorf("%+v", rows[0].Answers)
	}
	plan.Answer = func(context.Context, string, []string) (string, error) { return "", core.ErrUnavailable }
	if _, err := evaluate.Run(t.Context(), plan); !errors.Is(err, core.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
}

// TestAblationsAreValid: every variant can be run, and differs from the preset in one group's part.
func TestAblationsAreValid(t *testing.T) {
	for _, preset := range []core.Settings{core.DefaultPreset(), core.PaperPreset()} {
		for _, group := range evaluate.Ablations(preset) {
			if group.Variants[0].Settings != preset {
				t.Errorf("%s: the first variant is not the preset", group.Name)
			}
			for _, v := range group.Variants {
				if err := v.Settings.Validate(); err != nil {
					t.Errorf("%s, %s: %v", group.Name, v.Name, err)
				}
			}
		}
	}
}

func TestGoldIsNeeded(t *testing.T) {
	for _, asked := range [][]questions.Question{nil, {{ID: "q"}}} {
		if err := evaluate.CheckGold(asked); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%v: %v", asked, err)
		}
	}
}
