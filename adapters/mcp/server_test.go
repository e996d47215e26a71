package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/georag/georag/adapters/mcp"
	"github.com/georag/georag/core"
)

// compass embeds a text by its first letter, so that directions can be asked for.
type compass struct{ wait time.Duration }

func (c compass) EmbedQueries(ctx context.Context, texts []string) ([][]float32, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(c.wait):
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, 4)
		vectors[i][strings.IndexByte("nesw", text[0])] = 1
	}
	return vectors, nil
}

func (c compass) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	return c.EmbedQueries(ctx, texts)
}

func (compass) Model() string { return "compass" }

// winds is a store of six passages: three near the north, one near each of the other directions.
type winds struct {
	core.Store
	asked []core.SearchRequest
	err   error
}

var passages = []core.Candidate{
	{ID: core.StringID("n1"), Vector: []float32{1, 0.1, 0, 0}, Payload: map[string]any{"title": "North", "text": "cold"}},
	{ID: core.StringID("n2"), Vector: []float32{1, 0.1, 0.01, 0}, Payload: map[string]any{"text": "colder"}},
	{ID: core.StringID("n3"), Vector: []float32{1, 0.1, 0.02, 0}, Payload: map[string]any{"text": "coldest"}},
	{ID: core.StringID("e1"), Vector: []float32{0.4, 1, 0, 0}, Payload: map[string]any{"title": "East", "text": "dry"}},
	{ID: core.StringID("s1"), Vector: []float32{0.3, 0, 1, 0}, Payload: map[string]any{"title": "South", "text": "warm"}},
	{ID: core.IntID(9007199254740993), Vector: []float32{0.2, 0, 0, 1}, Payload: map[string]any{"title": "West", "text": "wet"}},
}

func (w *winds) Search(_ context.Context, req core.SearchRequest) (core.SearchResult, error) {
	w.asked = append(w.asked, req)
	result := core.SearchResult{Candidates: append([]core.Candidate(nil), passages...)}
	for range req.SubQueries {
		result.SubQueries = append(result.SubQueries, core.SubQueryResult{Hits: passages[:1]})
	}
	return result, w.err
}

// connect returns a client of a server over the stage, in this process.
func connect(t *testing.T, stage core.Stage, c mcp.Config) *sdk.ClientSession {
	t.Helper()
	server, err := mcp.New(stage, c)
	if err != nil {
		t.Fatal(err)
	}
	here, there := sdk.NewInMemoryTransports()
	serving, err := server.Connect(t.Context(), there)
	if err != nil {
		t.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close(); _ = serving.Wait() })
	return session
}

func call(t *testing.T, session *sdk.ClientSession, name string, arguments any, into any) *sdk.CallToolResult {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s %v: a protocol error: %v", name, arguments, err)
	}
	if into != nil {
		if result.IsError {
			t.Fatalf("%s %v: %s", name, arguments, words(result))
		}
		data, err := json.Marshal(result.StructuredContent)
		if err == nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return result
}

func words(r *sdk.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			all = append(all, text.Text)
		}
	}
	return strings.Join(all, "\n")
}

func stage(w *winds) core.Stage {
	return core.Stage{Store: w, Planner: core.Planner{Embedder: compass{}}}
}

func TestToolsAreListed(t *testing.T) {
	tools, err := connect(t, stage(&winds{}), mcp.Config{}).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, tool := range tools.Tools {
		names[tool.Name] = true
		if !tool.Annotations.ReadOnlyHint || tool.InputSchema == nil || tool.OutputSchema == nil {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
	}
	if len(names) != 2 || !names["search_passages"] || !names["explain_selection"] {
		t.Errorf("tools %v", names)
	}
}

func TestSearchPassages(t *testing.T) {
	store := &winds{}
	session := connect(t, stage(store), mcp.Config{})
	var answer mcp.Answer
	result := call(t, session, "search_passages", map[string]any{
		"question": "north and the rest", "k": 4, "filter": "lang=en", "tenant": "acme",
		"sub_queries": []string{"east?", "south?", "west?"},
	}, &answer)
	covered := map[string]string{}
	for _, p := range answer.Passages {
		for _, q := range p.Covers {
			covered[q] = p.ID
		}
	}
	want := map[string]string{"east?": "e1", "south?": "s1", "west?": "9007199254740993"}
	if len(answer.Passages) != 4 || fmt.Sprint(covered) != fmt.Sprint(want) {
		t.Errorf("passages %+v cover %v", answer.Passages, covered)
	}
	if len(answer.Degraded) != 0 {
		t.Errorf("degraded %v", answer.Degraded)
	}
	if !strings.Contains(words(result), `"warm"`) {
		t.Errorf("clients that read text only get %q", words(result))
	}
	scope := store.asked[0].Scope
	if scope.Filter != "lang=en" || scope.Tenant != "acme" || len(store.asked[0].SubQueries) != 3 {
		t.Errorf("the store was asked %+v", store.asked[0])
	}
}

func TestSearchSaysWhatIsDegraded(t *testing.T) {
	var answer mcp.Answer
	call(t, connect(t, stage(&winds{}), mcp.Config{}), "search_passages", map[string]any{"question": "north", "k": 10}, &answer)
	codes := map[string]bool{}
	for _, r := range answer.Degraded {
		codes[r.Code] = r.Detail != ""
	}
	if !codes["no_subqueries"] || !codes["fewer_than_k"] {
		t.Errorf("degraded %v", answer.Degraded)
	}
}

func TestExplainSelection(t *testing.T) {
	var e mcp.Explanation
	call(t, connect(t, stage(&winds{}), mcp.Config{}), "explain_selection", map[string]any{
		"question": "north", "k": 3, "sub_queries": []string{"east?", "south?", "west?"},
	}, &e)
	if len(e.Steps) != 3 || len(e.SubQueries) != 3 || len(e.Demand) != len(passages) || e.Candidates != len(passages) {
		t.Fatalf("%+v", e)
	}
	total, covered := 0.0, 0
	for _, d := range e.Demand {
		total += d.Share
	}
	for _, q := range e.SubQueries {
		covered += len(q.Covered)
		if !q.Kept || q.Weight <= 0 {
			t.Errorf("sub-query %+v", q)
		}
	}
	if total < 0.999 || total > 1.001 || covered == 0 {
		t.Errorf("the demand sums to %v, %d sub-queries are covered", total, covered)
	}
	for _, s := range e.Steps {
		if s.Because == "" || s.ID == "" {
			t.Errorf("step %+v", s)
		}
	}
	if !strings.Contains(e.Summary, "3 passages of 6 candidates") {
		t.Error(e.Summary)
	}
}

// TestWrongRequests: all of them are tool errors in words, and the session lives on.
func TestWrongRequests(t *testing.T) {
	session := connect(t, stage(&winds{}), mcp.Config{Text: 100})
	for name, c := range map[string]struct {
		arguments any
		says      string
	}{
		"nothing":            {map[string]any{}, "question"},
		"no arguments":       {nil, "question"},
		"empty":              {map[string]any{"question": " \t"}, "question is empty"},
		"long":               {map[string]any{"question": strings.Repeat("n", 101)}, "question has 101 bytes"},
		"a number":           {map[string]any{"question": 7}, "question"},
		"unknown":            {map[string]any{"question": "north", "top_k": 3}, "top_k"},
		"k zero":             {map[string]any{"question": "north", "k": 0}, "k is 0, want 1 to 100"},
		"k large":            {map[string]any{"question": "north", "k": 101}, "k is 101"},
		"k a fraction":       {map[string]any{"question": "north", "k": 2.5}, "integer"},
		"k text":             {map[string]any{"question": "north", "k": "5"}, "integer"},
		"sub-query empty":    {map[string]any{"question": "north", "sub_queries": []string{"east", ""}}, "sub_queries[1] is empty"},
		"sub-query a number": {map[string]any{"question": "north", "sub_queries": []any{1}}, "sub_queries"},
		"many sub-queries":   {map[string]any{"question": "north", "sub_queries": make([]string, 65)}, "sub_queries has 65 entries"},
		"long filter":        {map[string]any{"question": "north", "filter": strings.Repeat("x", 101)}, "filter has 101 bytes"},
		"long tenant":        {map[string]any{"question": "north", "tenant": strings.Repeat("x", 101)}, "tenant has 101 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, tool := range []string{"search_passages", "explain_selection"} {
				result := call(t, session, tool, c.arguments, nil)
				if !result.IsError || !strings.Contains(words(result), c.says) {
					t.Errorf("%s: error %v: %q", tool, result.IsError, words(result))
				}
			}
		})
	}
	call(t, session, "search_passages", map[string]any{"question": "north"}, &mcp.Answer{})
}

func TestFailuresBehindAreToolErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		says string
	}{
		{fmt.Errorf("dial: %w", core.ErrUnavailable), "cannot be reached now"},
		{core.ErrEmptyScope, "give tenant"},
		{errors.New("odd"), "odd"},
	} {
		result := call(t, connect(t, stage(&winds{err: c.err}), mcp.Config{}), "search_passages", map[string]any{"question": "north"}, nil)
		if !result.IsError || !strings.Contains(words(result), c.says) {
			t.Errorf("%v: %q", c.err, words(result))
		}
	}
}

func TestDeadline(t *testing.T) {
	slow := core.Stage{Store: &winds{}, Planner: core.Planner{Embedder: compass{time.Hour}}}
	result := call(t, connect(t, slow, mcp.Config{Timeout: 20 * time.Millisecond}), "search_passages", map[string]any{"question": "north"}, nil)
	if !result.IsError || !strings.Contains(words(result), "no answer within 20ms") {
		t.Errorf("%q", words(result))
	}
}

// TestTurns: with one turn taken by a call that waits, the next one ends by its deadline and not later.
func TestTurns(t *testing.T) {
	slow := core.Stage{Store: &winds{}, Planner: core.Planner{Embedder: compass{time.Hour}}}
	session := connect(t, slow, mcp.Config{Timeout: 50 * time.Millisecond, Running: 1})
	results := make(chan *sdk.CallToolResult, 3)
	for range cap(results) {
		go func() {
			r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "search_passages", Arguments: map[string]any{"question": "north"}})
			if err != nil {
				t.Error(err)
			}
			results <- r
		}()
	}
	for range cap(results) {
		if r := <-results; r == nil || !r.IsError {
			t.Errorf("result %v", r)
		}
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []mcp.Config{{Timeout: -1}, {Running: -1}, {Text: 1}, {Message: 1}} {
		if _, err := mcp.New(stage(&winds{}), c); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	wrong := stage(&winds{})
	wrong.Settings = core.DefaultPreset()
	wrong.Settings.K = 0
	if _, err := mcp.New(wrong, mcp.Config{}); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("k = 0: %v", err)
	}
}

// TestServeEnds by itself when the context ends, though the client keeps the connection open.
func TestServeEnds(t *testing.T) {
	server, err := mcp.New(stage(&winds{}), mcp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	in, client := io.Pipe()
	defer client.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, in, io.Discard) }()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestServeRefusesLongMessages rather than holding them in memory.
func TestServeRefusesLongMessages(t *testing.T) {
	server, err := mcp.New(stage(&winds{}), mcp.Config{Message: 1 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Serve(t.Context(), strings.NewReader(strings.Repeat("x", 1<<16)), io.Discard); err == nil {
		t.Error("a line without end is no error")
	}
}
