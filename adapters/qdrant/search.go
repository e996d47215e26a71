package qdrant

import (
	"context"
	"fmt"
	"slices"
	"time"

	qd "github.com/qdrant/go-client/qdrant"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

// plan is a checked request: what all queries of its batch share.
type plan struct {
	schema *schema
	field  vectorField
	scope  scope
}

// planFor checks a request's names and scope against the collection.
func (s *Store) planFor(ctx context.Context, r core.Scope) (plan, error) {
	c, err := s.known(ctx)
	if err != nil {
		return plan{}, err
	}
	name := r.VectorName
	if name == "" {
		name = s.cfg.VectorName
	}
	f, err := c.vector(name)
	if err != nil {
		return plan{}, err
	}
	sc, err := s.scopeOf(c, r)
	return plan{schema: c, field: f, scope: sc}, err
}

// planSearch checks a request's numbers and its main vector too.
func (s *Store) planSearch(ctx context.Context, req core.SearchRequest) (plan, error) {
	if err := checkCounts(req); err != nil {
		return plan{}, err
	}
	p, err := s.planFor(ctx, req.Scope)
	if err != nil {
		return plan{}, err
	}
	return p, checkVector(p.field, req.Vector)
}

// Search sends the main query and all sub-queries as one batch.
func (s *Store) Search(ctx context.Context, req core.SearchRequest) (core.SearchResult, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	p, err := s.planSearch(ctx, req)
	if err != nil {
		return core.SearchResult{}, err
	}
	main, err := s.mainQuery(p, req)
	if err != nil {
		return core.SearchResult{}, err
	}
	subs := make([]core.SubQueryResult, len(req.SubQueries))
	batch, places := []*qd.QueryPoints{main}, []int{}
	for j, v := range req.SubQueries {
		if subs[j].Err = checkVector(p.field, v); subs[j].Err == nil {
			batch, places = append(batch, s.subQuery(p, req, v)), append(places, j)
		}
	}
	result := core.SearchResult{SubQueries: subs, Conversions: conversions(p.field.distance, req.Retrieval)}
	lists, err := s.batch(ctx, batch, &result)
	if err != nil && len(batch) > 1 && tooMuch(err) {
		refused := err
		lists, err = s.batch(ctx, batch[:1], &result)
		for _, j := range places {
			subs[j].Err = refused
		}
	}
	if err != nil {
		return core.SearchResult{Calls: result.Calls}, err
	}
	return result, s.sort(p, req, lists, places, &result)
}

// sort turns the batch's lists into the result.
func (s *Store) sort(p plan, req core.SearchRequest, lists []*qd.BatchResult, places []int, result *core.SearchResult) (err error) {
	distance := p.field.distance
	if req.Retrieval == core.RetrieveHybrid {
		distance = qd.Distance_Dot // fused scores are higher-is-better whatever the metric
	}
	if result.Candidates, err = s.candidates(p.field, distance, lists[0].GetResult(), true); err != nil {
		return err
	}
	if len(result.Candidates) == 0 {
		return fmt.Errorf("adapters/qdrant: search on collection %q: %w: nothing is in the scope", s.cfg.Collection, core.ErrEmptyIndex)
	}
	inside := make(map[core.ID]bool, len(result.Candidates))
	for _, c := range result.Candidates {
		inside[c.ID] = true
	}
	for i, list := range lists[1:] {
		sub := &result.SubQueries[places[i]]
		sub.Hits, sub.Err = s.candidates(p.field, p.field.distance, list.GetResult(), s.outsideInBatch(req))
		for h, hit := range sub.Hits {
			if inside[hit.ID] {
				sub.Hits[h].Vector, sub.Hits[h].Payload = nil, nil
			}
		}
	}
	return nil
}

func checkCounts(req core.SearchRequest) error {
	switch {
	case req.K < 1:
		return fmt.Errorf("adapters/qdrant: k %d: %w: must be at least 1", req.K, core.ErrInvalid)
	case len(req.SubQueries) > 0 && req.Depth < 1:
		return fmt.Errorf("adapters/qdrant: depth %d: %w: must be at least 1", req.Depth, core.ErrInvalid)
	case req.Retrieval == core.RetrieveLexical:
		return fmt.Errorf("adapters/qdrant: lexical retrieval: %w by this store: use hybrid with a sparse vector", core.ErrUnsupported)
	}
	return nil
}

func checkVector(f vectorField, v []float32) error {
	if err := vec.Check(v, f.dimension); err != nil {
		return fmt.Errorf("adapters/qdrant: query vector for %s: %w", f.label(), err)
	}
	return nil
}

// query is what every query of a request has in common.
func (s *Store) query(p plan) *qd.QueryPoints {
	q := &qd.QueryPoints{
		CollectionName: s.cfg.Collection, Filter: p.scope.filter, Params: s.cfg.Search.params(),
		ShardKeySelector: p.scope.shards, ReadConsistency: p.scope.consistency,
	}
	if p.field.name != "" {
		q.Using = &p.field.name
	}
	return q
}

// full asks for vector and payload too.
func (s *Store) full(q *qd.QueryPoints, f vectorField) *qd.QueryPoints {
	q.WithVectors, q.WithPayload = withVector(f), s.withPayload()
	return q
}

func (s *Store) mainQuery(p plan, req core.SearchRequest) (*qd.QueryPoints, error) {
	q := s.full(s.query(p), p.field)
	limit := uint64(req.K)
	q.Limit = &limit
	if req.Retrieval == core.RetrieveHybrid {
		return q, s.makeHybrid(q, p, req)
	}
	q.Query = qd.NewQueryDense(req.Vector)
	return q, nil
}

func (s *Store) subQuery(p plan, req core.SearchRequest, v []float32) *qd.QueryPoints {
	q := s.query(p)
	limit := uint64(req.Depth)
	q.Limit, q.Query = &limit, qd.NewQueryDense(v)
	if s.outsideInBatch(req) {
		return s.full(q, p.field)
	}
	if s.cfg.IDField != "" {
		q.WithPayload = qd.NewWithPayloadInclude(s.cfg.IDField)
	}
	return q
}

func (s *Store) outsideInBatch(req core.SearchRequest) bool {
	return req.OutsideVectors && s.cfg.outside() == OutsideBatch
}

func (s *Store) batch(ctx context.Context, queries []*qd.QueryPoints, timing *core.SearchResult) ([]*qd.BatchResult, error) {
	request := &qd.QueryBatchPoints{CollectionName: s.cfg.Collection, QueryPoints: queries, ReadConsistency: queries[0].ReadConsistency, Timeout: seconds(s.reads.Timeout())}
	return read(ctx, s, "search", func(ctx context.Context, l *line) ([]*qd.BatchResult, error) {
		start := time.Now()
		answer, err := l.points.QueryBatch(ctx, request)
		timing.Calls = append(timing.Calls, core.Call{Name: "query batch", Duration: time.Since(start)})
		if err == nil && len(answer.GetResult()) != len(queries) {
			err = fmt.Errorf("adapters/qdrant: %w: %d answers to %d queries", core.ErrUnavailable, len(answer.GetResult()), len(queries))
		}
		return answer.GetResult(), err
	})
}

// candidates reads points in the server's order, and brings those of equal score into the order of their IDs.
func (s *Store) candidates(f vectorField, distance qd.Distance, points []*qd.ScoredPoint, full bool) ([]core.Candidate, error) {
	list := make([]core.Candidate, 0, len(points))
	seen := make(map[core.ID]bool, len(points))
	for _, p := range points {
		id, err := s.idOf(p.GetId(), p.GetPayload())
		if err != nil {
			return nil, err
		}
		if seen[id] { // two points of one passage, where id_field is not unique
			continue
		}
		seen[id] = true
		c := core.Candidate{ID: id, Score: higherIsBetter(distance, float64(p.GetScore()))}
		if full {
			c.Vector, c.Payload = vectorOf(f, p.GetVectors()), decodePayload(p.GetPayload())
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, byScoreThenID)
	return list, nil
}

func byScoreThenID(a, b core.Candidate) int {
	switch {
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	}
	return core.CompareID(a.ID, b.ID)
}

// higherIsBetter turns distances round.
func higherIsBetter(d qd.Distance, score float64) float64 {
	if d == qd.Distance_Euclid || d == qd.Distance_Manhattan {
		return -score
	}
	return score
}

func conversions(d qd.Distance, retrieval core.Retrieval) []string {
	var told []string
	switch {
	case retrieval == core.RetrieveHybrid:
		told = append(told, "qdrant hybrid: score is the reciprocal rank fusion of the vectors' lists")
	case d == qd.Distance_Euclid || d == qd.Distance_Manhattan:
		told = append(told, fmt.Sprintf("qdrant %s: score = −distance", d))
	}
	if d == qd.Distance_Cosine {
		told = append(told, "qdrant Cosine: vectors come back normalised to length 1")
	}
	return told
}

// vectorOf is the point's vector; nil where it has none.
func vectorOf(f vectorField, vectors *qd.VectorsOutput) []float32 {
	v := vectors.GetVector()
	if f.name != "" {
		v = vectors.GetVectors().GetVectors()[f.name]
	}
	if dense := v.GetDense(); dense != nil {
		return dense.GetData()
	}
	if data := v.GetData(); len(data) > 0 { //nolint:staticcheck // servers before 1.16 fill only this one
		return data
	}
	return nil
}

func withVector(f vectorField) *qd.WithVectorsSelector {
	if f.name == "" {
		return qd.NewWithVectors(true)
	}
	return qd.NewWithVectorsInclude(f.name)
}

// withPayload selects the payload to return, and the field of the ID in any case.
func (s *Store) withPayload() *qd.WithPayloadSelector {
	fields := s.cfg.PayloadFields
	if len(fields) == 0 {
		return qd.NewWithPayload(true)
	}
	if s.cfg.IDField != "" && !slices.Contains(fields, s.cfg.IDField) {
		fields = append(slices.Clone(fields), s.cfg.IDField)
	}
	return qd.NewWithPayloadInclude(fields...)
}

func (p SearchParams) params() *qd.SearchParams {
	if p == (SearchParams{}) {
		return nil
	}
	params := &qd.SearchParams{}
	if p.HNSWEf > 0 {
		params.HnswEf = &p.HNSWEf
	}
	if p.Exact {
		params.Exact = &p.Exact
	}
	if p.IndexedOnly {
		params.IndexedOnly = &p.IndexedOnly
	}
	if q := p.Quantization; q != (Quantization{}) {
		params.Quantization = &qd.QuantizationSearchParams{Rescore: q.Rescore}
		if q.Ignore {
			params.Quantization.Ignore = &q.Ignore
		}
		if q.Oversampling > 0 {
			params.Quantization.Oversampling = &q.Oversampling
		}
	}
	return params
}
