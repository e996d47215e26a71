package pick_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/georag/georag/core/pick"
)

// TestSelectorsArePermutationInvariant selects from 1,000 instances and from the same candidates in another order.
// Ties go to the lower row, so rows are compared up to the first tie; gains of a pure ranking to the end.
func TestSelectorsArePermutationInvariant(t *testing.T) {
	for _, name := range pick.Names() {
		selector := newSelector(t, name, pick.DefaultOptions())
		whole := 0
		for seed := range uint64(1000) {
			r := rand.New(rand.NewPCG(seed, 17))
			n := 2 + r.IntN(12)
			in, k := generic(r, n, 3+r.IntN(20)), 1+r.IntN(min(n, 5))
			order := r.Perm(n)
			want, got := choose(t, selector, in, k), choose(t, selector, in.permuted(order), k)
			whole += comparePermuted(t, name, want, got, order)
		}
		if least := map[bool]int{true: 400, false: 950}[name == "rrf"]; whole < least {
			t.Errorf("%s: only %d of 1,000 selections are free of ties", name, whole)
		}
	}
}

// comparePermuted returns 1 when no step was tied.
func comparePermuted(t *testing.T, name string, want, got pick.Result, order []int) int {
	t.Helper()
	if len(want.Steps) != len(got.Steps) || want.Mode != got.Mode || len(want.Degraded) != len(got.Degraded) {
		t.Fatalf("%s: %+v, permuted %+v", name, want, got)
	}
	for i, a := range want.Steps {
		b := got.Steps[i]
		if math.Abs(a.Gain-b.Gain) > 2*tie || a.Rule != b.Rule {
			t.Fatalf("%s, step %d: %+v, permuted %+v", name, i, a, b)
		}
		// A cold start has no gain, and cosines that are not tied.
		if a.Rule != pick.RuleColdStart && a.RunnerUp >= 0 && math.Abs(a.Gain-a.RunnerUpGain) <= 3*tie {
			return 0
		}
		if order[b.Row] != a.Row {
			t.Fatalf("%s chose %v, permuted %v by %v", name, want.Rows(), got.Rows(), order)
		}
		for _, pair := range [][2]float64{{a.Gate, b.Gate}, {a.DeltaW, b.DeltaW}, {a.W, b.W}} {
			if math.Abs(pair[0]-pair[1]) > 2*tie {
				t.Fatalf("%s, step %d: %+v, permuted %+v", name, i, a, b)
			}
		}
	}
	return 1
}

// TestReusedSelectorForgets runs one selector over instances of changing size beside a fresh one for each.
func TestReusedSelectorForgets(t *testing.T) {
	for _, name := range pick.Names() {
		for _, o := range []pick.Options{pick.DefaultOptions(), coldAndPublished()} {
			reused := newSelector(t, name, o).(pick.SelectorInto)
			var got pick.Result
			for seed := range uint64(150) {
				r := rand.New(rand.NewPCG(seed, 18))
				n := 1 + r.IntN(9)
				in, k := nasty(r, n, 1+r.IntN(5)), 1+r.IntN(6)
				want, wantErr := newSelector(t, name, o).Select(context.Background(), in.problem(t), k)
				err := reused.SelectInto(context.Background(), &got, in.problem(t), k)
				if (err == nil) != (wantErr == nil) {
					t.Fatalf("%s: %v, fresh %v", name, err, wantErr)
				}
				if err == nil && !sameResult(got, want) {
					t.Fatalf("%s, seed %d:\n%+v, fresh\n%+v", name, seed, got, want)
				}
			}
		}
	}
}

// coldAndPublished are options that differ from the defaults wherever a selector keeps memory.
func coldAndPublished() pick.Options {
	o := pick.DefaultOptions()
	o.Facility.ColdStart, o.GeoRAG.ColdStart, o.GeoRAG.Sinkhorn = true, false, pick.Published
	o.AdaGReS.TokenBudget = 250
	return o
}

func sameResult(a, b pick.Result) bool {
	return a.Mode == b.Mode && slices.Equal(a.Steps, b.Steps) && slices.Equal(a.Degraded, b.Degraded)
}

// TestSelectionsAreWhole checks what holds for every selector and instance: distinct rows, as many as asked or a
// reason, and the same again for the same input.
func TestSelectionsAreWhole(t *testing.T) {
	for _, name := range pick.Names() {
		selector := newSelector(t, name, pick.DefaultOptions())
		instances(t, func(r *rand.Rand, in *instance, _ int) {
			k := 1 + r.IntN(in.n+2) // at times more than there are
			result := choose(t, selector, in, k)
			checkWhole(t, name, in.n, k, result)
			if again := choose(t, selector, in, k); !sameResult(again, result) {
				t.Fatalf("%s: %+v, again %+v", name, result, again)
			}
		})
	}
}

func checkWhole(t *testing.T, name string, n, k int, result pick.Result) {
	t.Helper()
	rows := slices.Sorted(slices.Values(result.Rows()))
	if len(slices.Compact(rows)) != len(result.Steps) || len(result.Steps) != min(n, k) {
		t.Fatalf("%s: rows %v of %d candidates, k = %d", name, result.Rows(), n, k)
	}
	if n < k && len(result.Degraded) == 0 {
		t.Fatalf("%s: %d of %d without a reason", name, n, k)
	}
	for _, s := range result.Steps {
		if s.Row < 0 || s.Row >= n || math.IsNaN(s.Gain) || math.IsNaN(s.W) || s.RunnerUp >= n || s.RunnerUp == s.Row {
			t.Fatalf("%s: step %+v of %d candidates", name, s, n)
		}
	}
}

func TestSelectorsEndWithTheirContext(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	in := generic(rand.New(rand.NewPCG(1, 19)), 6, 4)
	for _, name := range pick.Names() {
		if _, err := newSelector(t, name, pick.DefaultOptions()).Select(ended, in.problem(t), 3); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSelectorsRefuseWhatTheyCannotUse(t *testing.T) {
	valid := func() *pick.Problem { return generic(rand.New(rand.NewPCG(2, 19)), 6, 4).problem(t) }
	for what, c := range map[string]struct {
		change func(*pick.Problem)
		err    error
	}{
		"short query":        {func(p *pick.Problem) { p.Query = p.Query[:5] }, pick.ErrShape},
		"long demand":        {func(p *pick.Problem) { p.Demand = append(slices.Clone(p.Demand), 0) }, pick.ErrShape},
		"missing weight":     {func(p *pick.Problem) { p.Weights = p.Weights[:3] }, pick.ErrShape},
		"short sub-query":    {func(p *pick.Problem) { p.SubQueries[1] = p.SubQueries[1][:4] }, pick.ErrShape},
		"missing list":       {func(p *pick.Problem) { p.Lists = p.Lists[:2] }, pick.ErrShape},
		"missing tokens":     {func(p *pick.Problem) { p.Tokens = p.Tokens[:1] }, pick.ErrShape},
		"NaN cosine":         {func(p *pick.Problem) { p.Query[0] = math.NaN() }, pick.ErrValue},
		"infinite sub-query": {func(p *pick.Problem) { p.SubQueries[0][0] = math.Inf(1) }, pick.ErrValue},
		"negative demand":    {func(p *pick.Problem) { p.Demand[2] = -0.1 }, pick.ErrValue},
		"NaN demand":         {func(p *pick.Problem) { p.Demand[2] = math.NaN() }, pick.ErrValue},
		"row beyond n":       {func(p *pick.Problem) { p.Lists[0] = []int{6} }, pick.ErrValue},
	} {
		for _, name := range pick.Names() {
			p := valid()
			c.change(p)
			if _, err := newSelector(t, name, pick.DefaultOptions()).Select(context.Background(), p, 3); !errors.Is(err, c.err) {
				t.Errorf("%s, %s: %v, want %v", name, what, err, c.err)
			}
		}
	}
	for _, k := range []int{0, -1} {
		if _, err := newSelector(t, "cosine", pick.DefaultOptions()).Select(context.Background(), valid(), k); !errors.Is(err, pick.ErrOption) {
			t.Errorf("k = %d: %v", k, err)
		}
	}
}

func TestSelectorsNameWhatTheyNeed(t *testing.T) {
	budget := pick.DefaultOptions()
	budget.AdaGReS.TokenBudget = 100
	model := errors.New("the model is down")
	for _, c := range []struct {
		name   string
		o      pick.Options
		change func(*pick.Problem)
		err    error
	}{
		{"rerank", pick.DefaultOptions(), func(p *pick.Problem) { p.Rerank = nil }, pick.ErrNeeds},
		{"smart", pick.DefaultOptions(), func(p *pick.Problem) { p.Conflict = nil }, pick.ErrNeeds},
		{"rrf", pick.DefaultOptions(), func(p *pick.Problem) { p.Lists = nil }, pick.ErrNeeds},
		{"subq-max", pick.DefaultOptions(), func(p *pick.Problem) { p.SubQueries, p.Weights, p.Lists = nil, nil, nil }, pick.ErrNeeds},
		{"subq-avg", pick.DefaultOptions(), func(p *pick.Problem) { p.SubQueries, p.Weights, p.Lists = nil, nil, nil }, pick.ErrNeeds},
		{"adagres", budget, func(p *pick.Problem) { p.Tokens = nil }, pick.ErrNeeds},
		{"rerank", pick.DefaultOptions(), func(p *pick.Problem) {
			p.Rerank = func(context.Context) ([]float64, error) { return nil, model }
		}, model},
		{"rerank", pick.DefaultOptions(), func(p *pick.Problem) {
			p.Rerank = func(context.Context) ([]float64, error) { return []float64{1}, nil }
		}, pick.ErrShape},
		{"smart", pick.DefaultOptions(), func(p *pick.Problem) {
			p.Conflict = func(_ context.Context, pairs [][2]int) ([]float64, error) { return make([]float64, len(pairs)+1), nil }
		}, pick.ErrShape},
		{"smart", pick.DefaultOptions(), func(p *pick.Problem) {
			p.Conflict = func(_ context.Context, pairs [][2]int) ([]float64, error) {
				return slices.Repeat([]float64{1.5}, len(pairs)), nil
			}
		}, pick.ErrValue},
	} {
		p := generic(rand.New(rand.NewPCG(3, 19)), 6, 4).problem(t)
		c.change(p)
		if _, err := newSelector(t, c.name, c.o).Select(context.Background(), p, 3); !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
		}
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	if _, err := pick.New("best", pick.DefaultOptions()); !errors.Is(err, pick.ErrUnknown) {
		t.Errorf("unknown selector: %v", err)
	}
	for what, change := range map[string]func(*pick.Options){
		"mmr.lambda":           func(o *pick.Options) { o.MMR.Lambda = 1.01 },
		"dpp.theta":            func(o *pick.Options) { o.DPP.Theta = math.NaN() },
		"georag.epsilon":       func(o *pick.Options) { o.GeoRAG.Epsilon = 0 },
		"georag.iterations":    func(o *pick.Options) { o.GeoRAG.Iterations = 0 },
		"georag.sinkhorn":      func(o *pick.Options) { o.GeoRAG.Sinkhorn = "fast" },
		"georag, neither":      func(o *pick.Options) { o.GeoRAG.Gate, o.GeoRAG.DeltaW = false, false },
		"georag, gate alone":   func(o *pick.Options) { o.GeoRAG.ColdStart, o.GeoRAG.DeltaW = false, false },
		"adagres.alpha":        func(o *pick.Options) { o.AdaGReS.Alpha = 0 },
		"adagres.beta":         func(o *pick.Options) { o.AdaGReS.Beta = -1 },
		"adagres.token_budget": func(o *pick.Options) { o.AdaGReS.TokenBudget = -1 },
		"smart.gamma":          func(o *pick.Options) { o.Smart.Gamma = -1 },
		"smart.pool":           func(o *pick.Options) { o.Smart.Pool = 0 },
		"rrf.k":                func(o *pick.Options) { o.RRF.K = -1 },
	} {
		o := pick.DefaultOptions()
		change(&o)
		if err := o.Validate(); !errors.Is(err, pick.ErrOption) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestVectorsAgreeWithDense computes the same cosines from float32 vectors, column by column in any order.
func TestVectorsAgreeWithDense(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 20))
		n, dim := 1+r.IntN(10), 1+r.IntN(20)
		points := directions(r, n, dim)
		var stored []float32
		for _, p := range points {
			for _, x := range p {
				stored = append(stored, float32(x))
			}
		}
		v, err := pick.NewVectors(dim, stored)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range r.Perm(n) {
			for i, c := range v.Column(make([]float64, n), j) {
				if math.Abs(c-dot(points[i], points[j])) > 1e-6 {
					t.Fatalf("cos(%d,%d) is %v, want %v", i, j, c, dot(points[i], points[j]))
				}
				if c != v.View(i)[j] {
					t.Fatalf("cos(%d,%d) is %v, the other way round %v", i, j, c, v.View(i)[j])
				}
			}
		}
	}
	if _, err := pick.NewVectors(3, make([]float32, 4)); !errors.Is(err, pick.ErrShape) {
		t.Errorf("4 values of dimension 3: %v", err)
	}
	for _, cosine := range [][]float64{{1, 0.5, 0.4, 1}, {1, 2, 2, 1}, {1, math.NaN(), math.NaN(), 1}} {
		if _, err := pick.NewDense(2, cosine); !errors.Is(err, pick.ErrValue) {
			t.Errorf("%v: %v", cosine, err)
		}
	}
}

// copying is a similarity that cannot show its columns.
type copying struct{ of pick.Similarity }

func (c copying) Len() int                              { return c.of.Len() }
func (c copying) Column(dst []float64, j int) []float64 { return c.of.Column(dst, j) }

func TestColumnsThatAreCopiedGiveTheSame(t *testing.T) {
	for _, name := range pick.Names() {
		selector := newSelector(t, name, pick.DefaultOptions())
		instances(t, func(_ *rand.Rand, in *instance, k int) {
			want := choose(t, selector, in, k)
			p := in.problem(t)
			p.Similarity = copying{p.Similarity}
			got, err := selector.Select(context.Background(), p, k)
			if err != nil || !reflect.DeepEqual(got.Steps, want.Steps) {
				t.Fatalf("%s: %+v, %v, want %+v", name, got, err, want)
			}
		})
	}
}
