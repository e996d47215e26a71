package milvus

import (
	"maps"
	"strconv"
	"strings"
)

const (
	defaultNProbe = 32
	minEF         = 128
	maxEF         = 32768 // Milvus's own limit
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
		return max(minEF, 2*limit)
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
