package pick

import (
	"context"
	"fmt"
)

// RRFOptions are the parameters of selector "rrf", reciprocal rank fusion (Cormack, Clarke and Büttcher 2009):
//
//	score_i = Σ_j 1/(K + rank of i in R_j), ranks from 1,
//
// over the result lists R_j of the sub-queries ([Problem.Lists]; a row named twice in a list counts once, where it
// stands first). Candidates in no list follow, by their cosine with the query. The selector returns [ErrNeeds] when
// there are no lists.
type RRFOptions struct {
	// K damps the lead of the first ranks; 60 in the publication. K ≥ 0.
	K float64 `koanf:"k"`
}

// Validate reports a field out of range.
func (o RRFOptions) Validate() error {
	if !(o.K >= 0 && o.K <= 1e9) {
		return fmt.Errorf("core/pick: %w: rrf.k is %v, want a value in [0,1e9]", ErrOption, o.K)
	}
	return nil
}

type rrf struct {
	o    RRFOptions
	gain []float64
	seen []int
}

func (f *rrf) run(ctx context.Context, p *Problem, k int, r *Result) error {
	if len(p.Lists) == 0 {
		return fmt.Errorf("core/pick: rrf %w: no sub-query lists", ErrNeeds)
	}
	r.Mode = "rrf"
	listed := f.fuse(p)
	for i, g := range f.gain {
		if g == 0 {
			f.gain[i] = out
		}
	}
	// A sum of a few quotients carries no rounding worth a tolerance, and K may make all of them small.
	if err := rankRest(ctx, f.gain, 0, min(k, listed), r); err != nil {
		return err
	}
	return fillByQuery(ctx, p, f.gain, k, r)
}

// fuse sums the scores into gain and returns how many rows any list names.
func (f *rrf) fuse(p *Problem) (listed int) {
	n := p.Len()
	f.gain, f.seen = rows(f.gain, n), rows(f.seen, n)
	clear(f.gain)
	clear(f.seen)
	for j, list := range p.Lists {
		for rank, row := range list {
			if f.seen[row] == j+1 {
				continue
			}
			if f.gain[row] == 0 {
				listed++
			}
			f.seen[row] = j + 1
			f.gain[row] += 1 / (f.o.K + float64(rank+1))
		}
	}
	return listed
}
