package diagnose

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

// Health tells whether the index itself is sound. What was not measured says so in Unmeasured.
type Health struct {
	Scanned    int64    `json:"scanned"`    // passages read
	Unmeasured []string `json:"unmeasured"` // what could not be measured, and why

	Zero           int64     `json:"zero_vectors"`
	NotFinite      int64     `json:"not_finite_vectors"`
	Missing        int64     `json:"missing_vectors"`
	WrongDimension int64     `json:"wrong_dimension_vectors"`
	Broken         []core.ID `json:"broken"`       // the first of all of those
	Unnormalised   int64     `json:"unnormalised"` // norm further than [normTolerance] from 1
	// Norms is the distribution of the norms of the usable vectors.
	Norms Distribution `json:"norms"`

	// Duplicates is how many vectors are bit for bit equal to an earlier one; DuplicateGroups are the largest
	// groups of passages with one vector.
	Duplicates      int64       `json:"duplicate_vectors"`
	DuplicateGroups [][]core.ID `json:"duplicate_groups"`

	// Exact is how the store's answers compare with an exhaustive search; nil where that was not possible.
	Exact *Exact `json:"exact,omitempty"`
	Hubs  Hubs   `json:"hubs"`
	// RandomCosine is the median cosine of two passages drawn at random: how narrow the model's range is.
	RandomCosine float64 `json:"random_cosine"`
	// Scope tells how much of the index the configured scope leaves; nil where none is set.
	Scope *Selectivity `json:"scope,omitempty"`
}

// Exact compares the store's answers with an exhaustive search over the scanned vectors. Values are means over the
// queries of the sample, in [0, 1].
type Exact struct {
	Queries int         `json:"queries"`
	Metric  core.Metric `json:"metric"` // by which the store was taken to rank
	// Shallow and Deep are the share of the store's first 20 and 200 passages that belong there.
	// (or of all that were asked for, where those are fewer).
	Shallow float64 `json:"recall_20"`
	Deep    float64 `json:"recall_200"`
	// Cosine is the share of the store's first 20 passages that are among the 20 nearest by cosine, which is what
	// selection works with.
	Cosine float64 `json:"cosine_recall_20"`
}

// Selectivity tells how much a filter or tenant leaves.
type Selectivity struct {
	Matching int64   `json:"matching"`
	Total    int64   `json:"total"`
	Share    float64 `json:"share"`
}

const (
	normTolerance  = 0.01
	maxBroken      = 20
	duplicateLists = 20
)

// checkIndex reads through the index once.
func (d *diagnosis) checkIndex(ctx context.Context) (Health, error) {
	h := Health{Unmeasured: []string{}, Broken: []core.ID{}, DuplicateGroups: [][]core.ID{}}
	h.Hubs = d.summary.hubs()
	scanner, ok := d.cfg.Stage.Store.(core.Scanner)
	if !ok || d.cfg.SkipScan {
		why := "the store cannot be scanned"
		if ok {
			why = "scanning was turned off"
		}
		h.Unmeasured = append(h.Unmeasured, "vectors, duplicates, exact search and hubness: "+why)
		return h, nil
	}
	s := newScan(d)
	total := -1
	if d.cfg.Scope.Filter == "" && d.cfg.Scope.Tenant == "" && d.cfg.Scope.Partitions == nil {
		total = int(d.description.Count)
	}
	err := scanner.Scan(ctx, d.cfg.Scope, 0, func(c core.Candidate) bool {
		s.see(c)
		if s.health.Scanned%progressStep == 0 {
			d.cfg.Progress(PhaseScan, int(s.health.Scanned), total)
		}
		return ctx.Err() == nil
	})
	if err := errors.Join(err, ctx.Err()); err != nil {
		if errors.Is(err, core.ErrUnsupported) {
			h.Unmeasured = append(h.Unmeasured, fmt.Sprintf("vectors, duplicates, exact search and hubness: %v", err))
			return h, nil
		}
		return h, fmt.Errorf("internal/diagnose: scan: %w", err)
	}
	d.cfg.Progress(PhaseScan, int(s.health.Scanned), int(s.health.Scanned))
	s.finish(&h)
	h.Scope = d.selectivity(total, h.Scanned)
	return h, nil
}

// progressStep is after how many passages progress is told.
const progressStep = 1000

// selectivity compares what the scope left with what there is.
func (d *diagnosis) selectivity(unscoped int, matching int64) *Selectivity {
	if unscoped >= 0 || d.description.Count <= 0 {
		return nil
	}
	return &Selectivity{Matching: matching, Total: d.description.Count, Share: float64(matching) / float64(d.description.Count)}
}

// scan is one pass over the index.
type scan struct {
	health     Health
	sample     *sample
	metric     core.Metric
	knowMetric bool
	dense      bool // the main search is the nearest neighbours of the query's own vector
	wanted     int  // passages asked of it
	dim        int
	norms      []float64
	duplicates duplicates
	points     *reservoir
}

func newScan(d *diagnosis) *scan {
	s := &scan{sample: d.sample, dim: d.description.Dimension, duplicates: newDuplicates(), points: newReservoir(hubSample)}
	s.metric, s.knowMetric = metricOf(d.description.Metric)
	s.dense, s.wanted = d.cfg.Stage.Settings.Pool.Base() == core.PoolDense, d.cfg.Stage.Settings.Candidates
	return s
}

func (s *scan) see(c core.Candidate) {
	s.health.Scanned++
	if s.dim == 0 {
		s.dim = len(c.Vector) // a store that cannot tell: the first vector counts
	}
	if err := vec.Check(c.Vector, s.dim); err != nil {
		s.broken(c, err)
		return
	}
	norm := vec.Norm(c.Vector)
	s.norms = append(s.norms, norm)
	if math.Abs(norm-1) > normTolerance {
		s.health.Unnormalised++
	}
	s.duplicates.see(c)
	s.points.see(c.Vector)
	s.sample.see(c, norm, s.metric)
}

func (s *scan) broken(c core.Candidate, err error) {
	switch {
	case len(c.Vector) == 0:
		s.health.Missing++
	case errors.Is(err, vec.ErrZero):
		s.health.Zero++
	case errors.Is(err, vec.ErrNotFinite):
		s.health.NotFinite++
	default:
		s.health.WrongDimension++
	}
	if len(s.health.Broken) < maxBroken {
		s.health.Broken = append(s.health.Broken, c.ID)
	}
}

// finish completes h with what the pass gathered.
func (s *scan) finish(h *Health) {
	unmeasured, hubs := h.Unmeasured, h.Hubs
	*h = s.health
	h.Unmeasured, h.Hubs = unmeasured, hubs
	if h.Broken == nil {
		h.Broken = []core.ID{}
	}
	h.Norms = distributeRange(s.norms)
	h.Duplicates, h.DuplicateGroups = s.duplicates.result(duplicateLists)
	h.Hubs.measure(s.points.vectors)
	h.RandomCosine = randomCosine(s.points.vectors)
	switch h.Exact = s.exact(); {
	case !s.dense:
		h.Unmeasured = append(h.Unmeasured, "exact search: the main search of this pool is not for the query's own vector")
	case h.Exact == nil:
		h.Unmeasured = append(h.Unmeasured, "exact search: no query of the sample has an answer")
	case !s.knowMetric:
		h.Unmeasured = append(h.Unmeasured, "the store does not name its metric: exact search assumes cosine")
	}
}

// distributeRange sums up values over their own range.
func distributeRange(values []float64) Distribution {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	if !(high > low) {
		low, high = low-0.5, low+0.5
	}
	if len(values) == 0 {
		low, high = 0, 1
	}
	return distribute(values, low, high)
}

func (s *scan) exact() *Exact {
	queries := s.sample.usable(s.dim)
	if len(queries) == 0 || !s.dense {
		return nil
	}
	e := &Exact{Queries: len(queries), Metric: s.metric}
	share := 1 / float64(len(queries))
	for _, q := range queries {
		best, nearest := q.best.sorted(), q.nearest.sorted()
		e.Shallow += share * recall(q.own, best, shallow)
		e.Deep += share * recall(q.own, best, min(deep, s.wanted))
		e.Cosine += share * recall(q.cosine, nearest, shallow)
	}
	return e
}
