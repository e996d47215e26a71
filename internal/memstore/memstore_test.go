package memstore_test

import (
	"slices"
	"testing"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/memstore"
)

func positions(t *testing.T, candidates []core.Candidate) (list []int64) {
	t.Helper()
	for _, c := range candidates {
		i, ok := c.ID.Int()
		if !ok {
			t.Fatalf("the ID %s is no position", c.ID)
		}
		list = append(list, i)
	}
	return list
}

func TestStore(t *testing.T) {
	s := memstore.New([]string{"zero", "north", "east", "north too"}, [][]float32{{0, 0}, {0, 2}, {1, 0}, {0, 1}})
	found, err := s.Search(t.Context(), core.SearchRequest{Vector: []float32{0.1, 1}, K: 4, SubQueries: [][]float32{{1, 0}}, Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := positions(t, found.Candidates); !slices.Equal(got, []int64{1, 3, 2, 0}) { // ties by position, the unusable last
		t.Errorf("candidates %v", got)
	}
	if got := positions(t, found.SubQueries[0].Hits); !slices.Equal(got, []int64{2}) {
		t.Errorf("hits %v", got)
	}
	fetched, err := s.Fetch(t.Context(), core.FetchRequest{IDs: []core.ID{core.IntID(2), core.IntID(9), core.StringID("x"), core.IntID(-1)}})
	if err != nil || len(fetched) != 1 || fetched[0].PayloadText() != "east" || s.Len() != 4 {
		t.Errorf("fetched %v, error %v", fetched, err)
	}
}
