package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/georag/georag/internal/selectproxy"
)

const question = "Which river flows through the city where the author of the novel was born?"

// front is a service in front of an upstream, at both of its interfaces.
type front struct {
	*service
	*upstream
	grpc string
}

// serveQdrant starts both. extra are further lines of the section proxies.qdrant, and auth the keys file.
func serveQdrant(t *testing.T, extra, keys string) *front {
	t.Helper()
	key := ""
	if keys != "" {
		key = upstreamKey
	}
	u := startUpstream(t, key)
	f := &front{upstream: u, grpc: freeAddr(t)}
	t.Setenv("GEORAG_TEST_UPSTREAM_KEY", upstreamKey)
	config := fmt.Sprintf(`
store:
  qdrant: {addr: %q, collection: demo%s}
embedder: {static: true}
writer: {rules: true}
candidates: 40
server: {listen: LISTEN%s, timeouts: {drain: 0s}}
proxies:
  qdrant: {url: %q, grpc_listen: %q%s}
`, u.Addr(), map[bool]string{true: ", api_key_env: GEORAG_TEST_UPSTREAM_KEY, tenant_key: tenant"}[keys != ""],
		map[bool]string{true: ", auth: {keys_file: " + keys + "}"}[keys != ""], u.rest, f.grpc, extra)
	f.service = serve(t, config)
	return f
}

// asking adds the headers that ask for a selection.
func asking(ctx context.Context, pairs ...string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, append([]string{"x-georag-select", "default"}, pairs...)...)
}

func withText(ctx context.Context, text string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "x-georag-query", selectproxy.EncodeQuery(text))
}

// query is a plain one for the neighbours of the question.
func query(t *testing.T, k uint64) *qd.QueryPoints {
	return &qd.QueryPoints{CollectionName: collection, Query: qd.NewQueryDense(embed(t, question)[0]), Limit: &k, WithPayload: qd.NewWithPayload(true)}
}

// native are the IDs that the service's own interface selects.
func (f *front) native(t *testing.T, k int, filter string) []uint64 {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": question, "vector": embed(t, question)[0], "k": k, "filter": filter})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post(f.url+"/v1/select", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var selected struct {
		Items []struct {
			ID uint64 `json:"id"`
		} `json:"items"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&selected); err != nil || answer.StatusCode != 200 {
		t.Fatal(answer.Status, err)
	}
	var ids []uint64
	for _, item := range selected.Items {
		ids = append(ids, item.ID)
	}
	return ids
}

func idsOf(points []*qd.ScoredPoint) []uint64 {
	var ids []uint64
	for _, p := range points {
		ids = append(ids, p.GetId().GetNum())
	}
	return ids
}

// TestGoClientPassesThrough: what asks for nothing gets from the proxy what it gets from the database.
func TestGoClientPassesThrough(t *testing.T) {
	f := serveQdrant(t, "", "")
	direct, through := goClient(t, f.upstream.Addr(), ""), goClient(t, f.grpc, "")
	ctx := t.Context()
	if _, err := through.HealthCheck(ctx); err != nil {
		t.Fatal(err)
	}
	names, err := through.ListCollections(ctx)
	if err != nil || !slices.Contains(names, collection) {
		t.Errorf("collections %v, %v", names, err)
	}
	err = through.CreateCollection(ctx, &qd.CreateCollection{CollectionName: "other", VectorsConfig: qd.NewVectorsConfig(&qd.VectorParams{Size: 2, Distance: qd.Distance_Dot})})
	if err != nil {
		t.Error(err)
	}
	if _, err := through.Upsert(ctx, &qd.UpsertPoints{CollectionName: "other", Points: []*qd.PointStruct{{Id: qd.NewIDNum(1), Vectors: qd.NewVectors(1, 2)}}}); err != nil {
		t.Error(err)
	}
	if n, err := direct.Count(ctx, &qd.CountPoints{CollectionName: "other"}); err != nil || n != 1 {
		t.Errorf("the database holds %d points, %v", n, err)
	}
	q := query(t, 7)
	q.Offset, q.WithVectors = qd.PtrOf(uint64(2)), qd.NewWithVectors(true)
	want, err1 := direct.GetPointsClient().Query(ctx, q)
	got, err2 := through.GetPointsClient().Query(ctx, q)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	got.Time, want.Time = 0, 0
	if !proto.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	_, err1 = direct.Get(ctx, &qd.GetPoints{CollectionName: "none"})
	_, err2 = through.Get(ctx, &qd.GetPoints{CollectionName: "none"})
	if status.Code(err2) != codes.NotFound || status.Convert(err1).Message() != status.Convert(err2).Message() {
		t.Errorf("the database says %v, the proxy %v", err1, err2)
	}
}

// TestGoClientSelects: a query that asks for it is answered by the service's selection, with the database's points.
func TestGoClientSelects(t *testing.T) {
	f := serveQdrant(t, "", "")
	direct, through := goClient(t, f.upstream.Addr(), ""), goClient(t, f.grpc, "")
	scores := map[uint64]float32{}
	all, err := direct.Query(t.Context(), query(t, 1000))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		scores[p.GetId().GetNum()] = p.GetScore()
	}
	var header metadata.MD
	q := query(t, 5)
	answer, err := through.GetPointsClient().Query(withText(asking(t.Context()), question), q, grpc.Header(&header))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := idsOf(answer.GetResult()), f.native(t, 5, ""); !slices.Equal(got, want) || len(got) != 5 {
		t.Errorf("selected %v, want %v", got, want)
	}
	for _, p := range answer.GetResult() {
		if p.GetScore() != scores[p.GetId().GetNum()] || p.GetPayload()["text"].GetStringValue() == "" || p.GetVectors() != nil {
			t.Errorf("point %v: score %v, want %v", p, p.GetScore(), scores[p.GetId().GetNum()])
		}
	}
	if mode := header.Get("x-georag-mode"); !slices.Equal(mode, []string{"sinkhorn converged"}) {
		t.Errorf("mode %v", mode)
	}
	answer, err = through.GetPointsClient().Query(asking(t.Context()), q, grpc.Header(&header))
	if err != nil || len(answer.GetResult()) != 5 || !slices.Contains(header.Get("x-georag-degraded"), "no_subqueries") {
		t.Errorf("without a text: %d points, header %v, %v", len(answer.GetResult()), header, err)
	}
	q.Filter = &qd.Filter{Must: []*qd.Condition{qd.NewMatch("tenant", "a"), qd.NewRange("n", &qd.Range{Lt: qd.PtrOf(100.0)})}}
	answer, err = through.GetPointsClient().Query(withText(asking(t.Context()), question), q)
	want := f.native(t, 5, `{"must":[{"key":"tenant","match":{"value":"a"}},{"key":"n","range":{"lt":100}}]}`)
	if got := idsOf(answer.GetResult()); err != nil || !slices.Equal(got, want) {
		t.Errorf("with a filter: selected %v, want %v, %v", got, want, err)
	}
	none := query(t, 5)
	none.Filter = &qd.Filter{Must: []*qd.Condition{qd.NewMatch("tenant", "nobody")}}
	batch := &qd.QueryBatchPoints{CollectionName: collection, QueryPoints: []*qd.QueryPoints{none, q, query(t, 3)}}
	texts := strings.Join([]string{selectproxy.EncodeQuery(question), selectproxy.EncodeQuery(question), selectproxy.EncodeQuery(question)}, ",")
	batched, err := through.GetPointsClient().QueryBatch(asking(t.Context(), "x-georag-query", texts), batch)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]uint64{nil, want, f.native(t, 3, "")} {
		if got := idsOf(batched.GetResult()[i].GetResult()); !slices.Equal(got, want) {
			t.Errorf("query %d of the batch: selected %v, want %v", i, got, want)
		}
	}
}

// TestGoClientAsksTooMuch: what a selection cannot honour is refused where it was asked for, and passed through where a
// rule would have made one.
func TestGoClientAsksTooMuch(t *testing.T) {
	f := serveQdrant(t, ", always: [demo]", "")
	through := goClient(t, f.grpc, "")
	for name, change := range map[string]func(*qd.QueryPoints){
		"offset":          func(q *qd.QueryPoints) { q.Offset = qd.PtrOf(uint64(1)) },
		"score_threshold": func(q *qd.QueryPoints) { q.ScoreThreshold = qd.PtrOf(float32(0.1)) },
		"params":          func(q *qd.QueryPoints) { q.Params = &qd.SearchParams{Exact: qd.PtrOf(true)} },
		"query": func(q *qd.QueryPoints) {
			q.Query = qd.NewQueryMMR(qd.NewVectorInputDense(q.GetQuery().GetNearest().GetDense().GetData()), &qd.Mmr{})
		},
		"limit": func(q *qd.QueryPoints) { q.Limit = qd.PtrOf(uint64(101)) },
	} {
		q := query(t, 5)
		change(q)
		_, err := through.Query(asking(t.Context()), q)
		if status.Code(err) != codes.InvalidArgument || !strings.Contains(status.Convert(err).Message(), name) {
			t.Errorf("%s, asked for: %v", name, err)
		}
		var header metadata.MD
		answer, err := through.GetPointsClient().Query(t.Context(), q, grpc.Header(&header))
		if skipped := header.Get("x-georag-skipped"); err != nil || len(answer.GetResult()) == 0 || len(skipped) != 1 || !strings.Contains(skipped[0], name) {
			t.Errorf("%s, under a rule: %d points, skipped %v, %v", name, len(answer.GetResult()), skipped, err)
		}
	}
	var header metadata.MD
	if _, err := through.GetPointsClient().Query(t.Context(), query(t, 5), grpc.Header(&header)); err != nil || header.Get("x-georag-mode") == nil {
		t.Errorf("a rule: header %v, %v", header, err)
	}
	header = nil
	off := metadata.AppendToOutgoingContext(t.Context(), "x-georag-select", "off")
	if _, err := through.GetPointsClient().Query(off, query(t, 5), grpc.Header(&header)); err != nil || header.Get("x-georag-mode") != nil {
		t.Errorf("switched off: header %v, %v", header, err)
	}
	if _, err := through.Query(asking(t.Context()), &qd.QueryPoints{CollectionName: "other"}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("another collection: %v", err)
	}
}

// TestGoClientKeys: the proxy lets nothing through that the service's keys refuse, holds a key to its tenant, and
// shows the database its own key only.
func TestGoClientKeys(t *testing.T) {
	f := serveQdrant(t, "", keysFile(t))
	ctx := t.Context()
	for key, want := range map[string]codes.Code{"": codes.Unauthenticated, "wrong": codes.Unauthenticated, upstreamKey: codes.Unauthenticated, openKey[:10]: codes.Unauthenticated, openKey: codes.OK, boundKey: codes.PermissionDenied} {
		client := goClient(t, f.grpc, key)
		if _, err := client.Count(ctx, &qd.CountPoints{CollectionName: collection}); status.Code(err) != want {
			t.Errorf("count with key %q: %v, want %v", key, err, want)
		}
		if _, err := client.Query(ctx, query(t, 5)); status.Code(err) != want {
			t.Errorf("query with key %q: %v, want %v", key, err, want)
		}
	}
	bound := goClient(t, f.grpc, boundKey)
	found, err := bound.Query(withText(asking(ctx), question), query(t, 5))
	if err != nil || len(found) != 5 {
		t.Fatalf("%d points, %v", len(found), err)
	}
	for _, p := range found {
		if tenant := p.GetPayload()["tenant"].GetStringValue(); tenant != "a" {
			t.Errorf("a point of tenant %q", tenant)
		}
	}
	if _, err := bound.Query(asking(ctx, "x-georag-tenant", "b"), query(t, 5)); status.Code(err) != codes.PermissionDenied {
		t.Errorf("another tenant: %v", err)
	}
	escape := query(t, 5)
	escape.Filter = &qd.Filter{Should: []*qd.Condition{qd.NewMatch("tenant", "b"), qd.NewMatch("tenant", "a")}}
	found, err = bound.Query(asking(ctx), escape)
	for _, p := range found {
		if tenant := p.GetPayload()["tenant"].GetStringValue(); tenant != "a" {
			t.Errorf("by a filter: a point of tenant %q", tenant)
		}
	}
	if err != nil {
		t.Error(err)
	}
	everyone := goClient(t, f.grpc, openKey)
	if _, err := everyone.Query(asking(ctx), query(t, 5)); status.Code(err) != codes.InvalidArgument {
		t.Errorf("no tenant: %v", err)
	}
	if found, err := everyone.Query(asking(ctx, "x-georag-tenant", "b"), query(t, 5)); err != nil || len(found) != 5 || found[0].GetPayload()["tenant"].GetStringValue() != "b" {
		t.Errorf("tenant b: %v, %v", found, err)
	}
}

// do sends a request by REST and returns the answer.
func do(t *testing.T, method, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(content)
}

// TestRESTPassesThrough: methods, paths, parameters, headers and bodies arrive as they were sent, and answers come back
// as they were given.
func TestRESTPassesThrough(t *testing.T) {
	f := serveQdrant(t, "", "")
	odd := "{ \"limit\" :3, \"query\":[1e0],\"x\":\"\\u00e9\" }\n\n"
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/collections/demo/points/query?timeout=9&consistency=majority&x=%2F;y", odd},
		{"POST", "/collections/demo/points/query/batch", "no JSON at all"},
		{"PUT", "/collections/d%20e/points?wait=true", strings.Repeat("x", 5<<20)},
		{"DELETE", "/collections/none", ""},
		{"GET", "/collections", ""},
		{"GET", "/", ""},
		{"PATCH", "/collections/demo", "{}"},
		{"GET", "/snapshots", ""},
	} {
		want, wantBody := do(t, c.method, f.rest+c.path, c.body, "Content-Type", "application/json", "Api-Key", "theirs", "X-Other", "kept")
		got, gotBody := do(t, c.method, f.url+c.path, c.body, "Content-Type", "application/json", "Api-Key", "theirs", "X-Other", "kept", "X-Georag-Query", "eA", "Connection", "X-Hop", "X-Hop", "1")
		all := f.all(t)
		arrived := all[len(all)-1]
		if got.StatusCode != want.StatusCode || gotBody != wantBody || got.Header.Get("Content-Type") != want.Header.Get("Content-Type") {
			t.Errorf("%s %s: %s %q, want %s %q", c.method, c.path, got.Status, gotBody, want.Status, wantBody)
		}
		if arrived.method != c.method || arrived.uri != c.path || string(arrived.body) != c.body {
			t.Errorf("%s %s arrived as %s %s with %d bytes of %d", c.method, c.path, arrived.method, arrived.uri, len(arrived.body), len(c.body))
		}
		if h := arrived.header; h.Get("Api-Key") != "theirs" || h.Get("X-Other") != "kept" || h.Get("X-Georag-Query") != "" || h.Get("X-Hop") != "" {
			t.Errorf("%s %s arrived with headers %v", c.method, c.path, h)
		}
	}
}

// TestRESTRefuses: malformed requests that ask for a selection are refused in Qdrant's shape.
func TestRESTRefuses(t *testing.T) {
	f := serveQdrant(t, "", "")
	vector, _ := json.Marshal(embed(t, question)[0])
	path := "/collections/demo/points/query"
	for _, c := range []struct {
		path, body, header, value, says string
		status                          int
	}{
		{path, "{", "", "", "malformed|JSON", 400},
		{path, "", "", "", "empty", 400},
		{path, "[]", "", "", "object", 400},
		{path, `{"query":[1e39]}`, "", "", "query", 400},
		{path, `{"query":[1,2],"query":[1]}`, "", "", "twice", 400},
		{path, `{"query":[1,2]}`, "", "", "dimension", 400},
		{path, `{"query":[` + strings.Repeat("0,", 383) + `0]}`, "", "", "", 400},
		{path, `{"query":"4b6a3e6e-0000-0000-0000-000000000000"}`, "", "", "query", 400},
		{path, `{"query":{"recommend":{"positive":[1]}}}`, "", "", "query", 400},
		{path, `{"query":{"nearest":[1],"mmr":{}}}`, "", "", "query", 400},
		{path, `{"query":[[1],[2]]}`, "", "", "query", 400},
		{path, `{"query":` + string(vector) + `,"prefetch":[{}]}`, "", "", "prefetch", 400},
		{path, `{"query":` + string(vector) + `,"group_by":"n"}`, "", "", "group_by", 400},
		{path, `{"query":` + string(vector) + `,"offset":3}`, "", "", "offset", 400},
		{path, `{"query":` + string(vector) + `,"limit":0}`, "", "", "limit", 400},
		{path, `{"query":` + string(vector) + `,"limit":-1}`, "", "", "limit", 400},
		{path, `{"query":` + string(vector) + `,"limit":1e30}`, "", "", "limit", 400},
		{path, `{"query":` + string(vector) + `,"using":3}`, "", "", "using", 400},
		{path, `{"query":` + string(vector) + `,"using":"none"}`, "", "", "none", 404},
		{path, `{"query":` + string(vector) + `,"filter":{"must":[{"key":"a"}]}}`, "", "", "filter", 400},
		{path, `{"query":` + string(vector) + `,"filter":` + strings.Repeat(`{"must":`, 70) + `[]` + strings.Repeat("}", 70) + `}`, "", "", "nested", 400},
		{path, `{}`, "", "", "vector", 400},
		{path, `{"query":` + string(vector) + `}`, "X-Georag-Select", "yes please", "X-Georag-Select", 400},
		{path, `{"query":` + string(vector) + `}`, "X-Georag-Query", "?", "X-Georag-Query", 400},
		{path, `{"query":` + string(vector) + `}`, "X-Georag-Query", "eA,eA", "X-Georag-Query", 400},
		{path, `{"query":` + string(vector) + `}`, "X-Georag-Tenant", "a", "tenant", 400},
		{path, `{"query":` + string(vector) + `}`, "Content-Encoding", "gzip", "Content-Encoding", 400},
		{path, strings.Repeat(" ", 5<<20), "", "", "longer", 413},
		{path + "/batch", `{"searches":[]}`, "", "", "searches", 400},
		{path + "/batch", `{"searches":{}}`, "", "", "searches", 400},
		{path + "/batch", `{"searches":[{"query":` + string(vector) + `},{"query":3}]}`, "", "", "query", 400},
		{"/collections/other/points/query", `{}`, "", "", "collection", 400},
	} {
		headers := []string{"Content-Type", "application/json", "X-Georag-Select", "default"}
		if c.header != "" {
			headers = append(headers, c.header, c.value)
		}
		answer, body := do(t, "POST", f.url+c.path, c.body, headers...)
		var shape struct {
			Status struct {
				Error string `json:"error"`
			} `json:"status"`
		}
		if err := json.Unmarshal([]byte(body), &shape); err != nil || answer.StatusCode != c.status || shape.Status.Error == "" ||
			!slices.ContainsFunc(strings.Split(c.says, "|"), func(word string) bool { return strings.Contains(shape.Status.Error, word) }) {
			t.Errorf("%.80s %s %s: %s %s", c.body, c.header, c.value, answer.Status, body)
		}
	}
}

// TestRESTKeys is TestGoClientKeys for REST.
func TestRESTKeys(t *testing.T) {
	f := serveQdrant(t, ", always: [demo]", keysFile(t))
	vector, _ := json.Marshal(embed(t, question)[0])
	body := `{"query":` + string(vector) + `,"limit":5,"with_payload":true}`
	for _, c := range []struct {
		key, path, select_ string
		status             int
	}{
		{"", "/collections/demo/points/query", "", 401},
		{"wrong", "/collections/demo/points/query", "", 401},
		{upstreamKey, "/collections/demo/points/query", "", 401},
		{"", "/collections/demo/points/count", "", 401},
		{openKey, "/collections/demo/points/query", "", 200},
		{openKey, "/collections/demo/points/count", "", 200},
		{boundKey, "/collections/demo/points/count", "", 403},
		{boundKey, "/collections/demo/points/query", "off", 403},
		{boundKey, "/collections/demo/points/query", "", 200},
		{boundKey, "/collections/demo/points/scroll", "", 403},
	} {
		answer, said := do(t, "POST", f.url+c.path, body, "Content-Type", "application/json", "Api-Key", c.key, "X-Georag-Select", c.select_)
		if answer.StatusCode != c.status || c.status >= 400 && !strings.HasPrefix(said, `{"status":{"error":`) {
			t.Errorf("key %q %s %q: %s %s", c.key, c.path, c.select_, answer.Status, said)
		}
		if c.key == boundKey && c.status == 200 && (strings.Contains(said, `"tenant":"b"`) || !strings.Contains(said, `"tenant":"a"`)) {
			t.Errorf("key of a: %s", said)
		}
	}
	for _, h := range f.all(t) {
		if h.header.Get("Api-Key") != upstreamKey || strings.Contains(fmt.Sprint(h.header), openKey) || strings.Contains(fmt.Sprint(h.header), boundKey) {
			t.Errorf("%s arrived with %v", h.uri, h.header)
		}
	}
	if answer, _ := do(t, "GET", f.url+"/", "", "Api-Key", boundKey); answer.StatusCode != 200 {
		t.Errorf("the version: %s", answer.Status)
	}
}
