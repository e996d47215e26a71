package stress

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/georag/georag/core"
)

// Corruption names what happens to sub-queries.
type Corruption string

const (
	Drop      Corruption = "drop"      // they are missing
	Shuffle   Corruption = "shuffle"   // they are those of other questions
	Duplicate Corruption = "duplicate" // they repeat another sub-query of the question
)

// Corruptions lists the corruptions.
func Corruptions() []Corruption { return []Corruption{Drop, Shuffle, Duplicate} }

// Corrupt returns the sub-queries of each question with a share of them, in [0, 1] and rounded to whole sub-queries,
// corrupted. What is given is not changed. Shuffle needs at least two questions that have sub-queries, or nothing is
// shuffled; duplicating all of a question's sub-queries leaves copies of one. The error wraps [core.ErrInvalid].
func Corrupt(questions [][]core.SubQuery, how Corruption, share float64, seed uint64) ([][]core.SubQuery, error) {
	if !(share >= 0 && share <= 1) {
		return nil, fmt.Errorf("internal/stress: %w: share is %v, want 0 to 1", core.ErrInvalid, share)
	}
	if !slices.Contains(Corruptions(), how) {
		return nil, fmt.Errorf("internal/stress: %w: corruption is %q, want one of %q", core.ErrInvalid, how, Corruptions())
	}
	corrupted := make([][]core.SubQuery, len(questions))
	for i, own := range questions {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		hit := r.Perm(len(own))[:int(math.Round(share*float64(len(own))))]
		corrupted[i] = slices.Clone(own)
		switch how {
		case Drop:
			corrupted[i] = without(own, hit)
		case Shuffle:
			shuffle(corrupted[i], hit, questions, i, r)
		case Duplicate:
			repeat(corrupted[i], hit, r)
		}
	}
	return corrupted, nil
}

func without(own []core.SubQuery, hit []int) []core.SubQuery {
	kept := []core.SubQuery{}
	for j, s := range own {
		if !slices.Contains(hit, j) {
			kept = append(kept, s)
		}
	}
	return kept
}

// shuffle overwrites the sub-queries that are hit with some of other questions.
func shuffle(own []core.SubQuery, hit []int, questions [][]core.SubQuery, self int, r *rand.Rand) {
	var others []int
	for i, q := range questions {
		if i != self && len(q) > 0 {
			others = append(others, i)
		}
	}
	if len(others) == 0 {
		return
	}
	for _, j := range hit {
		other := questions[others[r.IntN(len(others))]]
		own[j] = other[r.IntN(len(other))]
	}
}

// repeat overwrites the sub-queries that are hit with one that is not, or all with one.
func repeat(own []core.SubQuery, hit []int, r *rand.Rand) {
	var intact []int
	for j := range own {
		if !slices.Contains(hit, j) {
			intact = append(intact, j)
		}
	}
	if len(intact) == 0 && len(own) > 0 {
		intact = []int{r.IntN(len(own))}
	}
	for _, j := range hit {
		own[j] = own[intact[r.IntN(len(intact))]]
	}
}
