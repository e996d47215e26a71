package diagnose

import (
	"math"
	"slices"
	"strings"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

// sample holds the queries that are also searched exactly: what the store found for them, and the best scores that
// any passage of the scan reaches. Scores are enough: a passage found counts as right where its own exact score is
// at least that of the passage that belongs at the end of the list, so ties are never held against an index.
type sample struct {
	total, size int
	queries     map[int]*exact // by row
	order       []int          // rows, ascending
	places      map[core.ID][]place
}

// exact is one query of the sample.
type exact struct {
	vector  []float32
	norm    float64
	list    int       // how many passages the store found
	own     []float64 // exact score of each passage found, by the store's metric; NaN until the scan meets it
	cosine  []float64 // the same by cosine
	best    *highest  // scores of the metric over all passages
	nearest *highest  // cosines over all passages
}

// place is where a passage stands in a query's list.
type place struct {
	query *exact
	rank  int
}

// Depths at which the store's answer is compared with the exact one.
const (
	shallow = 20
	deep    = 200
)

func newSample(total, size int) *sample {
	s := &sample{total: total, size: min(size, total), queries: map[int]*exact{}, places: map[core.ID][]place{}}
	for i := range s.size {
		s.order = append(s.order, i*total/s.size)
	}
	return s
}

func (s *sample) wants(row int) bool {
	_, found := slices.BinarySearch(s.order, row)
	return found
}

func (s *sample) at(row int) *exact {
	if s.queries[row] == nil {
		s.queries[row] = &exact{best: newHighest(deep), nearest: newHighest(deep)}
	}
	return s.queries[row]
}

// keep remembers the vector of a query of the sample.
func (s *sample) keep(row int, vector []float32) {
	if s.wants(row) && vector != nil {
		e := s.at(row)
		e.vector, e.norm = slices.Clone(vector), vec.Norm(vector)
	}
}

// found remembers what the store answered.
func (s *sample) found(row int, ids []core.ID) {
	e := s.at(row)
	e.list = len(ids)
	e.own, e.cosine = unknown(len(ids)), unknown(len(ids))
	for rank, id := range ids {
		s.places[id] = append(s.places[id], place{e, rank})
	}
}

func unknown(n int) []float64 { return slices.Repeat([]float64{math.NaN()}, n) }

// usable returns the queries that have both a vector of the dimension and an answer.
func (s *sample) usable(dim int) []*exact {
	var usable []*exact
	for _, row := range s.order {
		if e := s.queries[row]; e != nil && e.list > 0 && len(e.vector) == dim && e.norm > 0 {
			usable = append(usable, e)
		}
	}
	return usable
}

// see compares a passage with every query.
func (s *sample) see(c core.Candidate, norm float64, metric core.Metric) {
	places := s.places[c.ID]
	for _, row := range s.order {
		e := s.queries[row]
		if e == nil || len(e.vector) != len(c.Vector) || e.norm == 0 {
			continue
		}
		cosine := vec.Dot(e.vector, c.Vector)
		own := score(metric, cosine, e.norm, norm, e.vector, c.Vector)
		if cosine /= e.norm * norm; norm == 0 {
			cosine = math.Inf(-1)
		}
		e.best.add(own)
		e.nearest.add(cosine)
		for _, p := range places {
			if p.query == e {
				e.own[p.rank], e.cosine[p.rank] = own, cosine
			}
		}
	}
}

// score is how the metric rates two vectors with the given inner product, higher is better.
func score(metric core.Metric, dot, queryNorm, norm float64, query, passage []float32) float64 {
	switch metric {
	case core.MetricDot:
		return dot
	case core.MetricEuclidean:
		return 2*dot - norm*norm - queryNorm*queryNorm // −|a−b|²
	case core.MetricManhattan:
		sum := 0.0
		for i, x := range query {
			sum += math.Abs(float64(x) - float64(passage[i]))
		}
		return -sum
	}
	if norm == 0 {
		return math.Inf(-1)
	}
	return dot / (queryNorm * norm)
}

// recall is the share of the first depth passages found that belong there by the exact scores.
func recall(found []float64, best []float64, depth int) float64 {
	depth = min(depth, len(best))
	if depth == 0 {
		return 1
	}
	least := best[depth-1]
	tolerance := 1e-6 * max(1, math.Abs(least)) // what float32 arithmetic in a store may differ by
	right := 0
	for _, score := range found[:min(depth, len(found))] {
		if score >= least-tolerance { // a passage that the scan did not meet is NaN and not right
			right++
		}
	}
	return float64(right) / float64(depth)
}

// highest keeps the n highest of many values.
type highest struct {
	n      int
	values []float64
	least  float64 // no value below it can matter
}

func newHighest(n int) *highest { return &highest{n: n, least: math.Inf(-1)} }

func (h *highest) add(x float64) {
	if !(x > h.least) {
		return
	}
	if h.values = append(h.values, x); len(h.values) == 2*h.n {
		h.sorted()
		h.least = h.values[h.n-1]
	}
}

// sorted returns the highest values, descending.
func (h *highest) sorted() []float64 {
	slices.SortFunc(h.values, func(a, b float64) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	h.values = h.values[:min(h.n, len(h.values))]
	return h.values
}

// metricOf reads a store's name of its metric; ok is false for one that is none of the four.
func metricOf(name string) (metric core.Metric, ok bool) {
	name = strings.ToLower(name)
	for _, known := range []struct {
		part   string
		metric core.Metric
	}{
		{"cos", core.MetricCosine}, {"dot", core.MetricDot}, {"inner", core.MetricDot}, {"ip", core.MetricDot},
		{"euclid", core.MetricEuclidean}, {"l2", core.MetricEuclidean},
		{"manhattan", core.MetricManhattan}, {"l1", core.MetricManhattan},
	} {
		if strings.Contains(name, known.part) {
			return known.metric, true
		}
	}
	return core.MetricCosine, false
}
