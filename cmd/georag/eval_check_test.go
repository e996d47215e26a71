package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/core"
	"github.com/georag/georag/demo"
	"github.com/georag/georag/internal/questions"
)

// TestAbsentGoldIsTold: a few absent passages are listed, and a store that holds none is the wrong one.
func TestAbsentGoldIsTold(t *testing.T) {
	store, err := flat.OpenFS(demo.Files, "data", flat.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	asked, err := questions.OpenFS(demo.Files, "data")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(i int, q *questions.Question)
		want   string
		err    error
	}{
		{func(int, *questions.Question) {}, "", nil},
		{func(i int, q *questions.Question) {
			if i == 0 {
				q.Gold = append(q.Gold[:len(q.Gold):len(q.Gold)], core.StringID("gone"), core.IntID(7))
			}
		}, "gold passages, which no selector can find: [7 gone]\n", nil},
		{func(_ int, q *questions.Question) { q.Gold = []core.ID{core.IntID(7)} }, "", core.ErrInvalid},
	} {
		changed := append([]questions.Question(nil), asked...)
		for i := range changed {
			c.change(i, &changed[i])
		}
		var told bytes.Buffer
		err := warnOfAbsentGold(t.Context(), &told, store, changed)
		if !errors.Is(err, c.err) || !strings.HasSuffix(told.String(), c.want) || (c.want == "") != (told.Len() == 0) {
			t.Errorf("told %q, error %v; want %q, error %v", told.String(), err, c.want, c.err)
		}
	}
}
