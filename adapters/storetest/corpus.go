package storetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

// IDKind is a kind of primary key.
type IDKind string

const (
	UintIDs IDKind = "uint64"
	IntIDs  IDKind = "int64"
	UUIDs   IDKind = "uuid"
	TextIDs IDKind = "text" // any Unicode string of at most 255 bytes
)

// id is the i-th ordinary ID of the kind; IDs ascend with i.
func (k IDKind) id(i int) core.ID {
	switch k {
	case UUIDs:
		return core.StringID(fmt.Sprintf("%08x-58cc-4372-a567-0e02b2c3d479", i+1))
	case TextIDs:
		return core.StringID(fmt.Sprintf("p%05d", i+1))
	default:
		return core.UintID(uint64(i + 1))
	}
}

// extremes are IDs of the kind that a float64, a signed key or a naive parser would change or confuse.
func (k IDKind) extremes() []core.ID {
	switch k {
	case UintIDs:
		return []core.ID{core.UintID(1), core.UintID(1 << 53), core.UintID(1<<53 + 1), core.UintID(1 << 63),
			core.UintID(math.MaxUint64 - 1), core.UintID(math.MaxUint64)}
	case IntIDs:
		return []core.ID{core.IntID(1), core.IntID(1 << 53), core.IntID(1<<53 + 1), core.IntID(math.MaxInt64),
			core.IntID(-1), core.IntID(-1<<53 - 1), core.IntID(math.MinInt64)}
	case UUIDs:
		return []core.ID{core.StringID("00000000-0000-0000-0000-000000000001"),
			core.StringID("f47ac10b-58cc-4372-a567-0e02b2c3d479"),
			core.StringID("ffffffff-ffff-ffff-ffff-ffffffffffff")}
	default:
		return []core.ID{core.StringID("42"), core.StringID("0042"), core.StringID("9007199254740993"),
			core.StringID("Zürich 東京 🚀"), core.StringID(`quote " and ' and back\slash`), core.StringID(" edge space "),
			core.StringID("a,b;c=d"), core.StringID("null"), core.StringID(strings.Repeat("é", 100))}
	}
}

// corpus makes n passages of dimension d with random directions and norms between 0.5 and 2, the same each time.
func corpus(n, d int, metric core.Metric, ids IDKind) Collection {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	c := Collection{Dimension: d, Metric: metric, IDs: ids}
	for i := range n {
		c.Passages = append(c.Passages, core.Candidate{
			ID:     ids.id(i),
			Vector: randomVector(rng, d, 0.5+1.5*rng.Float64()),
			Payload: map[string]any{
				"title": fmt.Sprintf("Passage %d", i),
				"text":  fmt.Sprintf("Text of passage %d.", i),
				"group": fmt.Sprintf("group-%d", i%3),
				"year":  int64(1990 + i%20),
			},
		})
	}
	return c
}

// queries makes m random unit vectors of dimension d.
func queries(m, d int) [][]float32 {
	rng := rand.New(rand.NewPCG(77, uint64(d)))
	qs := make([][]float32, m)
	for j := range qs {
		qs[j] = randomVector(rng, d, 1)
	}
	return qs
}

func randomVector(rng *rand.Rand, d int, norm float64) []float32 {
	v := make([]float32, d)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	scale := norm / vec.Norm(v)
	for i := range v {
		v[i] = float32(float64(v[i]) * scale)
	}
	return v
}

// ordinary is a collection of the backend's first metric and kind of ID, large enough for every small case.
func (b Backend) ordinary() Collection { return corpus(60, 16, b.Metrics[0], b.IDs[0]) }

// similarity is the reference score of a vector: higher is better in every metric.
func similarity(metric core.Metric, query, v []float32) float64 {
	switch metric {
	case core.MetricDot:
		return vec.Dot(query, v)
	case core.MetricEuclidean:
		return -math.Sqrt(sumOver(query, v, func(x float64) float64 { return x * x }))
	case core.MetricManhattan:
		return -sumOver(query, v, math.Abs)
	default:
		return vec.Cosine(query, v)
	}
}

func sumOver(a, b []float32, f func(float64) float64) float64 {
	sum := 0.0
	for i := range a {
		sum += f(float64(a[i]) - float64(b[i]))
	}
	return sum
}

// nearest is the reference answer: the k most similar passages, best first, equal ones in order of ID.
func (c Collection) nearest(query []float32, k int, keep func(core.Candidate) bool) []core.Candidate {
	var found []core.Candidate
	for _, p := range c.Passages {
		if keep == nil || keep(p) {
			p.Score = similarity(c.Metric, query, p.Vector)
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, byScoreThenID)
	return found[:min(k, len(found))]
}

func byScoreThenID(a, b core.Candidate) int {
	if a.Score != b.Score {
		if a.Score > b.Score {
			return -1
		}
		return 1
	}
	return core.CompareID(a.ID, b.ID)
}

// byID indexes the collection's passages.
func (c Collection) byID() map[core.ID]core.Candidate {
	m := make(map[core.ID]core.Candidate, len(c.Passages))
	for _, p := range c.Passages {
		m[p.ID] = p
	}
	return m
}

func idsOf(cs []core.Candidate) []core.ID {
	ids := make([]core.ID, len(cs))
	for i, c := range cs {
		ids[i] = c.ID
	}
	return ids
}
