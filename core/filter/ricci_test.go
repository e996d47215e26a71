package filter

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/georag/georag/core/ot"
)

// spoken returns similarities from few random directions, so that ties, duplicates and opposites are common.
func spoken(r *rand.Rand, n int) []float64 {
	vectors := make([][]float64, n+1)
	for i := range vectors {
		vectors[i] = make([]float64, 3)
		vectors[i][r.IntN(3)] = float64(2*r.IntN(2) - 1)
		if r.IntN(2) == 0 {
			for j := range vectors[i] {
				vectors[i][j] += r.NormFloat64()
			}
		}
	}
	return cosines(vectors)
}

func filterRicci(t testing.TB, similarity []float64, options RicciOptions) Result {
	t.Helper()
	r, err := Ricci(similarity, options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRicciKeepsShortQueryEdges(t *testing.T) {
	similarity := topical(rand.New(rand.NewPCG(1, 1)), 20)
	r := filterRicci(t, similarity, RicciOptions{})
	if r.FellBack || r.Iterations != 20 || len(r.QueryLengths) != 20 || len(r.Communities) != 20 {
		t.Fatalf("unexpected result %+v", r)
	}
	for i, w := range r.QueryLengths {
		if kept := slices.Contains(r.Kept, i); kept != (w <= 1+lengthTolerance) {
			t.Errorf("candidate %d of length %v: kept %v", i, w, kept)
		}
		if w <= 1 && r.Communities[i] != 0 {
			t.Errorf("candidate %d is joined to the query but in community %d", i, r.Communities[i])
		}
	}
	if len(r.Kept) == 0 || len(r.Kept) == 20 {
		t.Errorf("%d of 20 kept", len(r.Kept))
	}
}

func TestRicciOptionsDefaultsArePublished(t *testing.T) {
	similarity := topical(rand.New(rand.NewPCG(2, 1)), 12)
	explicit := RicciOptions{
		TauPercentile: new(50.0), P: new(2.0), Alpha: new(0.5), Steps: 20, StepSize: 1, Eta: 1, Depth: 20,
	}
	got, want := filterRicci(t, similarity, RicciOptions{}), filterRicci(t, similarity, explicit)
	if !slices.Equal(got.QueryLengths, want.QueryLengths) {
		t.Errorf("zero options give %v, published ones %v", got.QueryLengths, want.QueryLengths)
	}
	for name, other := range map[string]RicciOptions{
		"tau": {TauPercentile: new(0.0)}, "p": {P: new(0.0)}, "alpha": {Alpha: new(0.0)}, "steps": {Steps: 1},
		"step size": {StepSize: 0.5},
	} {
		if r := filterRicci(t, similarity, other); slices.Equal(r.QueryLengths, want.QueryLengths) {
			t.Errorf("option %s has no effect", name)
		}
	}
}

func TestRicciRejects(t *testing.T) {
	fine := topical(rand.New(rand.NewPCG(3, 1)), 4)
	with := func(i int, value float64) []float64 {
		s := slices.Clone(fine)
		s[i] = value
		return s
	}
	nan := math.NaN()
	for name, c := range map[string]struct {
		similarity []float64
		options    RicciOptions
		want       error
	}{
		"empty":           {nil, RicciOptions{}, ErrShape},
		"not square":      {fine[:24], RicciOptions{}, ErrShape},
		"NaN":             {with(7, nan), RicciOptions{}, ErrNotFinite},
		"infinite":        {with(7, math.Inf(1)), RicciOptions{}, ErrNotFinite},
		"above one":       {with(7, 1.5), RicciOptions{}, ErrSimilarity},
		"not symmetric":   {with(7, fine[7]-0.01), RicciOptions{}, ErrSimilarity},
		"percentile":      {fine, RicciOptions{TauPercentile: new(101.0)}, ErrOption},
		"NaN percentile":  {fine, RicciOptions{TauPercentile: &nan}, ErrOption},
		"negative p":      {fine, RicciOptions{P: new(-1.0)}, ErrOption},
		"alpha 1":         {fine, RicciOptions{Alpha: new(1.0)}, ErrOption},
		"negative steps":  {fine, RicciOptions{Steps: -1}, ErrOption},
		"long step":       {fine, RicciOptions{StepSize: 1.01}, ErrOption},
		"negative step":   {fine, RicciOptions{StepSize: -1}, ErrOption},
		"negative eta":    {fine, RicciOptions{Eta: -1}, ErrOption},
		"negative depth":  {fine, RicciOptions{Depth: -1}, ErrOption},
		"protected 4":     {fine, RicciOptions{Protected: []int{4}}, ErrOption},
		"protected minus": {fine, RicciOptions{Protected: []int{-1}}, ErrOption},
	} {
		if _, err := Ricci(c.similarity, c.options); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestRicciOnFewCandidates(t *testing.T) {
	for n := range 2 {
		r := filterRicci(t, topical(rand.New(rand.NewPCG(4, 1)), n), RicciOptions{})
		if len(r.Kept) != n || !r.FellBack || r.Reason != ReasonTooFew || r.Iterations != 0 {
			t.Errorf("n=%d: %+v", n, r)
		}
	}
	r := filterRicci(t, topical(rand.New(rand.NewPCG(4, 1)), 2), RicciOptions{})
	if len(r.Kept) == 0 || r.Iterations == 0 || len(r.QueryLengths) != 2 {
		t.Errorf("n=2: %+v", r)
	}
}

// All pairs are equally far apart, so every edge meets the same fate and all candidates stay.
func TestRicciOnIdenticalVectors(t *testing.T) {
	for _, n := range []int{2, 3, 10, 30} {
		similarity := make([]float64, (n+1)*(n+1))
		for i := range similarity {
			similarity[i] = 1
		}
		r := filterRicci(t, similarity, RicciOptions{Depth: n})
		if len(r.Kept) != n || r.FellBack || r.Reason != ReasonAllKept {
			t.Errorf("n=%d: %+v", n, r)
		}
	}
}

func TestRicciOnAntipodalGroups(t *testing.T) {
	vectors := [][]float64{{1, 0}, {1, 0}, {1, 0}, {1, 0}, {-1, 0}, {-1, 0}, {-1, 0}}
	r := filterRicci(t, cosines(vectors), RicciOptions{})
	if len(r.Kept) == 0 || len(r.QueryLengths) != 6 {
		t.Errorf("unexpected result %+v", r)
	}
	for _, same := range [][2]int{{0, 1}, {1, 2}, {3, 4}, {4, 5}} {
		if a, b := r.QueryLengths[same[0]], r.QueryLengths[same[1]]; math.Abs(a-b) > 1e-9 {
			t.Errorf("identical candidates have lengths %v and %v", a, b)
		}
	}
}

// On a triangle, measures without a preference for home (α = 1/3, p = 0) coincide, W = 0, κ = 1, and a full step
// takes every length to 0.
func TestRicciFallsBackWhenEveryEdgeCollapses(t *testing.T) {
	similarity := cosines([][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}})
	r := filterRicci(t, similarity, RicciOptions{Alpha: new(1.0 / 3), P: new(0.0), TauPercentile: new(0.0)})
	if !r.FellBack || r.Reason != ReasonCollapsed || len(r.Kept) != 2 || r.Iterations != 1 {
		t.Errorf("unexpected result %+v", r)
	}
}

func TestRicciFallsBackWhenNoneIsKept(t *testing.T) {
	similarity := topical(rand.New(rand.NewPCG(5, 1)), 25)
	r := filterRicci(t, similarity, RicciOptions{Eta: 1e-12, Steps: 1, Protected: []int{1, 22}})
	want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 22}
	if !r.FellBack || r.Reason != ReasonNoneKept || !slices.Equal(r.Kept, want) || !slices.Equal(r.Saved, []int{22}) {
		t.Errorf("unexpected result %+v", r)
	}
}

func TestRicciProtects(t *testing.T) {
	similarity := topical(rand.New(rand.NewPCG(1, 1)), 24)
	plain := filterRicci(t, similarity, RicciOptions{})
	dropped := -1
	for i := range 20 {
		if !slices.Contains(plain.Kept, i) {
			dropped = i
		}
	}
	if dropped < 0 {
		t.Fatal("nothing dropped, nothing to protect")
	}
	r := filterRicci(t, similarity, RicciOptions{Protected: []int{23, dropped, plain.Kept[0]}})
	if !slices.Equal(r.Saved, []int{dropped, 23}) || len(r.Kept) != len(plain.Kept)+2 || !slices.IsSorted(r.Kept) {
		t.Errorf("kept %v, saved %v; without protection %v", r.Kept, r.Saved, plain.Kept)
	}
	if !slices.Equal(r.QueryLengths, plain.QueryLengths) {
		t.Error("protection changed the flow")
	}
}

func TestRicciWorkspaceIsReusable(t *testing.T) {
	var f RicciFlow
	var got Result
	random := rand.New(rand.NewPCG(6, 1))
	for range 20 {
		similarity := spoken(random, 2+random.IntN(12))
		if err := f.Filter(&got, similarity, RicciOptions{}); err != nil {
			t.Fatal(err)
		}
		want := filterRicci(t, similarity, RicciOptions{})
		if !slices.Equal(got.Kept, want.Kept) || !slices.Equal(got.QueryLengths, want.QueryLengths) ||
			!slices.Equal(got.Communities, want.Communities) || got.Reason != want.Reason {
			t.Fatalf("reused: %+v\nfresh: %+v", got, want)
		}
	}
	similarity := topical(random, 12)
	if n := testing.AllocsPerRun(10, func() {
		if err := f.Filter(&got, similarity, RicciOptions{}); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations once warm", n)
	}
}

// Renumbering the candidates renumbers the lengths.
func TestRicciDoesNotDependOnOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 1))
	for range 10 {
		n := 3 + random.IntN(12)
		similarity := topical(random, n)
		order := random.Perm(n)
		node := func(i int) int {
			if i == 0 {
				return 0
			}
			return order[i-1] + 1
		}
		shuffled := make([]float64, len(similarity))
		for i := range n + 1 {
			for j := range n + 1 {
				shuffled[i*(n+1)+j] = similarity[node(i)*(n+1)+node(j)]
			}
		}
		// Few steps: rounding, which does depend on order, grows from step to step where lengths vanish.
		options := RicciOptions{Steps: 6}
		want, got := filterRicci(t, similarity, options), filterRicci(t, shuffled, options)
		for i, old := range order {
			if math.Abs(got.QueryLengths[i]-want.QueryLengths[old]) > 1e-9 {
				t.Errorf("candidate %d: %v, as %d: %v", old, want.QueryLengths[old], i, got.QueryLengths[i])
			}
		}
	}
}

// Every step makes lengths the average of two metrics, so an edge never becomes longer than a detour.
func TestFlowKeepsEdgesShortestPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		n := rapid.IntRange(2, 12).Draw(t, "candidates")
		step := rapid.Float64Range(0.05, 1).Draw(t, "step size")
		alpha, p := rapid.Float64Range(0, 0.9).Draw(t, "alpha"), rapid.Float64Range(0, 5).Draw(t, "p")
		var f RicciFlow
		f.graph.build(topical(random, n), n+1, n+1, rapid.Float64Range(0, 100).Draw(t, "percentile"))
		var steps int
		if _, err := f.flow(settings{alpha: alpha, p: p, stepSize: step, steps: 8}, &steps); err != nil {
			t.Fatal(err)
		}
		d := make([]float64, f.graph.nodes*f.graph.nodes)
		f.graph.shortestPaths(d)
		for i, e := range f.graph.edges {
			// Edges between nodes that count as one point keep their length, hence the slack.
			if shortest := d[int(e.U)*f.graph.nodes+int(e.V)]; f.graph.lengths[i] > shortest+20*pointDistance {
				t.Fatalf("edge %v of length %v, shortest path %v", e, f.graph.lengths[i], shortest)
			}
		}
	})
}

func TestPercentileInterpolates(t *testing.T) {
	values := []float64{1, 2, 4, 8}
	for percent, want := range map[float64]float64{0: 1, 50: 3, 25: 1.75, 75: 5, 100: 8} {
		if got := percentile(values, percent); got != want {
			t.Errorf("percentile %v is %v, want %v", percent, got, want)
		}
	}
}

func TestGraphJoinsDissimilarNodesAndTheQuery(t *testing.T) {
	// Off-diagonal r: query 0.1, 0.2, 0.3; candidates 0.8 (0,1), 0.4 (0,2), 0.6 (1,2). Their median is 0.35.
	similarity := []float64{
		1, 0.9, 0.8, 0.7,
		0.9, 1, 0.2, 0.6,
		0.8, 0.2, 1, 0.4,
		0.7, 0.6, 0.4, 1,
	}
	for percentile, want := range map[float64][]ot.Edge{
		0:   {{U: 0, V: 1}, {U: 0, V: 2}, {U: 0, V: 3}, {U: 1, V: 2}, {U: 1, V: 3}, {U: 2, V: 3}},
		75:  {{U: 0, V: 1}, {U: 0, V: 2}, {U: 0, V: 3}, {U: 1, V: 2}, {U: 2, V: 3}},
		100: {{U: 0, V: 1}, {U: 0, V: 2}, {U: 0, V: 3}, {U: 1, V: 2}},
	} {
		var g graph
		g.build(similarity, 4, 4, percentile)
		if !slices.Equal(g.edges, want) {
			t.Errorf("percentile %v: %v, want %v", percentile, g.edges, want)
		}
	}
}

func TestCommunitiesAreWhatShortEdgesConnect(t *testing.T) {
	g := graph{
		nodes:   7,
		edges:   []ot.Edge{{U: 0, V: 1}, {U: 0, V: 2}, {U: 1, V: 4}, {U: 2, V: 3}, {U: 3, V: 6}, {U: 0, V: 5}},
		lengths: []float64{1, 2, 0.5, 0.5, 1, 3},
	}
	got := g.communities(nil, make([]int32, 7), 1)
	if want := []int{0, 1, 1, 0, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("communities %v, want %v", got, want)
	}
}

func TestSimilaritiesAreCosines(t *testing.T) {
	got, err := Similarities(nil, []float32{1, 0}, [][]float32{{0, 1}, {0.6, 0.8}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1, 0, 0.6, 0, 1, 0.8, 0.6, 0.8, 1} {
		if math.Abs(got[i]-want) > 1e-6 || got[i] > 1 {
			t.Errorf("entry %d is %v, want %v", i, got[i], want)
		}
	}
	if _, err := Similarities(nil, []float32{1, 0}, [][]float32{{1}}); !errors.Is(err, ErrShape) {
		t.Errorf("different dimensions: %v", err)
	}
}

func FuzzFilters(f *testing.F) {
	f.Add(uint64(1), uint8(20), 50.0, 2.0, 0.5, 1.0, uint8(20))
	f.Add(uint64(2), uint8(3), 0.0, 0.0, 0.0, 0.1, uint8(3))
	f.Add(uint64(3), uint8(9), 100.0, 400.0, 0.99, 1.0, uint8(40))
	f.Fuzz(func(t *testing.T, seed uint64, n uint8, percentile, p, alpha, step float64, steps uint8) {
		candidates := int(n) % 24
		similarity := spoken(rand.New(rand.NewPCG(seed, 1)), candidates)
		options := RicciOptions{TauPercentile: &percentile, P: &p, Alpha: &alpha, StepSize: step, Steps: int(steps) % 50}
		invalid := options.Validate() != nil
		r, err := Ricci(similarity, options)
		if invalid != (err != nil) || (err != nil && !errors.Is(err, ErrOption)) {
			t.Fatalf("valid: %v, error: %v", !invalid, err)
		}
		if err == nil {
			requireSound(t, r, candidates)
		}
		r, err = KMeans(similarity, KMeansOptions{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		requireSound(t, r, candidates)
	})
}

// requireSound checks what every result promises.
func requireSound(t *testing.T, r Result, candidates int) {
	t.Helper()
	looked := min(candidates, DefaultDepth)
	if len(r.Kept) == 0 != (candidates == 0) || len(r.Kept) > looked {
		t.Fatalf("kept %d of %d", len(r.Kept), candidates)
	}
	for i, k := range r.Kept {
		if k < 0 || k >= looked || (i > 0 && k <= r.Kept[i-1]) {
			t.Fatalf("kept %v of %d", r.Kept, candidates)
		}
	}
	if r.FellBack && (len(r.Kept) != looked || r.Reason == "") {
		t.Fatalf("fell back but kept %v of %d for %q", r.Kept, candidates, r.Reason)
	}
	for i, w := range r.QueryLengths {
		if math.IsNaN(w) || math.IsInf(w, 0) || w < 0 {
			t.Fatalf("length %d is %v", i, w)
		}
	}
}

func TestInterruptedFlowKeepsAll(t *testing.T) {
	similarity := topical(rand.New(rand.NewPCG(1, 7)), 12)
	whole, err := Ricci(similarity, RicciOptions{})
	if err != nil || len(whole.Kept) == 12 {
		t.Fatalf("%d kept, %v: the test needs a filter that drops", len(whole.Kept), err)
	}
	asked := 0
	r, err := Ricci(similarity, RicciOptions{Depth: 10, Protected: []int{11}, Interrupted: func() bool {
		asked++
		return asked > 100
	}})
	if err != nil {
		t.Fatal(err)
	}
	if asked != 101 || !r.FellBack || r.Reason != ReasonInterrupted || len(r.Kept) != 11 || len(r.Saved) != 1 || len(r.QueryLengths) != 0 {
		t.Errorf("asked %d times: %+v", asked, r)
	}
	again, err := Ricci(similarity, RicciOptions{Interrupted: func() bool { return false }})
	if err != nil || !slices.Equal(again.Kept, whole.Kept) {
		t.Errorf("%v, %v", again, err)
	}
}
