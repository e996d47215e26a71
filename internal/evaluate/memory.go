package evaluate

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"

	"github.com/georag/georag/core"
)

// memory answers a search it has seen from what it saw, so that the variants of one question share its round trip.
// It serves one question, one goroutine.
type memory struct {
	core.Store
	searches map[string]core.SearchResult
	fetches  map[string][]core.Candidate
	seed     maphash.Seed
}

// remember wraps store for one question.
func remember(store core.Store) core.Store {
	m := &memory{Store: store, searches: map[string]core.SearchResult{}, fetches: map[string][]core.Candidate{}, seed: maphash.MakeSeed()}
	if server, ok := store.(core.ServerMMR); ok {
		return struct {
			*memory
			core.ServerMMR
		}{m, server}
	}
	return m
}

func (m *memory) Search(ctx context.Context, req core.SearchRequest) (core.SearchResult, error) {
	key := m.key(req)
	if found, ok := m.searches[key]; ok {
		return found, nil
	}
	found, err := m.Store.Search(ctx, req)
	if err == nil {
		m.searches[key] = found
	}
	return found, err
}

func (m *memory) Fetch(ctx context.Context, req core.FetchRequest) ([]core.Candidate, error) {
	key := fmt.Sprint(req)
	if found, ok := m.fetches[key]; ok {
		return found, nil
	}
	found, err := m.Store.Fetch(ctx, req)
	if err == nil {
		m.fetches[key] = found
	}
	return found, err
}

// key tells requests of one question apart.
func (m *memory) key(req core.SearchRequest) string {
	var h maphash.Hash
	h.SetSeed(m.seed)
	for _, vector := range append([][]float32{req.Vector}, req.SubQueries...) {
		maphash.WriteComparable(&h, len(vector))
		for _, x := range vector {
			maphash.WriteComparable(&h, math.Float32bits(x))
		}
	}
	req.Vector, req.SubQueries = nil, nil
	return fmt.Sprintf("%x %+v", h.Sum64(), req)
}
