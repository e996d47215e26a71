package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/core"
)

func TestSelectAnswersAsTheStageDoes(t *testing.T) {
	s := start(t, httpapi.Config{}, nil)
	stage := demoStage(t, flat.Config{})
	for i := range 3 {
		req := question(t, i)
		req.Explain = true
		answer, body := s.post(t, "/v1/select", req)
		got := decoded[httpapi.SelectResponse](t, http.StatusOK, answer, body)
		q := core.Query{Text: req.Query, Vector: req.Vector.Values()}
		for _, sub := range req.SubQueries {
			q.SubQueries = append(q.SubQueries, core.SubQuery{Text: sub.Text, Vector: sub.Vector.Values()})
		}
		want, err := stage.Select(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(ids(got.Items), want.IDs()) || got.Mode != want.Trace.Mode || got.Preset != core.PresetDefault || got.Collection != "demo" {
			t.Errorf("got %v %s %s, want %v %s", ids(got.Items), got.Mode, got.Preset, want.IDs(), want.Trace.Mode)
		}
		if got.Trace == nil || !reflect.DeepEqual(got.Trace.Steps, want.Trace.Steps) {
			t.Errorf("the trace differs from the stage's")
		}
		if answer.Header.Get("Georag-Mode") != got.Mode || answer.Header.Get("X-Request-Id") != got.RequestID || got.RequestID == "" {
			t.Errorf("headers %v", answer.Header)
		}
	}
}

func ids(items []core.Selected) []core.ID {
	return core.Selection{Items: items}.IDs()
}

func TestSelectOptions(t *testing.T) {
	s := start(t, httpapi.Config{}, nil)
	base := question(t, 0)
	first, firstBody := s.post(t, "/v1/select", base)
	plain := decoded[httpapi.SelectResponse](t, http.StatusOK, first, firstBody)
	for _, c := range []struct {
		name   string
		change func(*httpapi.SelectRequest)
		check  func(httpapi.SelectResponse) bool
	}{
		{"k", func(r *httpapi.SelectRequest) { r.K = ptr(3) }, func(a httpapi.SelectResponse) bool { return len(a.Items) == 3 }},
		{"largest k", func(r *httpapi.SelectRequest) { r.K, r.Selector = ptr(100), "cosine" }, func(a httpapi.SelectResponse) bool { return len(a.Items) == 100 }},
		{"candidates", func(r *httpapi.SelectRequest) { r.K, r.Candidates, r.Pool = ptr(2), ptr(2), "dense" }, func(a httpapi.SelectResponse) bool { return len(a.Items) == 2 }},
		{"selector", func(r *httpapi.SelectRequest) { r.Selector = "cosine" }, func(a httpapi.SelectResponse) bool { return a.Mode == "cosine" && a.Selector == "cosine" }},
		{"preset", func(r *httpapi.SelectRequest) { r.Preset = "paper" }, func(a httpapi.SelectResponse) bool { return a.Preset == "paper" }},
		{"lambda 1 is cosine", func(r *httpapi.SelectRequest) { r.Selector, r.Lambda = "mmr", ptr(1.0) }, func(a httpapi.SelectResponse) bool {
			return slices.IsSortedFunc(a.Items, func(x, y core.Selected) int { return int(1e9 * (y.Cosine - x.Cosine)) })
		}},
		{"no sub-queries is degraded", func(r *httpapi.SelectRequest) { r.SubQueries = nil }, func(a httpapi.SelectResponse) bool { return len(a.Degraded) > 0 }},
		{"without payload", func(r *httpapi.SelectRequest) { r.WithPayload = ptr(false) }, func(a httpapi.SelectResponse) bool {
			return a.Items[0].Payload == nil && slices.Equal(ids(a.Items), ids(plain.Items))
		}},
		{"candidate filter", func(r *httpapi.SelectRequest) { r.CandidateFilter = "ricci"; r.Explain = true }, func(a httpapi.SelectResponse) bool { return a.Trace.Filter != nil && a.Trace.Filter.Name == "ricci" }},
		{"filter", func(r *httpapi.SelectRequest) { r.Filter = `{"topic": "dams"}` }, func(a httpapi.SelectResponse) bool {
			return !slices.ContainsFunc(a.Items, func(i core.Selected) bool { return i.Payload["topic"] != "dams" })
		}},
		{"given", func(r *httpapi.SelectRequest) {
			r.K = ptr(2)
			for _, item := range plain.Items[:3] {
				r.Given = append(r.Given, httpapi.Given{ID: item.ID, Score: item.Score})
			}
		}, func(a httpapi.SelectResponse) bool {
			return len(a.Items) == 2 && !slices.ContainsFunc(a.Items, func(i core.Selected) bool { return !slices.Contains(ids(plain.Items)[:3], i.ID) })
		}},
		{"text alone", func(r *httpapi.SelectRequest) { r.Vector = httpapi.Vector{} }, func(a httpapi.SelectResponse) bool { return len(a.Items) == 5 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := base
			c.change(&req)
			answer, body := s.post(t, "/v1/select", req)
			if got := decoded[httpapi.SelectResponse](t, http.StatusOK, answer, body); !c.check(got) {
				t.Errorf("%s", body)
			}
		})
	}
}

func TestVectorsAsArraysAndAsBase64AreTheSame(t *testing.T) {
	s := start(t, httpapi.Config{}, nil)
	req := question(t, 1)
	array, err := json.Marshal(req.Vector.Values())
	if err != nil {
		t.Fatal(err)
	}
	coded, err := json.Marshal(req.Vector)
	if err != nil {
		t.Fatal(err)
	}
	var answers []httpapi.SelectResponse
	for _, vector := range []string{string(array), string(coded)} {
		answer, body := s.post(t, "/v1/select", `{"vector":`+vector+`,"subqueries":[{"vector":`+vector+`},"coffee and tea"],"explain":true}`)
		answers = append(answers, decoded[httpapi.SelectResponse](t, http.StatusOK, answer, body))
	}
	if !reflect.DeepEqual(answers[0].Items, answers[1].Items) || !reflect.DeepEqual(answers[0].Trace, answers[1].Trace) {
		t.Errorf("%v\n%v", answers[0], answers[1])
	}
}

func TestDeadlineDecidesTheRung(t *testing.T) {
	s := start(t, httpapi.Config{}, nil)
	for _, c := range []struct {
		name    string
		header  []string
		query   string
		rung    string // that the mode begins with
		status  int
		degrade bool
	}{
		{"ample", nil, "", "sinkhorn", http.StatusOK, false},
		{"facility", []string{"Request-Timeout", "0.018"}, "", "facility", http.StatusOK, true},
		{"mmr", []string{"Request-Timeout", "9ms"}, "", "mmr", http.StatusOK, true},
		{"parameter wins", []string{"Request-Timeout", "9"}, "?timeout=9ms", "mmr", http.StatusOK, true},
		{"no time", nil, "?timeout=1us", "", http.StatusGatewayTimeout, false},
		{"negative", nil, "?timeout=-1s", "", http.StatusBadRequest, false},
		{"most", nil, "?timeout=10s", "sinkhorn", http.StatusOK, false},
		{"above most", nil, "?timeout=10.001s", "", http.StatusBadRequest, false},
		{"words", []string{"Request-Timeout", "soon"}, "", "", http.StatusBadRequest, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, body := s.post(t, "/v1/select"+c.query, question(t, 0), c.header...)
			if c.status == http.StatusOK && answer.StatusCode == http.StatusGatewayTimeout {
				t.Skipf("SKIPPED: this machine was too slow for a deadline of this rung")
			}
			if answer.StatusCode != c.status {
				t.Fatalf("status %d: %s", answer.StatusCode, body)
			}
			if c.status != http.StatusOK {
				return
			}
			got := decoded[httpapi.SelectResponse](t, http.StatusOK, answer, body)
			told := slices.ContainsFunc(got.Degraded, func(r core.Reason) bool { return r.Code == core.ReasonSelectorFellBack })
			lower := c.degrade && (strings.HasPrefix(got.Mode, "mmr") || strings.HasPrefix(got.Mode, "cosine")) // slower than meant
			if !strings.HasPrefix(got.Mode, c.rung) && !lower || told != c.degrade || (answer.Header.Get("Georag-Degraded") != "") != c.degrade {
				t.Errorf("mode %q, degraded %v, header %q", got.Mode, got.Degraded, answer.Header.Get("Georag-Degraded"))
			}
		})
	}
}

func TestTwoReplicasAnswerAlike(t *testing.T) {
	replicas := []*service{start(t, httpapi.Config{}, nil), start(t, httpapi.Config{}, nil)}
	for i := range 12 {
		var answers []httpapi.SelectResponse
		for _, s := range replicas {
			req := question(t, i)
			req.Explain = true
			answer, body := s.post(t, "/v1/select", req)
			got := decoded[httpapi.SelectResponse](t, http.StatusOK, answer, body)
			got.RequestID, got.Timings = "", core.Timings{}
			answers = append(answers, got)
		}
		if !reflect.DeepEqual(answers[0], answers[1]) {
			t.Errorf("question %d: %v\n%v", i, answers[0], answers[1])
		}
	}
}

func TestDiagnose(t *testing.T) {
	s := start(t, httpapi.Config{}, nil)
	better := 0
	for i := range 12 {
		req := question(t, i)
		answer, body := s.post(t, "/v1/diagnose", req)
		got := decoded[httpapi.DiagnoseResponse](t, http.StatusOK, answer, body)
		selected, selectedBody := s.post(t, "/v1/select", req)
		want := decoded[httpapi.SelectResponse](t, http.StatusOK, selected, selectedBody)
		req.Selector = "cosine"
		nearest, nearestBody := s.post(t, "/v1/select", req)
		cosine := decoded[httpapi.SelectResponse](t, http.StatusOK, nearest, nearestBody)
		if !slices.Equal(got.After.IDs, ids(want.Items)) || !slices.Equal(got.Before.IDs, ids(cosine.Items)) {
			t.Errorf("before %v, after %v; want %v, %v", got.Before.IDs, got.After.IDs, ids(cosine.Items), ids(want.Items))
		}
		if len(got.SubQueries) != 10 || got.Shared > 5 || got.Before.Redundancy == 0 || got.After.DemandObjective <= 0 || got.After.DemandObjective > 1 {
			t.Errorf("%s", body)
		}
		covered := map[int]bool{}
		for _, item := range want.Items {
			for _, j := range item.Covers {
				covered[j] = true
			}
		}
		if len(covered) != len(got.After.Covered) {
			t.Errorf("%d sub-queries covered, diagnosis says %v", len(covered), got.After.Covered)
		}
		if got.After.DemandObjective > got.Before.DemandObjective {
			better++
		}
	}
	if better < 9 {
		t.Errorf("the selection serves the demand better than cosine on %d of 12 questions only", better)
	}
}

func TestSlowStoreIsTheDeadlinesMatter(t *testing.T) {
	s := start(t, httpapi.Config{}, func(d *httpapi.Deps) {
		stage := demoStage(t, flat.Config{})
		stage.Store = slowStore{stage.Store}
		d.Stages = map[string]*core.Stage{"slow": stage}
	})
	answer, body := s.post(t, "/v1/select?timeout=50ms", question(t, 0))
	if got := decoded[httpapi.ErrorBody](t, http.StatusGatewayTimeout, answer, body); got.Error.Code != httpapi.CodeDeadline {
		t.Errorf("%s", body)
	}
}

// slowStore answers when its caller gives up.
type slowStore struct{ core.Store }

func (slowStore) Search(ctx context.Context, _ core.SearchRequest) (core.SearchResult, error) {
	select {
	case <-ctx.Done():
		return core.SearchResult{}, ctx.Err()
	case <-time.After(time.Minute):
		return core.SearchResult{}, core.ErrUnavailable
	}
}

// TestNothingFoundIsAnEmptyList: not null, which the published schema does not allow.
func TestNothingFoundIsAnEmptyList(t *testing.T) {
	s := start(t, httpapi.Config{}, nil)
	answer, body := s.post(t, "/v1/diagnose", `{"query":"a","given":[{"id":"absent"}]}`)
	if answer.StatusCode != http.StatusOK || bytes.Contains(body, []byte("null")) {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
	answer, body = s.post(t, "/v1/select", `{"query":"a","given":[{"id":"absent"}],"explain":true}`)
	if answer.StatusCode != http.StatusOK || bytes.Contains(body, []byte(":null")) {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
}
