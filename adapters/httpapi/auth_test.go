package httpapi_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/secret"
)

const (
	plainKey = "canary-key-of-nobody-in-particular"
	damsKey  = "canary-key-of-tenant-dams-0123456789"
	oldKey   = "canary-key-that-has-expired-0123456"
	newKey   = "canary-key-that-comes-later-0123456"
)

func hash(key string) string { return httpapi.HashKey(secret.New(key)) }

func writeKeys(t *testing.T, path string, lines ...string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// guarded is a service whose keys are kept in the returned file and whose store is divided by topic.
func guarded(t *testing.T) (*service, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	writeKeys(t, path, "# keys of the tests", "plain "+hash(plainKey), "", "dams "+hash(damsKey)+" tenant=dams", "old "+hash(oldKey)+" expires=2020-01-01T00:00:00Z")
	s := start(t, httpapi.Config{Auth: httpapi.AuthConfig{KeysFile: path, Reload: time.Millisecond}}, func(d *httpapi.Deps) {
		d.Stages = map[string]*core.Stage{"demo": demoStage(t, flat.Config{TenantKey: "topic"})}
	})
	return s, path
}

func TestKeys(t *testing.T) {
	s, _ := guarded(t)
	for _, c := range []struct {
		name, tenant string
		header       []string
		status       int
		code         httpapi.Code
	}{
		{"none", "dams", nil, 401, httpapi.CodeUnauthorized},
		{"wrong", "dams", []string{"Authorization", "Bearer wrong"}, 401, httpapi.CodeUnauthorized},
		{"empty", "dams", []string{"Authorization", "Bearer "}, 401, httpapi.CodeUnauthorized},
		{"scheme alone", "dams", []string{"Authorization", "Bearer"}, 401, httpapi.CodeUnauthorized},
		{"prefix", "dams", []string{"Authorization", "Bearer " + plainKey[:len(plainKey)-1]}, 401, httpapi.CodeUnauthorized},
		{"with more after it", "dams", []string{"Authorization", "Bearer " + plainKey + "x"}, 401, httpapi.CodeUnauthorized},
		{"other case", "dams", []string{"Authorization", "Bearer " + strings.ToUpper(plainKey)}, 401, httpapi.CodeUnauthorized},
		{"its hash", "dams", []string{"Authorization", "Bearer " + hash(plainKey)}, 401, httpapi.CodeUnauthorized},
		{"its name", "dams", []string{"Authorization", "Bearer plain"}, 401, httpapi.CodeUnauthorized},
		{"expired", "dams", []string{"Authorization", "Bearer " + oldKey}, 401, httpapi.CodeUnauthorized},
		{"Basic", "dams", []string{"Authorization", "Basic " + plainKey}, 401, httpapi.CodeUnauthorized},
		{"wrong beside right", "dams", []string{"Authorization", "Bearer wrong", "Api-Key", plainKey}, 401, httpapi.CodeUnauthorized},
		{"right", "dams", []string{"Authorization", "Bearer " + plainKey}, 200, ""},
		{"bearer in lower case", "dams", []string{"Authorization", "bearer " + plainKey}, 200, ""},
		{"bare", "dams", []string{"Authorization", plainKey}, 200, ""},
		{"api-key", "dams", []string{"api-key", plainKey}, 200, ""},
		{"x-api-key", "dams", []string{"x-api-key", plainKey}, 200, ""},
		{"bound to its tenant", "dams", []string{"Authorization", "Bearer " + damsKey}, 200, ""},
		{"bound, tenant left out", "", []string{"Authorization", "Bearer " + damsKey}, 200, ""},
		{"bound, other tenant", "tambora", []string{"Authorization", "Bearer " + damsKey}, 403, httpapi.CodeTenant},
		{"bound, tenant nearly the same", "dams ", []string{"Authorization", "Bearer " + damsKey}, 403, httpapi.CodeTenant},
		{"unbound, tenant left out", "", []string{"Authorization", "Bearer " + plainKey}, 400, httpapi.CodeTenantRequired},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, path := range []string{"/v1/select", "/v1/diagnose"} {
				req := question(t, 1)
				req.Tenant = c.tenant
				answer, body := s.post(t, path, req, c.header...)
				if answer.StatusCode != c.status || answer.Header.Get("Georag-Error") != string(c.code) {
					t.Fatalf("status %d %q, want %d %q: %s", answer.StatusCode, answer.Header.Get("Georag-Error"), c.status, c.code, body)
				}
				if c.status == 200 && path == "/v1/select" {
					got := decoded[httpapi.SelectResponse](t, 200, answer, body)
					for _, item := range got.Items {
						if item.Payload["topic"] != "dams" {
							t.Errorf("%v of another tenant", item.ID)
						}
					}
				}
			}
		})
	}
}

func TestKeyIsNeededEverywhereButForProbes(t *testing.T) {
	s, _ := guarded(t)
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/openapi.json": 200, "/metrics": 401, "/nowhere": 404} {
		if answer, body := s.get(t, path); answer.StatusCode != want {
			t.Errorf("%s: %d, want %d: %s", path, answer.StatusCode, want, body)
		}
	}
	for _, path := range []string{"/v1/select", "/v1/diagnose", "/rerank", "/v1/rerank", "/v2/rerank"} {
		if answer, body := s.post(t, path, `{`); answer.StatusCode != 401 || answer.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %d: %s", path, answer.StatusCode, body)
		}
	}
	if answer, _ := s.get(t, "/metrics", "Authorization", "Bearer "+plainKey); answer.StatusCode != 200 {
		t.Errorf("/metrics with a key: %d", answer.StatusCode)
	}
}

func TestKeysAreRotatedWithoutRestart(t *testing.T) {
	s, path := guarded(t)
	with := func(key string) int {
		req := question(t, 1)
		req.Tenant = "dams"
		answer, _ := s.post(t, "/v1/select", req, "Authorization", "Bearer "+key)
		return answer.StatusCode
	}
	if with(plainKey) != 200 || with(newKey) != 401 {
		t.Fatal("before")
	}
	writeKeys(t, path, "new "+hash(newKey))
	time.Sleep(5 * time.Millisecond)
	if with(plainKey) != 401 || with(newKey) != 200 {
		t.Error("the former key still works, or the new one does not")
	}
	writeKeys(t, path, "new "+hash(newKey), "broken line with the key itself "+plainKey)
	time.Sleep(5 * time.Millisecond)
	if with(newKey) != 200 || with(plainKey) != 401 {
		t.Error("a broken file took effect")
	}
	if log := s.log.String(); !strings.Contains(log, "not taken over") || strings.Contains(log, plainKey) {
		t.Error("the broken file is not told of, or with the key in it")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Millisecond)
	if with(newKey) != 200 || with("") != 401 {
		t.Error("a missing file took effect")
	}
}

func TestLogsHoldNoSecretAndNoQuestion(t *testing.T) {
	const words = "confidential-question-text"
	s, _ := guarded(t)
	for _, path := range []string{"/v1/select", "/v1/diagnose"} {
		for _, body := range []string{
			`{"query":"` + words + `","tenant":"` + words + `"}`, `{"query":"` + words + `","filter":"` + words + `"}`, `{"query":"` + words + `"`,
			`{"` + words + `":1}`, `{"vector":"` + words + `"}`, `{"query":"a","subqueries":["` + words + `"],"tenant":"dams"}`,
		} {
			s.post(t, path, body, "Authorization", "Bearer "+plainKey)
			s.post(t, path, body, "Authorization", "Bearer "+damsKey)
			s.post(t, path, body, "Authorization", "Bearer wrong-"+words)
		}
	}
	s.post(t, "/rerank", `{"query":"`+words+`","documents":["`+words+`"]}`, "Authorization", "Bearer "+plainKey)
	s.post(t, "/v1/select?tenant="+words, `{}`, "Authorization", "Bearer "+plainKey, "X-Request-Id", words+"\u00e9")
	log := s.log.String()
	for _, hidden := range []string{words, plainKey, damsKey, "wrong-", strings.TrimPrefix(hash(plainKey), "sha256:")} {
		if strings.Contains(log, hidden) {
			t.Errorf("the log shows %q:\n%s", hidden, log)
		}
	}
	if !strings.Contains(log, `"key":"plain"`) || !strings.Contains(log, `"request_id"`) || !strings.Contains(log, `"code":"unauthorized"`) {
		t.Errorf("the log does not say who asked, or what became of it:\n%s", log)
	}
	_, metrics := s.get(t, "/metrics", "Authorization", "Bearer "+plainKey)
	if strings.Contains(string(metrics), words) || strings.Contains(string(metrics), "dams") {
		t.Error("the metrics show a question or a tenant")
	}
}

func TestLogShowsQuestionsWhereAsked(t *testing.T) {
	s := start(t, httpapi.Config{Log: httpapi.LogConfig{Queries: true}}, nil)
	s.post(t, "/v1/select", `{"query":"what was asked"}`)
	if !strings.Contains(s.log.String(), "what was asked") {
		t.Errorf("%s", s.log)
	}
}

func TestBadKeysFilesAreRefusedAtTheStart(t *testing.T) {
	for name, lines := range map[string]string{
		"key in the clear": "name " + plainKey, "short hash": "name sha256:abcd", "no hash": "name", "unknown word": "name " + hash(plainKey) + " role=admin",
		"bad time": "name " + hash(plainKey) + " expires=soon", "empty tenant": "name " + hash(plainKey) + " tenant=",
	} {
		path := filepath.Join(t.TempDir(), "keys")
		writeKeys(t, path, lines)
		_, err := httpapi.New(httpapi.Config{Auth: httpapi.AuthConfig{KeysFile: path}}, httpapi.Deps{Stages: map[string]*core.Stage{"demo": demoStage(t, flat.Config{})}})
		if err == nil || strings.Contains(err.Error(), plainKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNobodyIsServedByMistake(t *testing.T) {
	for listen, ok := range map[string]bool{"127.0.0.1:0": true, "localhost:0": true, "[::1]:0": true, ":8333": false, "0.0.0.0:8333": false, "10.0.0.1:80": false, "nonsense": false} {
		if err := (httpapi.Config{Listen: listen}).Validate(); (err == nil) != ok {
			t.Errorf("%s: %v", listen, err)
		}
	}
	if err := (httpapi.Config{Listen: ":8333", Auth: httpapi.AuthConfig{Anonymous: true}}).Validate(); err != nil {
		t.Error(err)
	}
}
