package milvusproxy

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/selectproxy"
)

// shelf is a store of four rows with the keys 1 to 4.
type shelf struct {
	core.Store
	tenant string // asked for last
}

func (s *shelf) Search(_ context.Context, req core.SearchRequest) (core.SearchResult, error) {
	s.tenant = req.Scope.Tenant
	if req.Scope.Filter == "nothing" {
		return core.SearchResult{}, core.ErrEmptyIndex
	}
	var result core.SearchResult
	for i, v := range [][]float32{{1, 0}, {1, 0.01}, {0, 1}, {0.7, 0.7}} {
		result.Candidates = append(result.Candidates, core.Candidate{ID: core.IntID(int64(i + 1)), Score: 1 - float64(i)/10, Vector: v})
	}
	return result, nil
}

// TestREST puts the proxy in front of a server with the forms of Milvus's v2.
func TestREST(t *testing.T) {
	var arrived struct {
		path, body string
		header     http.Header
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived.path, arrived.body, arrived.header = r.URL.Path, string(body), r.Header
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"code":0,"cost":1,"data":[{"distance":1,"id":"1"},{"distance":0.9,"id":"2"},{"distance":0.8,"id":"3"},{"distance":0.7,"id":"4"}]}`)
	}))
	defer upstream.Close()
	store := &shelf{}
	selector := &selectproxy.Selector{
		Collections: map[string]selectproxy.Collection{"docs": {Stage: &core.Stage{Store: store}}, "ruled": {Stage: &core.Stage{Store: store}, Always: true}},
		Problem: func(err error) selectproxy.Problem {
			return selectproxy.Problem{Status: 429, Message: err.Error(), RetryAfter: time.Second}
		},
	}
	tenant := ""
	proxy, err := NewREST(Config{Upstream: selectproxy.Upstream{URL: upstream.URL, MaxBody: 2000}, Always: []string{"ruled"}},
		selectproxy.Deps{Selector: selector, Tenant: func(context.Context) string { return tenant }, Credentials: selectproxy.Credentials{Replace: true, Name: "Authorization", Value: "Bearer root:Milvus"}})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, endpoint := range proxy.Endpoints() {
		mux.Handle(endpoint.Pattern, endpoint.Handler)
	}
	for _, c := range []struct {
		path, body, select_, tenant string
		status, code                int
		rows                        int
		selected, skipped           bool
	}{
		{"/v2/vectordb/entities/search", `{"collectionName":"docs","data":[[1,0]],"limit":3}`, "", "", 200, 0, 4, false, false},
		{"/v2/vectordb/entities/search", `{"collectionName":"docs","data":[[1,0]],"limit":3}`, "on", "", 200, 0, 3, true, false},
		{"/v2/vectordb/entities/search", `{"collectionName":"ruled","data":[[1,0]],"limit":3}`, "", "", 200, 0, 3, true, false},
		{"/v1/vector/search", `{"collectionName":"ruled","vector":[1,0],"limit":2}`, "", "", 200, 0, 2, true, false},
		{"/v2/vectordb/entities/search", `{"collectionName":"ruled","data":[[1,0]],"limit":3,"offset":1}`, "", "", 200, 0, 4, false, true},
		{"/v2/vectordb/entities/search", `{"collectionName":"ruled","data":[[1,0]],"limit":3,"offset":1}`, "on", "", 400, 1100, 0, false, false},
		{"/v2/vectordb/entities/search", `{"collectionName":"none","data":[[1,0]]}`, "on", "", 400, 1100, 0, false, false},
		{"/v2/vectordb/entities/search", `{`, "on", "", 400, 1100, 0, false, false},
		{"/v2/vectordb/entities/search", `{`, "", "", 200, 0, 4, false, false},
		{"/v2/vectordb/entities/search", strings.Repeat(" ", 3000), "", "", 200, 0, 4, false, false},
		{"/v2/vectordb/entities/search", strings.Repeat(" ", 3000), "on", "", 413, 1801, 0, false, false},
		{"/v2/vectordb/entities/search", `{"collectionName":"docs","data":[[1,0]],"limit":3,"filter":"nothing"}`, "on", "", 200, 0, 0, true, false},
		{"/v1/vector/search", `{"collectionName":"docs","vector":[1,0],"filter":"nothing","limit":3}`, "on", "", 200, 200, 0, true, false},
		{"/v2/vectordb/entities/search", `{"collectionName":"docs","data":[[0,0]],"limit":3}`, "on", "", 429, 1807, 0, false, false},
		{"/v2/vectordb/entities/insert", `{"collectionName":"docs"}`, "on", "", 200, 0, 4, false, false},
		{"/v2/vectordb/entities/insert", `{"collectionName":"docs"}`, "", "a", 403, 1800, 0, false, false},
		{"/v2/vectordb/entities/search", `{"collectionName":"docs","data":[[1,0]],"limit":3}`, "", "a", 403, 1800, 0, false, false},
		{"/v2/vectordb/entities/search", `{"collectionName":"ruled","data":[[1,0]],"limit":3}`, "off", "a", 403, 1800, 0, false, false},
		{"/v2/vectordb/entities/search", `{"collectionName":"docs","data":[[1,0]],"limit":3}`, "on", "a", 200, 0, 3, true, false},
	} {
		tenant = c.tenant
		request := httptest.NewRequest(http.MethodPost, c.path, strings.NewReader(c.body))
		request.Header.Set("Authorization", "Bearer theirs")
		request.Header.Set(selectproxy.HeaderSelect, c.select_)
		answer := httptest.NewRecorder()
		arrived.path = ""
		mux.ServeHTTP(answer, request)
		var read struct {
			Code    int               `json:"code"`
			Message string            `json:"message"`
			Data    []json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(answer.Body.Bytes(), &read); err != nil {
			t.Errorf("%s: %v", answer.Body, err)
		}
		if answer.Code != c.status || read.Code != c.code || len(read.Data) != c.rows || (read.Message != "") != (c.status != 200) ||
			(answer.Header().Get(selectproxy.HeaderMode) != "") != c.selected || (answer.Header().Get(selectproxy.HeaderSkipped) != "") != c.skipped {
			t.Errorf("%s %.80s %q: %d %s %v", c.path, c.body, c.select_, answer.Code, answer.Body, answer.Header())
		}
		if passed := c.status == 200 && !c.selected; passed && (arrived.path != c.path || arrived.body != c.body) {
			t.Errorf("%s %s arrived as %s %s", c.path, c.body, arrived.path, arrived.body)
		}
		if c.selected && store.tenant != c.tenant {
			t.Errorf("%s: tenant %q was asked for", c.body, store.tenant)
		}
		if arrived.path != "" && arrived.header.Get("Authorization") != "Bearer root:Milvus" {
			t.Errorf("%s arrived with %v", c.path, arrived.header)
		}
		if c.status == 429 && answer.Header().Get("Retry-After") != "1" {
			t.Errorf("Retry-After: %v", answer.Header())
		}
	}
}
