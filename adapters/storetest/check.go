package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"reflect"
	"testing"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

// patience bounds every call of the suite, so that a store that hangs fails its case instead of the whole run.
const patience = time.Minute

func search(t testing.TB, s core.Store, req core.SearchRequest) (core.SearchResult, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return s.Search(ctx, req)
}

func mustSearch(t testing.TB, s core.Store, req core.SearchRequest) core.SearchResult {
	t.Helper()
	result, err := search(t, s, req)
	if err != nil {
		t.Fatalf("search: %v", err)
	}
	if len(result.SubQueries) != len(req.SubQueries) {
		t.Fatalf("%d sub-query results for %d sub-queries", len(result.SubQueries), len(req.SubQueries))
	}
	for j, sub := range result.SubQueries {
		if sub.Err != nil {
			t.Fatalf("sub-query %d: %v", j, sub.Err)
		}
	}
	return result
}

func mustFetch(t testing.TB, s core.Store, req core.FetchRequest) []core.Candidate {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	found, err := s.Fetch(ctx, req)
	if err != nil {
		t.Fatalf("fetch: %v", err)
	}
	return found
}

func wantError(t testing.TB, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%s: error is %v, want one that wraps %q", what, err, target)
	}
}

// checkRanking compares a result with the reference answer, rank by rank. A passage at the wrong rank is accepted
// where its reference score equals the expected one within the tolerance: that is a tie.
func (b Backend) checkRanking(t testing.TB, what string, c Collection, query []float32, got, want []core.Candidate) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d results, want %d", what, len(got), len(want))
		return
	}
	passages, seen, missed := c.byID(), make(map[core.ID]bool), 0
	for r, g := range got {
		p, known := passages[g.ID]
		switch {
		case !known:
			t.Fatalf("%s: rank %d: id %v is not in the collection", what, r, g.ID)
		case seen[g.ID]:
			t.Errorf("%s: rank %d: id %v appears twice", what, r, g.ID)
		case r > 0 && byScoreThenID(got[r-1], g) > 0:
			t.Errorf("%s: rank %d: (%v, id %v) is after (%v, id %v)", what, r, g.Score, g.ID, got[r-1].Score, got[r-1].ID)
		}
		seen[g.ID] = true
		if actual := similarity(c.Metric, query, p.Vector); !b.close(actual, want[r].Score) {
			missed++
			if !b.Approximate {
				t.Errorf("%s: rank %d: id %v of similarity %v, want %v of %v", what, r, g.ID, actual, want[r].ID, want[r].Score)
			}
		}
	}
	if b.Approximate && missed*10 > len(want) {
		t.Errorf("%s: %d of %d ranks wrong, more than one in ten", what, missed, len(want))
	}
}

func (b Backend) close(x, y float64) bool {
	return math.Abs(x-y) <= b.Tolerance*max(1, math.Abs(x), math.Abs(y))
}

// checkVector requires the stored vector: the direction always, the length too where the metric depends on it.
func (b Backend) checkVector(t testing.TB, metric core.Metric, id core.ID, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("id %v: vector has %d components, want %d", id, len(got), len(want))
		return
	}
	if cos := vec.Cosine(got, want); cos < 0.9999 {
		t.Errorf("id %v: cosine of returned and original vector is %v", id, cos)
	}
	if metric != core.MetricCosine && !b.close(vec.Norm(got), vec.Norm(want)) {
		t.Errorf("id %v: norm is %v, want %v", id, vec.Norm(got), vec.Norm(want))
	}
}

// checkPayload compares as JSON values, since engines differ in the Go types of numbers and lists. Every digit of
// an integer counts.
func checkPayload(t testing.TB, id core.ID, got, want map[string]any) {
	t.Helper()
	for field, value := range want {
		if g, w := canonical(t, got[field]), canonical(t, value); !reflect.DeepEqual(g, w) {
			t.Errorf("id %v: payload %q is %v (%T), want %v", id, field, got[field], got[field], value)
		}
	}
}

func canonical(t testing.TB, value any) any {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Errorf("payload value %v (%T): %v", value, value, err)
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		t.Errorf("payload value %s: %v", data, err)
	}
	return exactNumbers(plain)
}

// exactNumbers writes every number as a fraction, so that 1, 1.0 and 1e0 are equal and 2^53+1 is not 2^53.
func exactNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if r, ok := new(big.Rat).SetString(v.String()); ok {
			return r.RatString()
		}
	case []any:
		for i := range v {
			v[i] = exactNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = exactNumbers(v[k])
		}
	}
	return value
}
