package stress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

// memory is an exact store. lazy leaves vectors of sub-query hits to Fetch.
type memory struct {
	passages []core.Candidate
	lazy     bool
}

func newMemory(n int, lazy bool) *memory {
	r := rand.New(rand.NewPCG(7, 7))
	m := &memory{lazy: lazy}
	for i := range n {
		v := vector(r)
		text := fmt.Sprintf("Passage %d begins. It goes on. It ends.", i)
		m.passages = append(m.passages, core.Candidate{ID: core.IntID(int64(i)), Vector: v, Payload: map[string]any{"text": text}})
	}
	return m
}

func vector(r *rand.Rand) []float32 {
	v := make([]float32, 64)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func (m *memory) nearest(q []float32, k int) []core.Candidate {
	hits := slices.Clone(m.passages)
	for i := range hits {
		hits[i].Score = vec.Cosine(hits[i].Vector, q)
	}
	slices.SortFunc(hits, func(a, b core.Candidate) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:k]
}

func (m *memory) Search(_ context.Context, req core.SearchRequest) (core.SearchResult, error) {
	result := core.SearchResult{Candidates: m.nearest(req.Vector, req.K)}
	for _, q := range req.SubQueries {
		hits := m.nearest(q, req.Depth)
		for i := range hits {
			if m.lazy {
				hits[i].Vector, hits[i].Payload = nil, nil
			}
		}
		result.SubQueries = append(result.SubQueries, core.SubQueryResult{Hits: hits})
	}
	return result, nil
}

func (m *memory) Fetch(_ context.Context, req core.FetchRequest) (found []core.Candidate, err error) {
	for _, id := range req.IDs {
		if i, ok := id.Int(); ok && int(i) < len(m.passages) {
			found = append(found, m.passages[i])
		}
	}
	return found, nil
}

func (m *memory) Scan(_ context.Context, _ core.Scope, limit int, yield func(core.Candidate) bool) error {
	for i, c := range m.passages {
		if i == limit && limit > 0 || !yield(c) {
			return nil
		}
	}
	return nil
}

func (m *memory) Close() error { return nil }

func wrap(t testing.TB, within core.Store, cfg Config) *Store {
	t.Helper()
	s, err := New(within, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestShareAndCosine(t *testing.T) {
	m := newMemory(4000, false)
	for _, share := range []float64{0, 0.2, 0.4, 0.6} {
		s := wrap(t, m, Config{Share: share, Seed: 1})
		copies, all, sum, groups := 0, 0, 0.0, map[core.ID]int{}
		err := s.Scan(context.Background(), core.Scope{}, 0, func(c core.Candidate) bool {
			all++
			if original := Original(c.ID); original != c.ID {
				copies++
				groups[original]++
				i, _ := original.Int()
				sum += vec.Cosine(c.Vector, m.passages[i].Vector)
				if got, want := vec.Norm(c.Vector), vec.Norm(m.passages[i].Vector); math.Abs(got-want) > 1e-4 {
					t.Errorf("norm %v, want %v", got, want)
				}
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(copies) / float64(all); math.Abs(got-share) > 0.02 {
			t.Errorf("share %v, want %v", got, share)
		}
		if share > 0 && math.Abs(sum/float64(copies)-DefaultCosine) > 0.002 {
			t.Errorf("mean cosine %v, want %v", sum/float64(copies), DefaultCosine)
		}
		for id, n := range groups {
			if n%DefaultCopies != 0 {
				t.Errorf("%s has %d copies", id, n)
			}
		}
	}
}

func TestSearchIsThatOfTheEnlargedCollection(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, lazy := range []bool{false, true} {
		s := wrap(t, newMemory(300, lazy), Config{Share: 0.5, Seed: 3})
		enlarged := &memory{}
		if err := s.Scan(context.Background(), core.Scope{}, 0, func(c core.Candidate) bool {
			enlarged.passages = append(enlarged.passages, c)
			return true
		}); err != nil {
			t.Fatal(err)
		}
		req := core.SearchRequest{Vector: vector(r), K: 100, SubQueries: [][]float32{vector(r), vector(r)}, Depth: 20, OutsideVectors: true}
		got, err := s.Search(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := enlarged.Search(context.Background(), req)
		if common := shared(got.Candidates, want.Candidates); common < 97 {
			t.Errorf("%d of 100 candidates are the same", common)
		}
		inside := ids(got.Candidates)
		var fetch []core.ID
		for j, result := range got.SubQueries {
			if common := shared(result.Hits, want.SubQueries[j].Hits); common < 19 {
				t.Errorf("%d of 20 hits are the same", common)
			}
			for _, hit := range result.Hits {
				if (hit.Vector == nil) != slices.Contains(inside, hit.ID) {
					t.Errorf("vector of %s is %v, among the candidates: %v", hit.ID, hit.Vector, slices.Contains(inside, hit.ID))
				}
				fetch = append(fetch, hit.ID)
			}
		}
		fetched, err := s.Fetch(context.Background(), core.FetchRequest{IDs: fetch})
		if err != nil || !slices.Equal(ids(fetched), fetch) {
			t.Fatalf("fetched %v, error %v, want %v", ids(fetched), err, fetch)
		}
		for _, c := range fetched {
			i := slices.IndexFunc(enlarged.passages, func(p core.Candidate) bool { return p.ID == c.ID })
			if !reflect.DeepEqual(c, enlarged.passages[i]) {
				t.Errorf("fetched %+v differs from scanned", c.ID)
			}
		}
	}
}

func ids(candidates []core.Candidate) []core.ID {
	var ids []core.ID
	for _, c := range candidates {
		ids = append(ids, c.ID)
	}
	return ids
}

func shared(a, b []core.Candidate) (count int) {
	for _, c := range a {
		if slices.Contains(ids(b), c.ID) {
			count++
		}
	}
	return count
}

func TestSeedDecides(t *testing.T) {
	req := core.SearchRequest{Vector: vector(rand.New(rand.NewPCG(1, 1))), K: 50}
	answer := func(seed uint64) []core.ID {
		s := wrap(t, newMemory(200, false), Config{Share: 0.4, Seed: seed})
		found, err := s.Search(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		return ids(found.Candidates)
	}
	if !slices.Equal(answer(1), answer(1)) || slices.Equal(answer(1), answer(2)) {
		t.Error("the same seed must give the same copies, another seed others")
	}
}

// lengths embeds a text as its length.
type lengths struct{ calls int }

func (l *lengths) EmbedQueries(context.Context, []string) ([][]float32, error) { return nil, nil }
func (l *lengths) Model() string                                               { return "lengths" }
func (l *lengths) EmbedPassages(_ context.Context, texts []string) ([][]float32, error) {
	l.calls++
	v := make([]float32, 64)
	v[0] = float32(len(texts[0]))
	return [][]float32{v}, nil
}

func TestEmbedderReadsTheRewrittenText(t *testing.T) {
	embedder := &lengths{}
	s := wrap(t, newMemory(20, false), Config{Share: 0.75, Embedder: embedder})
	for range 2 {
		copies := 0
		err := s.Scan(context.Background(), core.Scope{}, 0, func(c core.Candidate) bool {
			if Original(c.ID) != c.ID {
				copies++
				if want := float32(len(c.PayloadText())); c.Vector[0] != want {
					t.Errorf("vector %v, want %v", c.Vector[0], want)
				}
			}
			return true
		})
		if err != nil || copies != 60 || embedder.calls != 60 {
			t.Errorf("%d copies, %d calls, error %v, want 60 each", copies, embedder.calls, err)
		}
	}
}

func TestIDsComeBack(t *testing.T) {
	for _, id := range []core.ID{core.IntID(-5), core.UintID(1<<64 - 1), core.StringID("42"), core.StringID("a:b"), core.StringID("near-duplicate:x")} {
		if got := Original(CopyID(id, 3)); got != id {
			t.Errorf("original %v, want %v", got, id)
		}
		if got := Original(id); got != id {
			t.Errorf("%v is taken for a copy of %v", id, got)
		}
	}
}

func TestRewriteAlwaysDiffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([A-Z][a-z]{1,5}( [a-z]{1,4}){0,3}[.!?] ){0,4}[A-Z][a-z]+\.`).Draw(t, "text")
		seed := rapid.Uint64().Draw(t, "seed")
		if Rewrite(text, rand.New(rand.NewPCG(seed, 1))) == text {
			t.Fatalf("%q is unchanged", text)
		}
	})
	want := []string{"J. R. Smith came.", "Why?", "He left!"}
	if got := Sentences("J. R. Smith came.  Why? He left!"); !slices.Equal(got, want) {
		t.Errorf("sentences %q, want %q", got, want)
	}
}

func TestCorrupt(t *testing.T) {
	questions := make([][]core.SubQuery, 5)
	for i := range questions {
		for j := range 10 {
			questions[i] = append(questions[i], core.SubQuery{Text: fmt.Sprintf("%d.%d", i, j)})
		}
	}
	for _, how := range Corruptions() {
		got, err := Corrupt(questions, how, 0.3, 1)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Corrupt(questions, how, 0.3, 1)
		if !reflect.DeepEqual(got, again) {
			t.Errorf("%s: the same seed gives another result", how)
		}
		for i, subQueries := range got {
			own, texts := 0, map[string]bool{}
			for _, s := range subQueries {
				if s.Text[0] == byte('0'+i) {
					own++
				}
				texts[s.Text] = true
			}
			want := map[Corruption][3]int{Drop: {7, 7, 7}, Shuffle: {10, 7, len(texts)}, Duplicate: {10, 10, 7}}[how]
			if got := [3]int{len(subQueries), own, len(texts)}; got != want {
				t.Errorf("%s: %v sub-queries, own and distinct, want %v", how, got, want)
			}
		}
		if all, err := Corrupt(questions, how, 1, 1); err != nil || how == Drop && len(all[0]) != 0 {
			t.Errorf("%s of all: %v, error %v", how, all[0], err)
		}
		if none, err := Corrupt(questions, how, 0, 1); err != nil || !reflect.DeepEqual(none, questions) {
			t.Errorf("%s of none changes something, error %v", how, err)
		}
	}
	if _, err := Corrupt(questions, "lose", 0.5, 1); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("error %v", err)
	}
	if _, err := Corrupt(questions, Drop, math.NaN(), 1); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("error %v", err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for _, cfg := range []Config{{Share: -0.1}, {Share: 0.95}, {Share: math.NaN()}, {Copies: -1}, {Cosine: 1}, {Spread: 2}} {
		if _, err := New(&memory{}, cfg); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%+v: error %v", cfg, err)
		}
	}
}
