package qdranttest

import (
	"math"
	"slices"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/georag/georag/core/vec"
)

// nearest scores every point of the pool that has the vector.
func (s searcher) nearest(q *qd.PrefetchQuery, input *qd.VectorInput, pool []*point, limit int) ([]hit, error) {
	name := q.GetUsing()
	if sparse := input.GetSparse(); sparse != nil {
		if _, ok := s.sparse[name]; !ok {
			return nil, invalid("Not existing vector name error: %s", name)
		}
		return best(overlapping(sparse, name, pool), true, limit), nil
	}
	params, query, err := s.denseQuery(name, input)
	if err != nil {
		return nil, err
	}
	higher := params.GetDistance() == qd.Distance_Cosine || params.GetDistance() == qd.Distance_Dot
	hits := make([]hit, 0, len(pool))
	for _, p := range pool {
		v, ok := p.dense[name]
		if !ok {
			continue
		}
		score := float32(score(params, query, v))
		if t := q.ScoreThreshold; t != nil && (higher && score < *t || !higher && score > *t) {
			continue
		}
		hits = append(hits, hit{p, score})
	}
	return best(hits, higher, limit), nil
}

// denseQuery checks a dense query vector and brings it into the form of the stored ones.
func (s searcher) denseQuery(name string, input *qd.VectorInput) (*qd.VectorParams, []float32, error) {
	params, err := s.vector(name)
	if err != nil {
		return nil, nil, err
	}
	query := input.GetDense()
	switch {
	case query == nil:
		return nil, nil, status.Errorf(codes.Unimplemented, "internal/qdranttest: no vector of kind %T", input.GetVariant())
	case params.GetMultivectorConfig() != nil:
		return nil, nil, invalid("Conversion between multi and regular vectors failed")
	}
	if err := checkDimension(params, query.GetData()); err != nil {
		return nil, nil, err
	}
	v := slices.Clone(query.GetData())
	if params.GetDistance() == qd.Distance_Cosine {
		normalise(v)
	}
	return params, v, nil
}

// score is Qdrant's: a similarity for Cosine and Dot, a distance for Euclid and Manhattan.
func score(params *qd.VectorParams, query, v []float32) float64 {
	switch params.GetDistance() {
	case qd.Distance_Cosine:
		if params.GetDatatype() == qd.Datatype_Uint8 {
			return vec.Cosine(query, v)
		}
		return vec.Dot(query, v)
	case qd.Distance_Dot:
		return vec.Dot(query, v)
	case qd.Distance_Euclid:
		return math.Sqrt(sum(query, v, func(x float64) float64 { return x * x }))
	default:
		return sum(query, v, math.Abs)
	}
}

// similarity is what MMR compares: higher is nearer in every metric.
func similarity(params *qd.VectorParams, a, b []float32) float32 {
	switch params.GetDistance() {
	case qd.Distance_Euclid:
		return float32(-sum(a, b, func(x float64) float64 { return x * x }))
	case qd.Distance_Manhattan:
		return float32(-sum(a, b, math.Abs))
	}
	return float32(score(params, a, b))
}

func sum(a, b []float32, of func(float64) float64) float64 {
	total := 0.0
	for i := range a {
		total += of(float64(a[i]) - float64(b[i]))
	}
	return total
}

// overlapping scores the points whose sparse vector shares a component with the query.
func overlapping(query *qd.SparseVector, name string, pool []*point) []hit {
	wanted := make(map[uint32]float32, len(query.GetIndices()))
	for i, index := range query.GetIndices() {
		wanted[index] = query.GetValues()[i]
	}
	var hits []hit
	for _, p := range pool {
		var total float32
		shared := false
		for i, index := range p.sparse[name].GetIndices() {
			if weight, ok := wanted[index]; ok {
				total, shared = total+weight*p.sparse[name].GetValues()[i], true
			}
		}
		if shared {
			hits = append(hits, hit{p, total})
		}
	}
	return hits
}

// mmr selects from the nearest candidates, greedily by λ·similarity to the query − (1−λ)·largest similarity to
// what is selected, λ = 1 − diversity. The scores stay those of the nearest search.
func (s searcher) mmr(q *qd.PrefetchQuery, r *qd.NearestInputWithMmr, pool []*point, limit int) ([]hit, error) {
	diversity, candidates := float32(0.5), limit
	if m := r.GetMmr(); m.Diversity != nil {
		diversity = m.GetDiversity()
	}
	if m := r.GetMmr(); m.CandidatesLimit != nil {
		candidates = int(m.GetCandidatesLimit())
	}
	if diversity < 0 || diversity > 1 || candidates > 16384 {
		return nil, status.Errorf(codes.InvalidArgument, "Validation error in body: [mmr: diversity must be in [0, 1] and candidates_limit at most 16384]")
	}
	hits, err := s.nearest(q, r.GetNearest(), pool, candidates)
	if err != nil || len(hits) < 2 {
		return hits, err
	}
	name := q.GetUsing()
	params, query, err := s.denseQuery(name, r.GetNearest())
	if err != nil {
		return nil, err
	}
	closest := make([]float32, len(hits)) // to what is selected
	taken := make([]bool, len(hits))
	var selected []hit
	for len(selected) < min(limit, len(hits)) {
		chosen, top := -1, float32(0)
		for i, h := range hits {
			if taken[i] {
				continue
			}
			value := similarity(params, query, h.dense[name])
			if len(selected) > 0 {
				value = (1-diversity)*value - diversity*closest[i]
			}
			if chosen < 0 || value > top {
				chosen, top = i, value
			}
		}
		taken[chosen] = true
		selected = append(selected, hits[chosen])
		for i, h := range hits {
			if near := similarity(params, h.dense[name], hits[chosen].dense[name]); len(selected) == 1 || near > closest[i] {
				closest[i] = near
			}
		}
	}
	return selected, nil
}
