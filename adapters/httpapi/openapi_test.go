package httpapi_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/strictjson"
)

// description is the part of an OpenAPI document that these tests read.
type description struct {
	Paths map[string]map[string]struct {
		RequestBody struct {
			Content map[string]struct {
				Schema   struct{ Ref string } `json:"schema"`
				Examples map[string]struct{ Value json.RawMessage }
			}
		}
		Responses map[string]struct {
			Content map[string]struct{ Example json.RawMessage }
		}
	}
	Components struct {
		Schemas map[string]struct {
			Properties map[string]struct {
				Enum []string
			}
		}
	}
}

// describe returns the published description, and a compiler for the schemas in it.
func describe(t *testing.T, s *service) (description, *schemas) {
	t.Helper()
	_, raw := s.get(t, "/openapi.json")
	var d description
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	c := &schemas{compiler: jsonschema.NewCompiler()}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := c.compiler.AddResource("openapi.json", instance(t, raw)); err != nil {
		t.Fatal(err)
	}
	return d, c
}

// schemas are those of an OpenAPI document, by JSON pointer.
type schemas struct{ compiler *jsonschema.Compiler }

// check holds a JSON text against the schema at a path into the document.
func (c *schemas) check(t *testing.T, body []byte, path ...string) error {
	t.Helper()
	pointer := "openapi.json#"
	for _, part := range path {
		pointer += "/" + url.PathEscape(strings.ReplaceAll(strings.ReplaceAll(part, "~", "~0"), "/", "~1"))
	}
	schema, err := c.compiler.Compile(pointer)
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(instance(t, body))
}

func instance(t *testing.T, raw []byte) any {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%v: %.200s", err, raw)
	}
	return value
}

// TestOpenAPIIsValid holds the description against the schema of OpenAPI 3.1 that spec.openapis.org publishes.
func TestOpenAPIIsValid(t *testing.T) {
	s := start(t, httpapi.Config{}, nil)
	raw, err := os.ReadFile("testdata/openapi-3.1-schema.json")
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("https://spec.openapis.org/oas/3.1/schema/2022-10-07", instance(t, raw)); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("https://spec.openapis.org/oas/3.1/schema/2022-10-07")
	if err != nil {
		t.Fatal(err)
	}
	_, published := s.get(t, "/openapi.json")
	if err := schema.Validate(instance(t, published)); err != nil {
		t.Error(err)
	}
	if err := schema.Validate(instance(t, []byte(`{"openapi":"3.1.0","info":{"title":"x"}}`))); err == nil {
		t.Error("a description without version and paths is accepted")
	}
}

// described names the schema of every type that is sent or received.
var described = map[string]any{
	"SelectRequest": httpapi.SelectRequest{}, "SubQueryObject": httpapi.SubQuery{}, "Given": httpapi.Given{}, "SelectResponse": httpapi.SelectResponse{},
	"Selected": core.Selected{}, "Reason": core.Reason{}, "Timings": core.Timings{}, "Call": core.Call{}, "Trace": core.Trace{}, "ModelNames": core.ModelNames{},
	"SubQueryTrace": core.SubQueryTrace{}, "DemandShare": core.DemandShare{}, "StepTrace": core.StepTrace{}, "FilterTrace": core.FilterTrace{}, "FilterLook": core.FilterLook{},
	"DiagnoseResponse": httpapi.DiagnoseResponse{}, "Diagnosis": httpapi.Diagnosis{}, "DiagnosedSubQuery": httpapi.DiagnosedSubQuery{},
	"RerankRequest": httpapi.RerankRequest{}, "DocumentObject": httpapi.Document{}, "RankedDocument": httpapi.RankedDocument{}, "RankedSource": httpapi.RankedSource{},
	"CohereResponse": httpapi.CohereResponse{}, "CohereMeta": httpapi.CohereMeta{}, "CohereVersion": httpapi.CohereVersion{}, "CohereUnits": httpapi.CohereUnits{},
	"JinaResponse": httpapi.JinaResponse{}, "JinaUsage": httpapi.JinaUsage{}, "TEIRank": httpapi.TEIRank{},
	"ErrorBody": httpapi.ErrorBody{}, "ErrorDetail": httpapi.ErrorDetail{}, "RerankError": httpapi.RerankError{}, "TEIError": httpapi.TEIError{}, "Health": httpapi.Health{},
}

func TestOpenAPIDescribesEveryField(t *testing.T) {
	d, _ := describe(t, start(t, httpapi.Config{}, nil))
	for name, value := range described {
		want := strictjson.Fields(reflect.TypeOf(value))
		got := slices.Sorted(maps.Keys(d.Components.Schemas[name].Properties))
		if !slices.Equal(got, want) {
			t.Errorf("%s describes %q, the type has %q", name, got, want)
		}
	}
	for name, schema := range d.Components.Schemas {
		if _, ok := described[name]; !ok && len(schema.Properties) > 0 {
			t.Errorf("schema %s describes no type", name)
		}
	}
}

func TestOpenAPIListsEveryCode(t *testing.T) {
	d, _ := describe(t, start(t, httpapi.Config{}, nil))
	var want []string
	for _, file := range []string{"fault.go", "../../internal/strictjson/strictjson.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if kind, typed := typeOf(spec, ok); typed && kind == "Code" {
				text, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				want = append(want, text)
			}
			return true
		})
	}
	slices.Sort(want)
	want = slices.Compact(want)
	got := slices.Sorted(slices.Values(d.Components.Schemas["ErrorDetail"].Properties["code"].Enum))
	if !slices.Equal(got, want) || len(want) < 20 {
		t.Errorf("described %q\nin the code %q", got, want)
	}
}

func typeOf(spec *ast.ValueSpec, ok bool) (string, bool) {
	if !ok {
		return "", false
	}
	name, ok := spec.Type.(*ast.Ident)
	if !ok {
		return "", false
	}
	return name.Name, true
}

func TestOpenAPIListsEveryRoute(t *testing.T) {
	s := start(t, httpapi.Config{}, nil)
	d, _ := describe(t, s)
	var described []string
	for path, methods := range d.Paths {
		for method := range methods {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	served := httpapi.OwnPatterns(s.Server)
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("described %q\nserved %q", described, served)
	}
}

func TestOpenAPIExamplesValidate(t *testing.T) {
	d, c := describe(t, start(t, httpapi.Config{}, nil))
	count := 0
	for path, methods := range d.Paths {
		for method, operation := range methods {
			for name, example := range operation.RequestBody.Content["application/json"].Examples {
				count++
				if err := c.check(t, example.Value, append(requestSchema(path), "schema")...); err != nil {
					t.Errorf("%s %s, example %s: %v", method, path, name, err)
				}
			}
			for status, response := range operation.Responses {
				if example := response.Content["application/json"].Example; example != nil {
					count++
					if err := c.check(t, example, answerSchema(method, path, status)...); err != nil {
						t.Errorf("%s %s, %s: %v", method, path, status, err)
					}
				}
			}
		}
	}
	if count < 20 {
		t.Errorf("only %d examples", count)
	}
}

func requestSchema(path string) []string {
	return []string{"paths", path, "post", "requestBody", "content", "application/json"}
}

func answerSchema(method, path, status string) []string {
	return []string{"paths", path, method, "responses", status, "content", "application/json", "schema"}
}

// TestAnswersAreAsDescribed holds real requests and answers, faults included, against the description.
func TestAnswersAreAsDescribed(t *testing.T) {
	s := start(t, httpapi.Config{}, nil)
	_, c := describe(t, s)
	explained := question(t, 0)
	explained.Explain = true
	filtered := explained
	filtered.CandidateFilter, filtered.SubQueries = "ricci", nil
	encode := func(value any) string {
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, e := range []struct {
		path, body string
		wrong      bool // the request does not fit the description either
	}{
		{"/v1/select", encode(explained), false}, {"/v1/select", encode(filtered), false}, {"/v1/select", encode(question(t, 1)), false},
		{"/v1/diagnose", encode(question(t, 2)), false},
		{"/rerank", `{"query":"a","documents":["b","c"]}`, false}, {"/v2/rerank", `{"query":"a","documents":["b",{"text":"c"}],"top_n":1}`, false},
		{"/v1/rerank", `{"query":"a","texts":["b","c"],"return_text":true}`, false},
		{"/v1/select", `{"querry":1}`, true}, {"/v1/select", `{"query":"a","k":0}`, true}, {"/v1/diagnose", `{"query":"a","preset":"x"}`, true},
		{"/v1/select", `{"query":"a","subqueries":[{"a":1}]}`, true}, {"/rerank", `{"query":"a"}`, true}, {"/v1/rerank", `{"query":"a","texts":[]}`, true},
		{"/v1/select", `{"vector":[1,2,3]}`, false},
	} {
		if err := c.check(t, []byte(e.body), append(requestSchema(e.path), "schema")...); (err != nil) != e.wrong {
			t.Errorf("%s %.80s: by the description %v", e.path, e.body, err)
		}
		answer, body := s.post(t, e.path, e.body)
		if err := c.check(t, body, answerSchema("post", e.path, strconv.Itoa(answer.StatusCode))...); err != nil {
			t.Errorf("%s %.80s: the answer %.300s: %v", e.path, e.body, body, err)
		}
		if e.wrong && answer.StatusCode == http.StatusOK {
			t.Errorf("%s %.80s was answered", e.path, e.body)
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		answer, body := s.get(t, path)
		if err := c.check(t, body, answerSchema("get", path, strconv.Itoa(answer.StatusCode))...); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
