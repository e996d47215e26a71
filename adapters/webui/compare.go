package webui

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
	"github.com/georag/georag/internal/witness"
)

// Compare answers POST /ui/api/compare: the nearest passages of a question beside those selected for it.
func (p *Page) Compare(r *http.Request, body []byte) (any, error) {
	a, err := p.read(r, body)
	if err != nil {
		return nil, err
	}
	seen, err := a.watch(r.Context())
	if err != nil {
		return nil, err
	}
	p.deps.Record(r.Context(), seen.selection.Trace)
	return seen.comparison(a.collection), nil
}

// sight is one selection and everything that took part in it.
type sight struct {
	query     core.Query
	settings  core.Settings
	selection core.Selection
	question  []float32        // its vector
	kept      []clause         // the sub-queries that took part
	competed  []core.Candidate // with usable vectors
	nearest   []core.Candidate // the first k by cosine
	demand    map[core.ID]float64
}

// clause is a kept sub-query: its position in the trace and its vector.
type clause struct {
	at     int
	vector []float32
}

// watch selects and remembers what took part.
func (a asked) watch(ctx context.Context) (*sight, error) {
	store := &witness.Store{Store: a.stage.Store}
	a.stage.Store = store
	texts := &memory{Embedder: a.stage.Planner.Embedder, vectors: map[string][]float32{}}
	if a.stage.Planner.Embedder != nil {
		a.stage.Planner.Embedder = texts
	}
	selection, err := a.stage.Select(ctx, a.query)
	if err != nil {
		return nil, err
	}
	s := &sight{query: a.query, settings: a.stage.Settings, selection: selection, demand: map[core.ID]float64{}}
	s.question = texts.vector(a.query.Text, a.query.Vector)
	for j, t := range selection.Trace.SubQueries {
		if t.Kept {
			var given []float32
			if j < len(a.query.SubQueries) {
				given = a.query.SubQueries[j].Vector
			}
			s.kept = append(s.kept, clause{j, texts.vector(t.Text, given)})
		}
	}
	for _, share := range selection.Trace.Demand {
		s.demand[share.ID] = share.Share
	}
	s.competed = slices.DeleteFunc(store.Competed(a.stage.Settings.Pool), func(c core.Candidate) bool {
		return vec.Check(c.Vector, len(s.question)) != nil
	})
	s.nearest = s.byCosine()
	return s, nil
}

// byCosine returns the k candidates nearest to the question; ties go to the lower ID.
func (s *sight) byCosine() []core.Candidate {
	type ranked struct {
		core.Candidate
		cosine float64
	}
	all := make([]ranked, len(s.competed))
	for i, c := range s.competed {
		all[i] = ranked{c, vec.Cosine(c.Vector, s.question)}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), core.CompareID(a.ID, b.ID))
	})
	nearest := make([]core.Candidate, min(s.settings.K, len(all)))
	for i := range nearest {
		nearest[i] = all[i].Candidate
	}
	return nearest
}

// covers lists the kept sub-queries, by position in the trace, that a passage answers.
func (s *sight) covers(c core.Candidate) []int {
	covered := []int{}
	for _, q := range s.kept {
		if vec.Cosine(c.Vector, q.vector) > core.CoverageThreshold {
			covered = append(covered, q.at)
		}
	}
	return covered
}

// memory is an embedder that remembers the vectors it gave to questions.
type memory struct {
	core.Embedder
	vectors map[string][]float32
}

// EmbedQueries implements [core.Embedder].
func (m *memory) EmbedQueries(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := m.Embedder.EmbedQueries(ctx, texts)
	for i := range vectors {
		if i < len(texts) {
			m.vectors[texts[i]] = vectors[i]
		}
	}
	return vectors, err
}

// vector is the one given, or else the one remembered.
func (m *memory) vector(text string, given []float32) []float32 {
	if given != nil {
		return given
	}
	return m.vectors[text]
}
