package flat

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/georag/georag/core"
	"github.com/georag/georag/demo"
)

// animals is a store of five short texts with orthogonal vectors.
func animals(t *testing.T, cfg Config) *Store {
	t.Helper()
	lines := []string{
		`{"id":1,"title":"Cat","text":"cat dog dog","lang":"en"}`,
		`{"id":2,"text":"dog","lang":"en"}`,
		`{"id":3,"text":"a bird, and the CAT of the house","lang":"en"}`,
		`{"id":4,"content":"Zürich 東京","lang":"de"}`,
		`{"id":5,"text":"fish fish fish running","lang":"de"}`,
	}
	s, err := OpenFS(fstest.MapFS{"passages.jsonl": {Data: []byte(strings.Join(lines, "\n"))}, "passages.npy": {Data: matrix(5, 2)}}, ".", cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func find(t *testing.T, s *Store, req core.SearchRequest) core.SearchResult {
	t.Helper()
	result, err := s.Search(t.Context(), req)
	if err != nil {
		t.Fatalf("%q: %v", req.Text, err)
	}
	return result
}

func idsOf(cs []core.Candidate) []int64 {
	ids := []int64{}
	for _, c := range cs {
		i, _ := c.ID.Int()
		ids = append(ids, i)
	}
	return ids
}

func TestLexicalRetrieval(t *testing.T) {
	s := animals(t, Config{})
	for _, c := range []struct {
		text, filter string
		k            int
		want         []int64
	}{
		{"dog", "", 5, []int64{2, 1}},
		{"the cat", "", 5, []int64{1, 3}},
		{"zürich", "", 5, []int64{4}},
		{"fish dog", "lang=de", 5, []int64{5}},
		{"dog dog cat", "", 1, []int64{1}},
		{"nothing of that", "", 5, []int64{}},
		{"runs", "", 5, []int64{}},
	} {
		req := core.SearchRequest{Retrieval: core.RetrieveLexical, Text: c.text, K: c.k, Scope: core.Scope{Filter: c.filter}}
		if got := idsOf(find(t, s, req).Candidates); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
	english := animals(t, Config{Analyzer: "en"})
	if got := idsOf(find(t, english, core.SearchRequest{Retrieval: core.RetrieveLexical, Text: "runs", K: 5}).Candidates); !slices.Equal(got, []int64{5}) {
		t.Errorf("English stem: %v", got)
	}
	lang := animals(t, Config{TextField: "lang"})
	if got := idsOf(find(t, lang, core.SearchRequest{Retrieval: core.RetrieveLexical, Text: "de", K: 5}).Candidates); !slices.Equal(got, []int64{4, 5}) {
		t.Errorf("configured text field: %v", got)
	}
}

// TestBM25 repeats the formula by hand: two of five passages have "dog", of one word and of four.
func TestBM25(t *testing.T) {
	s := animals(t, Config{})
	got := find(t, s, core.SearchRequest{Retrieval: core.RetrieveLexical, Text: "Dog", K: 5}).Candidates
	words, err := s.lexicon(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	idf := math.Log(1 + (5-2+0.5)/(2+0.5))
	for r, c := range []struct{ count, length float64 }{{1, 1}, {2, 4}} {
		want := idf * c.count * 2.2 / (c.count + 1.2*(0.25+0.75*c.length/words.average))
		if math.Abs(got[r].Score-want) > 1e-12 || int32(c.length) != words.lengths[1-r] {
			t.Errorf("rank %d: score %v of %d words, want %v of %v", r, got[r].Score, words.lengths[1-r], want, c.length)
		}
	}
}

func TestHybridRetrieval(t *testing.T) {
	s := animals(t, Config{})
	req := core.SearchRequest{Retrieval: core.RetrieveHybrid, Vector: []float32{1, 1}, Text: "dog", K: 3,
		SubQueries: [][]float32{{1, 0}}, Depth: 2}
	result := find(t, s, req)
	// Nearest: 5, 4, 3. BM25: 2, 1. Passages of equal reciprocal ranks are in order of ID.
	if got := idsOf(result.Candidates); !slices.Equal(got, []int64{2, 5, 1}) {
		t.Errorf("fused %v", got)
	}
	if got := idsOf(result.SubQueries[0].Hits); !slices.Equal(got, []int64{5, 4}) {
		t.Errorf("sub-query hits %v", got)
	}
	if want := 1.0 / 61; result.Candidates[0].Score != want || len(result.Conversions) != 1 {
		t.Errorf("score %v, want %v; conversions %v", result.Candidates[0].Score, want, result.Conversions)
	}
}

func TestRetrievalThatCannotBe(t *testing.T) {
	s := animals(t, Config{})
	for _, c := range []struct {
		req core.SearchRequest
		err error
	}{
		{core.SearchRequest{Retrieval: core.RetrieveLexical}, core.ErrInvalid},
		{core.SearchRequest{Retrieval: core.RetrieveHybrid, Vector: []float32{1, 1}}, core.ErrInvalid},
		{core.SearchRequest{Retrieval: core.RetrieveHybrid, Text: "dog"}, core.ErrDimension},
		{core.SearchRequest{Retrieval: "magic", Vector: []float32{1, 1}}, core.ErrUnsupported},
	} {
		c.req.K = 3
		if _, err := s.Search(t.Context(), c.req); !errors.Is(err, c.err) {
			t.Errorf("%+v: error is %v, want %v", c.req, err, c.err)
		}
	}
	if err := (Config{Analyzer: "klingon"}).Validate(); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("unknown analyzer: %v", err)
	}
}

// TestInterruptedLexiconIsMadeAgain: a search that was given too little time leaves nothing half-made.
func TestInterruptedLexiconIsMadeAgain(t *testing.T) {
	s, err := OpenFS(demo.Files, "data", Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.lexicon(ended); !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v", err)
	}
	result := find(t, s, core.SearchRequest{Retrieval: core.RetrieveLexical, Text: "Which president signed the Voting Rights Act?", K: 3})
	if len(result.Candidates) != 3 || result.Candidates[0].Payload["topic"] != "voting-rights" {
		t.Errorf("found %v", result.Candidates)
	}
}
