package flat

import (
	"math"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

// scorer fills the scores of a block for every search, higher is better. It is safe for concurrent use.
type scorer func(*block)

func (s *Store) newScorer(searches []search) scorer {
	switch s.metric {
	case core.MetricEuclidean:
		return distances(searches, func(a, b []float32) float64 { return math.Sqrt(squaredDistance(a, b)) })
	case core.MetricManhattan:
		return distances(searches, absoluteDistance)
	case core.MetricCosine:
		return s.cosines(searches)
	default:
		products := productsWith(searches)
		return func(b *block) {
			products(b)
			for i, x := range b.scores {
				b.scores[i] = finite(x)
			}
		}
	}
}

// productsWith scores by inner product.
func productsWith(searches []search) scorer {
	var queries vec.Queries
	vectors := make([][]float32, len(searches))
	for q, search := range searches {
		vectors[q] = search.vector
	}
	queries.Reset(vectors)
	return func(b *block) {
		scores := make([][]float64, len(searches))
		for q := range scores {
			scores[q] = b.scores[q*blockRows : q*blockRows+len(b.vectors)]
		}
		queries.DotsOf(scores, len(b.vectors), func(i int) []float32 { return b.vectors[i] })
	}
}

// cosines scores as [vec.Cosine] does, with every norm computed once.
func (s *Store) cosines(searches []search) scorer {
	products, rowNorms := productsWith(searches), s.norms()
	queryNorms := make([]float64, len(searches))
	for q, search := range searches {
		queryNorms[q] = vec.Norm(search.vector)
	}
	return func(b *block) {
		products(b)
		for q, norm := range queryNorms {
			for i, row := range b.rows {
				score := &b.scores[q*blockRows+i]
				switch rowNorm := rowNorms[row]; {
				case rowNorm == 0:
					*score = 0
				default:
					*score = finite(vec.Clamp(*score / (norm * rowNorm)))
				}
			}
		}
	}
}

func (s *Store) computeNorms() []float64 {
	norms, scratch := make([]float64, len(s.ids)), make([]float32, s.dim)
	for row := range norms {
		norms[row] = vec.Norm(s.view(scratch, int32(row)))
	}
	return norms
}

// finite ranks what cannot be compared last.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.Inf(-1)
	}
	return x
}

func distances(searches []search, distance func(a, b []float32) float64) scorer {
	return func(b *block) {
		for q, search := range searches {
			for i, v := range b.vectors {
				b.scores[q*blockRows+i] = finite(-distance(search.vector, v))
			}
		}
	}
}

func squaredDistance(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		difference := float64(x) - float64(b[i])
		sum += difference * difference
	}
	return sum
}

func absoluteDistance(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += math.Abs(float64(x) - float64(b[i]))
	}
	return sum
}
