package clients

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/milvus"
	"github.com/georag/georag/core"
	"github.com/georag/georag/demo"
	"github.com/georag/georag/internal/milvusserver"
	"github.com/georag/georag/internal/retry"
)

// milvusRow is a row of an answer, the key as it was printed.
type milvusRow struct {
	ID       json.RawMessage `json:"id"`
	Distance float64         `json:"distance"`
	Text     string          `json:"text"`
	Tenant   string          `json:"tenant"`
	Vector   []float32       `json:"vector"`
}

func keysOf(rows []milvusRow) []string {
	var keys []string
	for _, row := range rows {
		keys = append(keys, strings.Trim(string(row.ID), `"`))
	}
	return keys
}

// loadMilvus fills a new collection with the demonstration corpus.
func loadMilvus(t *testing.T, addr string) milvus.Config {
	t.Helper()
	cfg := milvus.Config{Addr: addr, Collection: fmt.Sprintf("clients_%d", os.Getpid()), Policy: retry.Policy{Timeout: 20 * time.Second}}
	store, err := milvus.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	source, err := flat.OpenFS(demo.Files, "data", flat.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	var passages []core.Candidate
	var texts []string
	if err := source.Scan(t.Context(), core.Scope{}, 0, func(c core.Candidate) bool {
		text := c.PayloadText()
		id := core.IntID(1<<60 + int64(len(texts))) // beyond what a float64 tells apart
		passages = append(passages, core.Candidate{ID: id, Payload: map[string]any{"text": text, "tenant": []string{"a", "b"}[len(texts)%2]}})
		texts = append(texts, text)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	for i, v := range embed(t, texts...) {
		passages[i].Vector = v
	}
	if err := store.Create(t.Context(), core.CollectionSpec{Dimension: len(passages[0].Vector), Metric: core.MetricDot, Exact: true}); err != nil {
		t.Fatal(err)
	}
	if err := store.Upsert(t.Context(), passages); err != nil {
		t.Fatal(err)
	}
	if n, err := store.Count(t.Context()); err != nil || n != int64(len(passages)) {
		t.Fatalf("%d of %d passages were loaded, %v", n, len(passages), err)
	}
	return cfg
}

// TestMilvus puts the proxy in front of a real Milvus 2.3, whose REST interface is that of v1.
func TestMilvus(t *testing.T) {
	addr := milvusserver.Addr(t)
	cfg := loadMilvus(t, addr)
	s := serve(t, fmt.Sprintf(`
store:
  milvus: {addr: %q, collection: %s, timeout: 20s}
embedder: {static: true}
writer: {rules: true}
candidates: 40
server: {listen: LISTEN, timeouts: {drain: 0s, request: 10s}}
proxies:
  milvus: {url: "http://%s", select_timeout: 20s}
`, addr, cfg.Collection, addr))
	vector := embed(t, question)[0]
	search := func(base string, change map[string]any, headers ...string) (*http.Response, int, []milvusRow, string) {
		t.Helper()
		body := map[string]any{"collectionName": cfg.Collection, "vector": vector, "limit": 5, "outputFields": []string{"text", "tenant"}}
		for name, value := range change {
			body[name] = value
		}
		encoded, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		answer, said := do(t, "POST", base+"/v1/vector/search", string(encoded), append([]string{"Content-Type", "application/json"}, headers...)...)
		var read struct {
			Code    int         `json:"code"`
			Message string      `json:"message"`
			Data    []milvusRow `json:"data"`
		}
		if err := json.Unmarshal([]byte(said), &read); err != nil {
			t.Fatalf("%s: %v", said, err)
		}
		return answer, read.Code, read.Data, said
	}
	asking := []string{"X-Georag-Select", "on", "X-Georag-Query", "V2hpY2ggcml2ZXI"}
	direct := "http://" + addr

	_, _, _, want := search(direct, nil)
	if _, code, rows, got := search(s.url, nil); got != want || code != 200 || len(rows) != 5 {
		t.Errorf("passed through: %s, want %s", got, want)
	}
	distances := map[string]float64{}
	_, _, all, _ := search(direct, map[string]any{"limit": 1000})
	for i, key := range keysOf(all) {
		distances[key] = all[i].Distance
	}

	answer, code, rows, said := search(s.url, nil, asking...)
	if code != 200 || len(rows) != 5 || answer.Header.Get("X-Georag-Mode") == "" || slices.Equal(keysOf(rows), keysOf(all[:5])) {
		t.Errorf("selected: %v %s", answer.Header, said)
	}
	for i, key := range keysOf(rows) {
		if d, ok := distances[key]; !ok || rows[i].Distance-d > 1e-6 || d-rows[i].Distance > 1e-6 || rows[i].Text == "" {
			t.Errorf("row %+v, want distance %v", rows[i], d)
		}
	}
	_, _, again, _ := search(s.url, nil, asking...)
	if !slices.Equal(keysOf(again), keysOf(rows)) {
		t.Errorf("selected %v, then %v", keysOf(rows), keysOf(again))
	}
	_, code, rows, said = search(s.url, map[string]any{"filter": `tenant == "a"`, "outputFields": []string{"tenant", "vector"}}, asking...)
	if code != 200 || len(rows) != 5 || slices.ContainsFunc(rows, func(r milvusRow) bool { return r.Tenant != "a" || len(r.Vector) != len(vector) }) {
		t.Errorf("filtered: %.300s", said)
	}
	if _, code, rows, said = search(s.url, map[string]any{"filter": `tenant == "nobody"`}, asking...); code != 200 || len(rows) != 0 {
		t.Errorf("nothing in the scope: %s", said)
	}
	for name, change := range map[string]map[string]any{
		"offset": {"offset": 2}, "params": {"params": map[string]any{"radius": 0.1}}, "limit": {"limit": 101}, "tenant": {"filter": `tenant == "a") or (1 == 1`},
		"component": {"vector": []float32{1, 2}}, "dbName": {"dbName": "other"},
	} {
		answer, code, _, said := search(s.url, change, asking...)
		if answer.StatusCode != 400 || code != 1100 || name != "component" && !strings.Contains(said, name) {
			t.Errorf("%s: %s %s", name, answer.Status, said)
		}
	}
	if answer, said := do(t, "GET", s.url+"/v1/vector/collections", ""); answer.StatusCode != 200 || !strings.Contains(said, cfg.Collection) {
		t.Errorf("collections: %s %s", answer.Status, said)
	}
}
