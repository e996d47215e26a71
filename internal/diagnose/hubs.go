package diagnose

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/measure"
	"github.com/georag/georag/core/vec"
)

// Hubs tells whether a few passages crowd all others out of the results.
type Hubs struct {
	// Skewness of the k-occurrences (k = 10) among a random sample of the passages, see [measure.Hubness]; 0
	// where the index was not scanned.
	Skewness float64 `json:"skewness"`
	Sample   int     `json:"sample"` // passages in that sample
	// Most are the passages among the ten nearest of most queries, at most [maxHubs], with the share of queries.
	Most []Hub `json:"most"`
}

// Hub is a passage that is found often.
type Hub struct {
	ID    core.ID `json:"id"`
	Share float64 `json:"share"`
}

const (
	maxHubs   = 10
	hubSample = 2000
)

// hubs lists the passages found most often.
func (s *summary) hubs() Hubs {
	answered := 0
	for i, r := range s.records {
		if s.asked[i] && r.Error == "" {
			answered++
		}
	}
	most := make([]Hub, 0, len(s.found))
	for id, n := range s.found {
		most = append(most, Hub{id, float64(n) / float64(answered)})
	}
	slices.SortFunc(most, func(a, b Hub) int { return cmp.Or(cmp.Compare(b.Share, a.Share), core.CompareID(a.ID, b.ID)) })
	return Hubs{Most: slices.Clone(most[:min(maxHubs, len(most))])}
}

// measure works out the skewness over the sampled vectors.
func (h *Hubs) measure(points [][]float32) {
	h.Sample = len(points)
	if len(points) <= hubDepth {
		return
	}
	neighbours := make([][]int, len(points))
	cosines := make([]float64, len(points))
	for i, p := range points {
		best := newHighest(hubDepth)
		for j, other := range points {
			if cosines[j] = vec.Dot(p, other); j != i {
				best.add(cosines[j])
			}
		}
		least := best.sorted()[hubDepth-1]
		for j, cosine := range cosines {
			if j != i && cosine >= least && len(neighbours[i]) < hubDepth {
				neighbours[i] = append(neighbours[i], j)
			}
		}
	}
	h.Skewness = measure.Hubness(measure.KOccurrences(neighbours, len(points)))
}

// reservoir is a uniform random sample of the vectors it sees, as unit vectors; the same vectors in the same order
// give the same sample.
type reservoir struct {
	size    int
	seen    int
	random  *rand.Rand
	vectors [][]float32
}

func newReservoir(size int) *reservoir {
	return &reservoir{size: size, random: rand.New(rand.NewPCG(1, 1))}
}

func (r *reservoir) see(v []float32) {
	r.seen++
	if len(r.vectors) < r.size {
		r.vectors = append(r.vectors, vec.Normalise(nil, v))
	} else if at := r.random.IntN(r.seen); at < r.size {
		vec.Normalise(r.vectors[at], v)
	}
}

// randomCosine is the median cosine of pairs drawn at random: the scan's order keeps related passages together.
func randomCosine(points [][]float32) float64 {
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(points))
	cosines := make([]float64, len(order)/2)
	for i := range cosines {
		cosines[i] = vec.Dot(points[order[2*i]], points[order[2*i+1]])
	}
	return measure.Quantile(cosines, 0.5)
}
