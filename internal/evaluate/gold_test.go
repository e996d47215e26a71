package evaluate

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/questions"
)

// holds is a store that holds some passages and can do nothing but fetch them.
type holds struct {
	core.Store
	ids     []core.ID
	fetches int
}

func (h *holds) Fetch(_ context.Context, req core.FetchRequest) (found []core.Candidate, err error) {
	h.fetches++
	for _, id := range req.IDs {
		if slices.Contains(h.ids, id) {
			found = append(found, core.Candidate{ID: id})
		}
	}
	return found, nil
}

// TestAbsentGold: an integer is not the text of its digits, and a passage that two questions share counts once.
func TestAbsentGold(t *testing.T) {
	store := &holds{ids: []core.ID{core.IntID(1), core.StringID("2"), core.StringID("x")}}
	asked := []questions.Question{
		{Gold: []core.ID{core.IntID(1), core.IntID(2)}}, {Gold: []core.ID{core.IntID(1), core.StringID("x"), core.StringID("y")}},
	}
	absent, all, err := AbsentGold(t.Context(), store, asked)
	want := []core.ID{core.IntID(2), core.StringID("y")}
	if err != nil || all != 4 || !slices.Equal(absent, want) {
		t.Errorf("absent %v of %d, error %v; want %v of 4", absent, all, err, want)
	}
	many := make([]core.ID, 2*goldBatch+1)
	for i := range many {
		many[i] = core.StringID(fmt.Sprint(i))
	}
	store = &holds{ids: many[:1]}
	if absent, all, err = AbsentGold(t.Context(), store, []questions.Question{{Gold: many}}); err != nil || all != len(many) || len(absent) != all-1 || store.fetches != 3 {
		t.Errorf("%d absent of %d in %d fetches, error %v", len(absent), all, store.fetches, err)
	}
}
