package stress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

var (
	_ core.Store     = (*Store)(nil)
	_ core.Describer = (*Store)(nil)
	_ core.Scanner   = (*Store)(nil)
)

// Store answers as the store within it would if the collection also held near-duplicates of its passages. Nothing
// is written to that store. Every score is the cosine to the query, since a copy has no other.
//
// Copies appear beside originals that a search of the same depth finds; that of an original beyond that depth, which
// could only get in by being nearer to the query than its original, is not seen.
type Store struct {
	core.Store
	cfg Config

	mutex    sync.Mutex
	embedded map[core.ID][]float32 // vectors of copies that the embedder made
}

// New wraps a store; the error wraps [core.ErrInvalid].
func New(within core.Store, cfg Config) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Store{Store: within, cfg: cfg.withDefaults(), embedded: map[core.ID][]float32{}}, nil
}

// Search implements [core.Store].
func (s *Store) Search(ctx context.Context, req core.SearchRequest) (core.SearchResult, error) {
	within := req
	within.OutsideVectors = true // copies are made of vectors
	found, err := s.Store.Search(ctx, within)
	if err != nil {
		return found, err
	}
	known, err := s.complete(ctx, req.Scope, found)
	if err != nil {
		return found, err
	}
	main := slices.Clone(found.Candidates)
	if found.Candidates, err = s.enlarge(ctx, main, req.Vector, req.K); err != nil {
		return found, err
	}
	inside := make(map[core.ID]bool, len(found.Candidates))
	for _, c := range found.Candidates {
		inside[c.ID] = true
	}
	for j := range found.SubQueries {
		if found.SubQueries[j].Err != nil {
			continue
		}
		hits := slices.Clone(found.SubQueries[j].Hits)
		for h := range hits {
			hits[h].Vector, hits[h].Payload = known[hits[h].ID].Vector, known[hits[h].ID].Payload
		}
		if hits, err = s.enlarge(ctx, hits, req.SubQueries[j], req.Depth); err != nil {
			return found, err
		}
		for h := range hits {
			if !req.OutsideVectors || inside[hits[h].ID] {
				hits[h].Vector, hits[h].Payload = nil, nil
			}
		}
		found.SubQueries[j].Hits = hits
	}
	found.Conversions = append(found.Conversions, "near-duplicates added: every score is the cosine to the query")
	return found, nil
}

// complete returns vector and payload of everything found, fetching what the search left out.
func (s *Store) complete(ctx context.Context, scope core.Scope, found core.SearchResult) (map[core.ID]core.Candidate, error) {
	known := make(map[core.ID]core.Candidate)
	for _, c := range found.Candidates {
		known[c.ID] = c
	}
	missing := map[core.ID]bool{}
	for _, result := range found.SubQueries {
		for _, hit := range result.Hits {
			if hit.Vector != nil {
				known[hit.ID] = hit
			} else if _, ok := known[hit.ID]; !ok {
				missing[hit.ID] = true
			}
		}
	}
	ids := slices.SortedFunc(maps.Keys(missing), core.CompareID)
	ids = slices.DeleteFunc(ids, func(id core.ID) bool { _, ok := known[id]; return ok })
	if len(ids) == 0 {
		return known, nil
	}
	fetched, err := s.Store.Fetch(ctx, core.FetchRequest{IDs: ids, Scope: scope})
	if err != nil {
		return nil, fmt.Errorf("internal/stress: vectors of sub-query hits: %w", err)
	}
	for _, c := range fetched {
		known[c.ID] = c
	}
	return known, nil
}

// enlarge adds the copies of the hits, scores all by cosine to the query and keeps the best.
func (s *Store) enlarge(ctx context.Context, hits []core.Candidate, query []float32, keep int) ([]core.Candidate, error) {
	all := slices.Clone(hits)
	for _, hit := range hits {
		if vec.Check(hit.Vector, len(query)) != nil {
			continue // what is broken is not copied
		}
		copies, err := s.copies(ctx, hit)
		if err != nil {
			return nil, err
		}
		all = append(all, copies...)
	}
	for i, c := range all {
		if vec.Check(c.Vector, len(query)) == nil {
			all[i].Score = vec.Cosine(c.Vector, query)
		}
	}
	slices.SortStableFunc(all, func(a, b core.Candidate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), core.CompareID(a.ID, b.ID))
	})
	return all[:min(keep, len(all))], nil
}

// copies makes the near-duplicates of a passage.
func (s *Store) copies(ctx context.Context, original core.Candidate) ([]core.Candidate, error) {
	copies := make([]core.Candidate, 0, s.cfg.copiesOf(original.ID))
	for n := 1; n <= cap(copies); n++ {
		c, err := s.copy(ctx, original, n)
		if err != nil {
			return nil, err
		}
		copies = append(copies, c)
	}
	return copies, nil
}

// copy makes near-duplicate n of a passage. Its payload is the original's with the text rewritten.
func (s *Store) copy(ctx context.Context, original core.Candidate, n int) (core.Candidate, error) {
	r := s.cfg.random(original.ID, n)
	c := core.Candidate{ID: CopyID(original.ID, n), Payload: maps.Clone(original.Payload)}
	if text, ok := original.Payload["text"].(string); ok {
		c.Payload["text"] = Rewrite(text, r)
	}
	if s.cfg.Embedder == nil {
		c.Vector = s.cfg.perturb(original.Vector, r)
		return c, nil
	}
	var err error
	c.Vector, err = s.embed(ctx, c)
	return c, err
}

// embed embeds a copy's text once.
func (s *Store) embed(ctx context.Context, c core.Candidate) ([]float32, error) {
	s.mutex.Lock()
	vector, ok := s.embedded[c.ID]
	s.mutex.Unlock()
	if ok {
		return vector, nil
	}
	vectors, err := s.cfg.Embedder.EmbedPassages(ctx, []string{c.PayloadText()})
	if err == nil && len(vectors) != 1 {
		err = fmt.Errorf("%w: %d vectors for one text", core.ErrUnavailable, len(vectors))
	}
	if err != nil {
		return nil, fmt.Errorf("internal/stress: embed %s: %w", c.ID, err)
	}
	s.mutex.Lock()
	s.embedded[c.ID] = vectors[0]
	s.mutex.Unlock()
	return vectors[0], nil
}

// Fetch implements [core.Store]; copies are made again from their originals.
func (s *Store) Fetch(ctx context.Context, req core.FetchRequest) ([]core.Candidate, error) {
	var originals []core.ID
	for _, id := range req.IDs {
		if original := Original(id); !slices.Contains(originals, original) {
			originals = append(originals, original)
		}
	}
	fetched, err := s.Store.Fetch(ctx, core.FetchRequest{IDs: originals, Scope: req.Scope})
	if err != nil {
		return nil, err
	}
	byID := make(map[core.ID]core.Candidate, len(fetched))
	for _, c := range fetched {
		byID[c.ID] = c
	}
	var candidates []core.Candidate
	for _, id := range req.IDs {
		original, n := split(id)
		c, ok := byID[original]
		if !ok || n > s.cfg.copiesOf(original) {
			continue
		}
		if n > 0 {
			if c, err = s.copy(ctx, c, n); err != nil {
				return nil, err
			}
		}
		candidates = append(candidates, c)
	}
	return candidates, nil
}

// Scan implements [core.Scanner]: each passage, then its copies.
func (s *Store) Scan(ctx context.Context, scope core.Scope, limit int, yield func(core.Candidate) bool) error {
	scanner, ok := s.Store.(core.Scanner)
	if !ok {
		return fmt.Errorf("internal/stress: scan: %w by this store", core.ErrUnsupported)
	}
	left, fault := limit, error(nil)
	err := scanner.Scan(ctx, scope, limit, func(c core.Candidate) bool {
		all := []core.Candidate{c}
		if vec.Check(c.Vector, 0) == nil {
			copies, err := s.copies(ctx, c)
			if err != nil {
				fault = err
				return false
			}
			all = append(all, copies...)
		}
		for _, c := range all {
			if left--; !yield(c) || left == 0 {
				return false
			}
		}
		return true
	})
	return errors.Join(err, fault)
}

// Describe implements [core.Describer]; the count is not known, since copies are made as they are met.
func (s *Store) Describe(ctx context.Context) (core.Description, error) {
	describer, ok := s.Store.(core.Describer)
	if !ok {
		return core.Description{}, fmt.Errorf("internal/stress: describe: %w by this store", core.ErrUnsupported)
	}
	d, err := describer.Describe(ctx)
	if s.cfg.Share > 0 {
		d.Count = -1
	}
	return d, err
}
