package httpapi

import (
	"cmp"
	"context"
	"slices"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/measure"
	"github.com/georag/georag/core/vec"
)

// recorder stands between one selection and its store, and keeps what the store returned, so that the selection can
// be compared with another one of the same candidates without asking again.
type recorder struct {
	core.Store
	embedder *recordingEmbedder
	given    bool      // the candidates are fetched, not searched for
	main     []core.ID // the candidates of the question itself
	vectors  map[core.ID][]float32
}

// record puts a recorder into a stage of one's own.
func record(stage *core.Stage) *recorder {
	r := &recorder{Store: stage.Store, given: stage.Settings.Pool.Base() == core.PoolGiven, vectors: map[core.ID][]float32{}}
	r.embedder = &recordingEmbedder{Embedder: stage.Planner.Embedder, vectors: map[string][]float32{}}
	stage.Store = r
	if stage.Planner.Embedder != nil {
		stage.Planner.Embedder = r.embedder
	}
	return r
}

func (r *recorder) Search(ctx context.Context, req core.SearchRequest) (core.SearchResult, error) {
	found, err := r.Store.Search(ctx, req)
	if !r.given {
		r.main = r.keep(found.Candidates)
	}
	for _, result := range found.SubQueries {
		r.keep(result.Hits)
	}
	return found, err
}

func (r *recorder) Fetch(ctx context.Context, req core.FetchRequest) ([]core.Candidate, error) {
	fetched, err := r.Store.Fetch(ctx, req)
	if ids := r.keep(fetched); r.given && r.main == nil {
		r.main = ids
	}
	return fetched, err
}

// keep remembers usable vectors and returns whose they are.
func (r *recorder) keep(candidates []core.Candidate) []core.ID {
	var ids []core.ID
	for _, c := range candidates {
		if vec.Check(c.Vector, 0) == nil {
			r.vectors[c.ID] = c.Vector
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// asked returns the vectors of the question and, in the order of the trace, of the sub-queries that were kept.
func (r *recorder) asked(q core.Query, t core.Trace) (question []float32, kept [][]float32) {
	vector := func(given []float32, text string) []float32 {
		if given != nil {
			return given
		}
		return r.embedder.vectors[text]
	}
	for j, sub := range t.SubQueries {
		if !sub.Kept {
			continue
		}
		var given []float32
		if j < len(q.SubQueries) {
			given = q.SubQueries[j].Vector
		}
		kept = append(kept, vector(given, sub.Text))
	}
	return vector(q.Vector, q.Text), kept
}

// nearest returns the k main candidates nearest to the question, ties by ID.
func (r *recorder) nearest(question []float32, k int) []core.ID {
	ids := slices.Clone(r.main)
	cosine := make(map[core.ID]float64, len(ids))
	for _, id := range ids {
		cosine[id] = vec.Cosine(r.vectors[id], question)
	}
	slices.SortFunc(ids, func(a, b core.ID) int {
		return cmp.Or(cmp.Compare(cosine[b], cosine[a]), core.CompareID(a, b))
	})
	ids = slices.Compact(ids)
	return ids[:min(k, len(ids))]
}

// diagnosis measures the passages ids against each other, the sub-queries, and the demand.
func (r *recorder) diagnosis(mode string, ids []core.ID, kept [][]float32, demand []core.DemandShare) Diagnosis {
	d := Diagnosis{Mode: mode, IDs: append([]core.ID{}, ids...), Covered: []int{}} // never null
	passages := r.of(ids)
	answered := measure.Cosines(kept, passages)
	for j, yes := range measure.Covered(answered) {
		if yes {
			d.Covered = append(d.Covered, j)
		}
	}
	competing, shares := make([]core.ID, len(demand)), make([]float64, len(demand))
	for i, share := range demand {
		competing[i], shares[i] = share.ID, share.Share
	}
	d.Coverage = measure.Coverage(answered)
	d.Redundancy = measure.Redundancy(measure.Cosines(passages, passages))
	d.DemandObjective = measure.FacilityObjective(shares, measure.Cosines(r.of(competing), passages))
	return d
}

func (r *recorder) of(ids []core.ID) [][]float32 {
	vectors := make([][]float32, len(ids))
	for i, id := range ids {
		vectors[i] = r.vectors[id]
	}
	return vectors
}

// recordingEmbedder remembers the vectors of the questions it embeds.
type recordingEmbedder struct {
	core.Embedder
	vectors map[string][]float32
}

func (e *recordingEmbedder) EmbedQueries(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.Embedder.EmbedQueries(ctx, texts)
	for i := range min(len(texts), len(vectors)) {
		e.vectors[texts[i]] = vectors[i]
	}
	return vectors, err
}
