package storetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/georag/georag/core"
)

// SameAnswers requires that stores a and b, which hold the same passages under the same metric, answer each request
// with the same IDs in the same order: the main result and every R_j. Two different passages at one rank are
// accepted where their scores are equal to 1e-5, relative to max(1, |score|): that is a tie, which rounding decides.
func SameAnswers(t testing.TB, a, b core.Store, requests ...core.SearchRequest) {
	t.Helper()
	for i, req := range requests {
		ra, rb := mustSearch(t, a, req), mustSearch(t, b, req)
		sameRanking(t, fmt.Sprintf("request %d", i), ra.Candidates, rb.Candidates)
		for j := range req.SubQueries {
			sameRanking(t, fmt.Sprintf("request %d, sub-query %d", i, j), ra.SubQueries[j].Hits, rb.SubQueries[j].Hits)
		}
	}
}

func sameRanking(t testing.TB, what string, a, b []core.Candidate) {
	t.Helper()
	if len(a) != len(b) {
		t.Errorf("%s: %d and %d results", what, len(a), len(b))
		return
	}
	for r := range a {
		x, y := a[r].Score, b[r].Score
		if tied := math.Abs(x-y) <= 1e-5*max(1, math.Abs(x)); a[r].ID != b[r].ID && !tied {
			t.Errorf("%s: rank %d: id %v (%v) and id %v (%v)", what, r, a[r].ID, x, b[r].ID, y)
			return
		}
	}
}
