package milvus

import (
	"maps"
	"strconv"
	"strings"
)

const (
	defaultNProbe = 32
	// On 9,002 passages of dimension 384, ef at 2 × limit and at least 128 chose other passages than an exact search
	// for 3 to 8 of 140 questions, and 4 × limit for none.
	efPerResult = 4
	minEF       = 512
	maxEF       = 32768 // Milvus's own limit
)

// params are the search parameters that fit the index, for a search of limit results.
func (p SearchParams) params(idx index, limit int) map[string]any {
	params := maps.Clone(p.Extra)
	if params == nil {
		params = make(map[string]any)
	}
	switch {
	case idx.kind == "HNSW":
		params["ef"] = min(max(p.ef(limit), limit), maxEF)
	case strings.HasPrefix(idx.kind, "IVF"), idx.kind == "SCANN":
		params["nprobe"] = p.nprobe(idx)
	}
	return params
}

func (p SearchParams) ef(limit int) int {
	if p.EF == 0 {
		return max(minEF, efPerResult*limit)
	}
	return p.EF
}

// nprobe stays within the index's number of cells, where that is known: more is an error in some versions.
func (p SearchParams) nprobe(idx index) int {
	n := p.NProbe
	if n == 0 {
		n = defaultNProbe
	}
	if cells, err := strconv.Atoi(idx.params["nlist"]); err == nil && cells > 0 {
		n = min(n, cells)
	}
	return n
}
