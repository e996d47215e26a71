package selectproxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/georag/georag/core"
)

// shelf is a store of eight passages; it refuses a tenant that it does not know.
type shelf struct {
	core.Store
	asked core.Scope
	fails error
}

func (s *shelf) Search(_ context.Context, req core.SearchRequest) (core.SearchResult, error) {
	s.asked = req.Scope
	if s.fails != nil {
		return core.SearchResult{}, s.fails
	}
	var result core.SearchResult
	for i := range min(8, req.K) {
		v := []float32{1, 0, 0, 0}
		v[i%4] += 0.5
		result.Candidates = append(result.Candidates, core.Candidate{ID: core.IntID(int64(i)), Score: 1 - float64(i)/10, Vector: v})
	}
	result.SubQueries = make([]core.SubQueryResult, len(req.SubQueries))
	return result, nil
}

func newSelector(s *shelf, always bool) *Selector {
	return &Selector{
		Collections: map[string]Collection{"docs": {Stage: &core.Stage{Store: s}, Always: always}},
		Problem: func(err error) Problem {
			if errors.Is(err, core.ErrUnavailable) {
				return Problem{Status: http.StatusServiceUnavailable, Message: "unavailable"}
			}
			return Problem{Status: http.StatusTeapot, Message: err.Error()}
		},
	}
}

func request(headers map[string]string, tenant string, searches ...Search) Request {
	return Request{
		Collection: "docs", Tenant: tenant,
		Header:   func(name string) string { return headers[name] },
		Searches: func() ([]Search, error) { return searches, nil },
	}
}

var plain = Search{Query: core.Query{Vector: []float32{1, 0, 0, 0}}, K: 3}

// TestDecide: who gets a selection, who a refusal, and who passes through, and that no one bound to a tenant does.
func TestDecide(t *testing.T) {
	on, off := map[string]string{HeaderSelect: "on"}, map[string]string{HeaderSelect: "OFF"}
	wrong := Search{Query: plain.Query, K: 1000}
	for _, c := range []struct {
		name    string
		always  bool
		headers map[string]string
		tenant  string
		search  Search
		status  int    // of a refusal
		skipped string // part of
		pass    bool
	}{
		{"nothing asked", false, nil, "", plain, 0, "", true},
		{"asked", false, on, "", plain, 0, "", false},
		{"a preset", false, map[string]string{HeaderSelect: "paper"}, "", plain, 0, "", false},
		{"no preset", false, map[string]string{HeaderSelect: "best"}, "", plain, 400, "", false},
		{"a rule", true, nil, "", plain, 0, "", false},
		{"a rule, switched off", true, off, "", plain, 0, "", true},
		{"asked too much", false, on, "", wrong, 400, "", false},
		{"too much under a rule", true, nil, "", wrong, 0, "limit", true},
		{"asked too much under a rule", true, on, "", wrong, 400, "", false},
		{"bad text under a rule", true, map[string]string{HeaderQuery: "%"}, "", plain, 0, "selection failed", true},
		{"bad text, asked", false, map[string]string{HeaderSelect: "on", HeaderQuery: "%"}, "", plain, 400, "", false},
		{"text is not UTF-8", false, map[string]string{HeaderSelect: "on", HeaderQuery: "_w"}, "", plain, 400, "", false},
		{"bound, nothing asked", false, nil, "a", plain, 403, "", false},
		{"bound, asked", false, on, "a", plain, 0, "", false},
		{"bound, a rule", true, nil, "a", plain, 0, "", false},
		{"bound, switched off", true, off, "a", plain, 403, "", false},
		{"bound, too much under a rule", true, nil, "a", wrong, 400, "", false},
		{"bound, another's", true, map[string]string{HeaderTenant: "b"}, "a", plain, 403, "", false},
		{"bound, one's own", false, map[string]string{HeaderSelect: "on", HeaderTenant: "a"}, "a", plain, 0, "", false},
		{"no vector", false, on, "", Search{K: 3}, 400, "", false},
	} {
		store := &shelf{}
		d := newSelector(store, c.always).Decide(t.Context(), request(c.headers, c.tenant, c.search))
		status := 0
		if d.Problem != nil {
			status = d.Problem.Status
		}
		if status != c.status || !strings.Contains(d.Skipped, c.skipped) || (c.skipped == "") != (d.Skipped == "") || d.Selected() == (c.pass || c.status != 0) {
			t.Errorf("%s: %+v", c.name, d)
		}
		if d.Selected() && (len(d.Answers[0].IDs) != 3 || store.asked.Tenant != c.tenant || d.Labels()[HeaderMode] == "" || !strings.Contains(d.Labels()[HeaderDegraded], "no_subqueries")) {
			t.Errorf("%s: %+v in %+v, labels %v", c.name, d.Answers, store.asked, d.Labels())
		}
	}
}

// TestDecideWhenTheStoreFails: a rule passes through what cannot be selected for; what was asked for is refused.
func TestDecideWhenTheStoreFails(t *testing.T) {
	down := fmt.Errorf("secret text: %w", core.ErrUnavailable)
	d := newSelector(&shelf{fails: down}, true).Decide(t.Context(), request(nil, "", plain))
	if d.Selected() || d.Problem != nil || d.Skipped != "selection failed: Service Unavailable" {
		t.Errorf("under a rule: %+v", d)
	}
	d = newSelector(&shelf{fails: down}, false).Decide(t.Context(), request(map[string]string{HeaderSelect: "on"}, "", plain))
	if d.Problem == nil || d.Problem.Status != 503 {
		t.Errorf("asked for: %+v", d)
	}
	d = newSelector(&shelf{fails: core.ErrEmptyIndex}, true).Decide(t.Context(), request(nil, "", plain))
	if !d.Selected() || len(d.Answers[0].IDs) != 0 {
		t.Errorf("nothing in the scope: %+v", d)
	}
}

// TestAdmission: a selection takes one turn, whatever the number of its searches, and gives it back.
func TestAdmission(t *testing.T) {
	s := newSelector(&shelf{}, true)
	taken, given := 0, 0
	s.Admit = func(context.Context) (func(), error) { taken++; return func() { given++ }, nil }
	if d := s.Decide(t.Context(), request(nil, "", plain, plain)); len(d.Answers) != 2 || taken != 1 || given != 1 {
		t.Errorf("%+v with %d turns taken and %d given back", d, taken, given)
	}
	s.Admit = func(context.Context) (func(), error) { return nil, core.ErrUnavailable }
	if d := s.Decide(t.Context(), request(nil, "", plain)); d.Selected() || d.Skipped == "" {
		t.Errorf("no turn, under a rule: %+v", d)
	}
}

func TestTextsOfABatch(t *testing.T) {
	for header, want := range map[string][]string{
		"": nil, EncodeQuery("a?"): {"a?"}, EncodeQuery("é") + "==, ," + EncodeQuery("b"): {"é", "", "b"},
	} {
		a, err := readAsk(func(name string) string { return map[string]string{HeaderQuery: header}[name] })
		if err != nil || strings.Join(a.texts, "|") != strings.Join(want, "|") || (a.texts == nil) != (want == nil) {
			t.Errorf("%q: %q, %v", header, a.texts, err)
		}
	}
}

// FuzzAsk: whatever the headers say, there is an answer and a label that a header can carry.
func FuzzAsk(f *testing.F) {
	f.Add("default", "eA,,eQ", "a")
	f.Add("off", "%", "")
	f.Add("ON", "_w==", "b\x00")
	s := newSelector(&shelf{}, true)
	f.Fuzz(func(t *testing.T, selects, text, tenant string) {
		headers := map[string]string{HeaderSelect: selects, HeaderQuery: text, HeaderTenant: tenant}
		d := s.Decide(t.Context(), request(headers, "", plain))
		if d.Problem != nil && (d.Problem.Status < 400 || d.Problem.Status > 499) {
			t.Errorf("%+v", d.Problem)
		}
		for name, value := range d.Labels() {
			if HeaderSafe(value) != value {
				t.Errorf("%s: %q", name, value)
			}
		}
	})
}
