package flat

import (
	"fmt"
	"testing"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/questions"
	"github.com/georag/georag/internal/shareddata"
)

// BenchmarkSearch answers a question with ten sub-queries over 9,002 × 384.
func BenchmarkSearch(b *testing.B) {
	dir := shareddata.Shared(b, "data/wiki-multihop")
	asked, err := questions.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, metric := range metrics {
		s := mustOpen(b, Config{Dir: dir, Metric: metric})
		defer s.Close()
		for _, m := range []int{0, 10} {
			b.Run(fmt.Sprintf("%s/1+%d", metric, m), func(b *testing.B) {
				q := asked[0]
				req := core.SearchRequest{Vector: q.Vector, K: 200, SubQueries: q.SubQueryVectors[:m], Depth: 20, OutsideVectors: true}
				for b.Loop() {
					if _, err := s.Search(b.Context(), req); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkNearest is the pass over the vectors alone.
func BenchmarkNearest(b *testing.B) {
	dir := shareddata.Shared(b, "data/wiki-multihop")
	asked, err := questions.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	s := mustOpen(b, Config{Dir: dir})
	defer s.Close()
	searches := []search{{asked[0].Vector, 200, -1}}
	for j, v := range asked[0].SubQueryVectors[:10] {
		searches = append(searches, search{v, 20, j})
	}
	for b.Loop() {
		if _, err := s.nearest(b.Context(), searches, rows{all: len(s.ids)}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen checks and maps 9,002 passages.
func BenchmarkOpen(b *testing.B) {
	dir := shareddata.Shared(b, "data/wiki-multihop")
	for b.Loop() {
		if err := mustOpen(b, Config{Dir: dir}).Close(); err != nil {
			b.Fatal(err)
		}
	}
}
