package flat

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"
)

const (
	// blockRows are scored against one query group after another while they are in the processor's cache.
	blockRows = 32
	// workerProducts is the least work, in multiplications, that is worth another goroutine.
	workerProducts = 1 << 21
)

// nearest returns the best hits of every search, best first.
func (s *Store) nearest(ctx context.Context, searches []search, admitted rows) ([][]hit, error) {
	if len(searches) == 0 {
		return nil, nil
	}
	n := admitted.len()
	workers := min(runtime.GOMAXPROCS(0), 1+n*len(searches)*s.dim/workerProducts)
	score := s.newScorer(searches)
	partial := make([][]ranking, workers)
	group, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		group.Go(func() (err error) {
			partial[w], err = s.scan(ctx, score, searches, admitted, w*n/workers, (w+1)*n/workers)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("adapters/flat: %w", err)
	}
	found := make([][]hit, len(searches))
	for q := range searches {
		merged := partial[0][q]
		for _, other := range partial[1:] {
			for _, h := range other[q].hits {
				merged.offer(h)
			}
		}
		found[q] = merged.sorted()
	}
	return found, nil
}

// scan ranks the admitted rows from the from-th up to the to-th for every search.
func (s *Store) scan(ctx context.Context, score scorer, searches []search, admitted rows, from, to int) ([]ranking, error) {
	best := make([]ranking, len(searches))
	for q, search := range searches {
		best[q] = ranking{ids: s.ids, most: min(search.k, admitted.len())}
	}
	block := newBlock(s.dim, len(searches))
	for begin := from; begin < to; begin += blockRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		block.fill(s, admitted, begin, min(begin+blockRows, to))
		score(block)
		for q := range best {
			for i, row := range block.rows {
				best[q].offer(hit{row: row, score: block.scores[q*blockRows+i]})
			}
		}
	}
	return best, nil
}

// block is a few rows and their scores.
type block struct {
	rows    []int32
	vectors [][]float32
	scores  []float64 // of search q and row i at q·blockRows+i
	scratch []float32 // for vectors that are not stored as float32
}

func newBlock(dim, searches int) *block {
	return &block{
		rows: make([]int32, 0, blockRows), vectors: make([][]float32, 0, blockRows),
		scores: make([]float64, searches*blockRows), scratch: make([]float32, blockRows*dim),
	}
}

func (b *block) fill(s *Store, admitted rows, begin, end int) {
	b.rows, b.vectors = b.rows[:0], b.vectors[:0]
	for i := begin; i < end; i++ {
		row, at := admitted.at(i), (i-begin)*s.dim
		b.rows = append(b.rows, row)
		b.vectors = append(b.vectors, s.view(b.scratch[at:at+s.dim], row))
	}
}
