package webui_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/georag/georag/adapters/webui"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/strictjson"
)

// axes embeds a text by the letters a to d in it: one component each.
type axes struct{}

func (axes) EmbedQueries(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, 4)
		for j, letter := range "abcd" {
			vectors[i][j] = float32(strings.Count(text, string(letter)))
		}
	}
	return vectors, nil
}

func (axes) EmbedPassages(context.Context, []string) ([][]float32, error) { panic("no passages here") }
func (axes) Model() string                                                { return "axes" }

// shelf is a store whose passages are near "a", with one each near the other axes.
type shelf struct {
	core.Store
	scope core.Scope
	err   error
}

func (s *shelf) Search(_ context.Context, req core.SearchRequest) (core.SearchResult, error) {
	s.scope = req.Scope
	long := strings.Repeat("é", 3000)
	passages := []core.Candidate{
		{ID: core.StringID("a1"), Vector: []float32{1, 0, 0.05, 0}, Payload: map[string]any{"title": "<b>First</b>", "text": long}},
		{ID: core.StringID("a2"), Vector: []float32{1, 0.05, 0, 0}, Payload: map[string]any{"content": "second"}},
		{ID: core.StringID("a3"), Vector: []float32{1, 0.06, 0, 0}, Payload: map[string]any{}},
		{ID: core.IntID(7), Vector: []float32{0.5, 1, 0, 0}, Payload: map[string]any{"title": "Seventh"}},
		{ID: core.StringID("c1"), Vector: []float32{0.5, 0, 1, 0}, Payload: map[string]any{"title": "Cee"}},
		{ID: core.StringID("broken"), Vector: []float32{0, 0, 0, 0}},
	}
	result := core.SearchResult{Candidates: passages[:4]}
	for range req.SubQueries {
		result.SubQueries = append(result.SubQueries, core.SubQueryResult{Hits: passages[3:]})
	}
	return result, s.err
}

func (s *shelf) Fetch(context.Context, core.FetchRequest) ([]core.Candidate, error) { return nil, nil }

func newPage(t *testing.T, s *shelf, change func(*webui.Deps)) *webui.Page {
	t.Helper()
	deps := webui.Deps{Stages: map[string]*core.Stage{"shelf": {Store: s, Planner: core.Planner{Embedder: axes{}}}}, Default: "shelf"}
	if change != nil {
		change(&deps)
	}
	page, err := webui.New(deps)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func compare(page *webui.Page, body string) (webui.Comparison, error) {
	r := httptest.NewRequest(http.MethodPost, "/ui/api/compare", strings.NewReader(body))
	answer, err := page.Compare(r, []byte(body))
	c, _ := answer.(webui.Comparison)
	return c, err
}

func ids(passages []webui.Passage) (list []string) {
	for _, p := range passages {
		list = append(list, p.ID)
	}
	return list
}

func TestCompare(t *testing.T) {
	store, recorded := &shelf{}, 0
	page := newPage(t, store, func(d *webui.Deps) { d.Record = func(context.Context, core.Trace) { recorded++ } })
	c, err := compare(page, `{"question":"a","k":3,"subqueries":["bb","cc","a"],"filter":"x=1","tenant":"acme"}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(c.Nearest); !slices.Equal(got, []string{"a1", "a2", "a3"}) && !slices.Equal(got, []string{"a2", "a1", "a3"}) {
		t.Errorf("nearest %v", got)
	}
	if got := ids(c.Selected); !slices.Contains(got, "7") || !slices.Contains(got, "c1") {
		t.Errorf("selected %v", got)
	}
	for j, want := range []struct{ nearest, selected int }{{0, 1}, {0, 1}, {3, 1}} {
		if q := c.SubQueries[j]; len(q.Nearest) != want.nearest || len(q.Selected) < want.selected {
			t.Errorf("sub-query %d is covered by nearest %v, selected %v", j, q.Nearest, q.Selected)
		}
	}
	for _, p := range append(c.Nearest, c.Selected...) {
		if both := slices.Contains(ids(c.Nearest), p.ID) && slices.Contains(ids(c.Selected), p.ID); p.Both != both {
			t.Errorf("%s is in both lists: %v", p.ID, p.Both)
		}
		if p.ID == "a1" && (!p.Cut || len(p.Text) > 4096 || strings.ContainsRune(p.Text, '\uFFFD')) {
			t.Errorf("a long text: cut %v, %d bytes", p.Cut, len(p.Text))
		}
	}
	kinds := map[string]int{}
	for _, p := range c.Plane.Points {
		kinds[p.Kind]++
	}
	if fmt.Sprint(kinds) != "map[candidate:5 question:1 sub-query:3]" {
		t.Errorf("points %v", kinds)
	}
	total := 0.0
	for _, d := range c.Demand {
		total += d.Share
	}
	if total < 0.999 || len(c.Steps) != 3 || recorded != 1 || store.scope.Filter != "x=1" || store.scope.Tenant != "acme" {
		t.Errorf("demand %v, steps %v, recorded %d, scope %+v", total, c.Steps, recorded, store.scope)
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
}

// TestCompareIsRepeatable: the same question twice gives the same answer but for the timings.
func TestCompareIsRepeatable(t *testing.T) {
	page := newPage(t, &shelf{}, nil)
	var answers [2]string
	for i := range answers {
		c, err := compare(page, `{"question":"a","subqueries":["bb","cc"]}`)
		if err != nil {
			t.Fatal(err)
		}
		c.Timings = core.Timings{}
		data, _ := json.Marshal(c)
		answers[i] = string(data)
	}
	if answers[0] != answers[1] {
		t.Errorf("%s\n%s", answers[0], answers[1])
	}
}

func TestSample(t *testing.T) {
	stage := &core.Stage{Store: &shelf{}}
	page := newPage(t, &shelf{err: errors.New("not asked")}, func(d *webui.Deps) {
		d.Samples = []webui.Sample{{ID: "s", Stage: stage, Query: core.Query{
			Text: "words", Vector: []float32{1, 0, 0, 0}, SubQueries: []core.SubQuery{{Vector: []float32{0, 1, 0, 0}}, {Vector: []float32{0, 0, 1, 0}}},
		}}}
	})
	c, err := compare(page, `{"sample":"s","k":2}`)
	if err != nil || len(c.Selected) != 2 || c.Plane == nil || c.Question != "words" {
		t.Errorf("%+v, error %v", c, err)
	}
	about, err := page.About(nil, nil)
	if a, ok := about.(webui.About); err != nil || !ok || len(a.Samples) != 1 || a.Collections[0].Embedder != "axes" || a.Collections[0].K != 5 {
		t.Errorf("%+v, error %v", about, err)
	}
}

func TestWrongRequests(t *testing.T) {
	page := newPage(t, &shelf{}, nil)
	for _, body := range []string{
		`{"question":" "}`, `{}`, `{"question":"a","k":0}`, `{"question":"a","k":101}`, `{"sample":"absent"}`, `{"question":"a","collection":"absent"}`,
		`{"sample":"s","question":"a"}`, `{"question":"a","subqueries":["b"," "]}`, `{"question":"` + strings.Repeat("a", 9000) + `"}`,
		`{"question":"a","subqueries":["` + strings.Repeat(`b","`, 64) + `b"]}`,
	} {
		if _, err := compare(page, body); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%.60s: %v", body, err)
		}
	}
	for _, body := range []string{``, `[]`, `{"question":"a"} x`, `{"question":"a","question":"b"}`, `{"Question":"a"}`, `{"question":1}`, `{"question":"a","k":1e309}`} {
		var fault *strictjson.Error
		if _, err := compare(page, body); !errors.As(err, &fault) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestTenantIsTheKeys(t *testing.T) {
	refused := errors.New("another tenant's")
	store := &shelf{}
	page := newPage(t, store, func(d *webui.Deps) {
		d.Tenant = func(_ context.Context, asked string) (string, error) {
			if asked == "other" {
				return "", refused
			}
			return "bound", nil
		}
	})
	if _, err := compare(page, `{"question":"a","tenant":"other"}`); !errors.Is(err, refused) {
		t.Errorf("error %v", err)
	}
	if _, err := compare(page, `{"question":"a"}`); err != nil || store.scope.Tenant != "bound" {
		t.Errorf("tenant %q, error %v", store.scope.Tenant, err)
	}
}

func TestNewNeedsAStage(t *testing.T) {
	if _, err := webui.New(webui.Deps{}); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("error %v", err)
	}
}

// TestAssets: every file has its type and the policy, nothing refers elsewhere, and nothing needs the policy relaxed.
func TestAssets(t *testing.T) {
	page := newPage(t, &shelf{}, nil)
	mux := http.NewServeMux()
	for _, path := range webui.Files() {
		mux.HandleFunc("GET "+path, page.ServeAsset)
	}
	get := func(path string) *http.Response {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Result()
	}
	if r := get("/ui"); r.StatusCode != 200 || r.Header.Get("Content-Security-Policy") != webui.Policy || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
		t.Errorf("%+v", r)
	}
	if strings.Contains(webui.Policy, "unsafe") || strings.Contains(webui.Policy, "*") {
		t.Error(webui.Policy)
	}
	elsewhere := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9.-]+\.[a-z]{2,}|@import|\sstyle=|\son[a-z]+=|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(`)
	files, err := fs.Glob(os.DirFS("assets"), "*")
	if err != nil || len(files) < 4 {
		t.Fatalf("files %v, error %v", files, err)
	}
	for _, name := range files {
		r := get("/ui/" + name)
		if r.StatusCode != 200 || r.Header.Get("Content-Type") == "" || r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %+v", name, r)
		}
		content, err := os.ReadFile("assets/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range elsewhere.FindAllString(string(content), -1) {
			if found != "http://www.w3.org" { // the name of SVG, which nobody asks for
				t.Errorf("%s has %q", name, found)
			}
		}
	}
	for _, path := range []string{"/ui/absent.js", "/ui/..%2fpage.go", "/ui/assets"} {
		if r := get(path); r.StatusCode != 404 {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
}
