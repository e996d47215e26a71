package flat

import (
	"context"

	"github.com/georag/georag/core"
)

// Describe tells what the index holds.
func (s *Store) Describe(ctx context.Context) (core.Description, error) {
	done, err := s.use(ctx)
	if err != nil {
		return core.Description{}, err
	}
	defer done()
	d := core.Description{
		Store: "flat", Collection: s.where.name(""), Vectors: []string{vectorName}, Metric: string(s.metric),
		Dimension: s.dim, Count: int64(len(s.rowOf)), IDKind: s.idKind(), Payload: s.fields.sorted(), Model: s.model, Index: "exact",
	}
	if len(s.parts) > 0 {
		d.Index += ", " + s.parts[0].vectors.Type()
	}
	if live := (rows{some: s.live, all: len(s.ids)}); live.len() > 0 {
		d.SampleID = s.ids[live.at(0)]
	}
	return d, nil
}

// idKind names the kinds of ID in the index.
func (s *Store) idKind() string {
	texts, integers := 0, 0
	for id := range s.rowOf {
		if _, text := id.Text(); text {
			texts++
		} else {
			integers++
		}
	}
	switch {
	case texts > 0 && integers > 0:
		return "integers and strings"
	case integers > 0:
		return "integers"
	case texts > 0:
		return "strings"
	default:
		return "none yet"
	}
}
