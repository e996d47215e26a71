package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/internal/secret"
)

// fetch makes one request of a page's and returns the status and the body.
func fetch(t *testing.T, method, url, key, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

// TestPageTakesTheWayOfAllRequests: its files are open, its answers need the key, keep the key's tenant and are faults
// in the service's form.
func TestPageTakesTheWayOfAllRequests(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	lines := "any " + httpapi.HashKey(secret.New("any-key")) + "\nbound " + httpapi.HashKey(secret.New("bound-key")) + " tenant=acme\n"
	if err := os.WriteFile(keys, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	service := serveProcess(t, "--demo", "--set", "server.auth.keys_file="+keys)
	const question = `{"question":"Why do dams silt up?"}`
	for _, c := range []struct {
		method, path, key, body string
		status                  int
		says                    string
	}{
		{"GET", "/ui", "", "", 200, "<!doctype html>"},
		{"GET", "/ui/app.js", "", "", 200, "use strict"},
		{"GET", "/ui/absent", "", "", 404, "not_found"},
		{"GET", "/ui/api/about", "", "", 401, "unauthorized"},
		{"GET", "/ui/api/about", "any-ke", "", 401, "unauthorized"},
		{"GET", "/ui/api/about", "any-key", "", 200, `"samples"`},
		{"POST", "/ui/api/compare", "", question, 401, "unauthorized"},
		{"POST", "/ui/api/compare", "any-key", question, 200, `"selected"`},
		{"POST", "/ui/api/compare", "any-key", `{"sample":"q-dams"}`, 200, `"selected"`},
		{"POST", "/ui/api/compare", "any-key", `{"question":""}`, 400, "invalid_value"},
		{"POST", "/ui/api/compare", "any-key", `{"query":"x"}`, 400, "unknown_field"},
		{"POST", "/ui/api/compare", "any-key", `{"question":"x","k":1e309}`, 400, `"error"`},
		{"POST", "/ui/api/compare", "bound-key", `{"question":"x","tenant":"other"}`, 403, "tenant_forbidden"},
		{"GET", "/ui/api/compare", "any-key", "", 405, "method_not_allowed"},
	} {
		status, content := fetch(t, c.method, service+c.path, c.key, c.body)
		if status != c.status || !strings.Contains(content, c.says) {
			t.Errorf("%s %s with key %q, body %q: %d %.200s", c.method, c.path, c.key, c.body, status, content)
		}
	}
}

func TestPageCanBeLeftOut(t *testing.T) {
	service := serveProcess(t, "--demo", "--no-ui")
	if status, _ := fetch(t, "GET", service+"/ui", "", ""); status != 404 {
		t.Errorf("/ui: %d", status)
	}
	status, content := fetch(t, "POST", service+"/v1/select", "", `{"query":"Why do dams silt up?","k":2}`)
	var answer httpapi.SelectResponse
	if err := json.Unmarshal([]byte(content), &answer); err != nil || status != 200 || len(answer.Items) != 2 || answer.Collection != "demo" {
		t.Errorf("%d %s", status, content)
	}
}

// TestMCPSurvivesWhatIsNoMessage: lines that are not of the protocol get no answer that is not, and the end of the input
// ends the command.
func TestMCPSurvivesWhatIsNoMessage(t *testing.T) {
	for _, input := range []string{"", "hello\n", "{\"jsonrpc\":\"2.0\"}\n", "[]\n", strings.Repeat("x", 2<<20) + "\n", "\x00\xff\n"} {
		var out, complaints bytes.Buffer
		run(t.Context(), []string{"mcp", "--demo"}, streams{strings.NewReader(input), &out, &complaints})
		for line := range strings.Lines(out.String()) {
			var message struct{ JSONRPC string }
			if err := json.Unmarshal([]byte(line), &message); err != nil || message.JSONRPC != "2.0" {
				t.Errorf("%.20q is answered %q", input, line)
			}
		}
	}
}
