package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/georag/georag/internal/modeltest"
	"github.com/georag/georag/internal/qdranttest"
)

// canary is a key that must not show in anything the program prints or writes.
const canary = "sk-canary-7d21c0"

// TestNoOutputShowsAKey runs every command with keys from a variable and from a file, against servers that take them,
// and against servers that refuse them and say them back.
func TestNoOutputShowsAKey(t *testing.T) {
	r := modeltest.New(t)
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte(canary+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"GEORAG_TEST_KEY=" + canary}
	guarded := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, req *http.Request) {
			if req.Header.Get("Authorization") != "Bearer "+canary {
				t.Errorf("%s without the key", req.URL)
			}
			next(w, req)
		}
	}
	for name, s := range map[string]servers{
		"taken":   {guarded(r.Embeddings), guarded(r.Chat), guarded(r.Scores)},
		"refused": {modeltest.EchoKey, modeltest.EchoKey, modeltest.EchoKey},
	} {
		for _, from := range []string{"api_key_env: GEORAG_TEST_KEY", fmt.Sprintf("api_key_file: %q", keyFile)} {
			config := s.keyed(t, from)
			rows := filepath.Join(t.TempDir(), "rows.json")
			question := []string{"--questions", textSubQueries(t), "--question-id", r.Asked[0].ID, "--selector", "rerank"}
			for _, args := range [][]string{
				{"config", "check", config}, // takes no --config
				{"doctor"},
				{"select", r.Asked[0].Text},
				append([]string{"select", "--json"}, question...),
				append([]string{"select", "--explain", "--strict"}, question...),
				{"eval", "--questions", textSubQueries(t), "--selectors", "rerank,georag", "--json", rows},
				{"index", "build", "--input", filepath.Join(demoData(t), "..", "README.md"), "--store", "flat:" + t.TempDir()},
			} {
				if args[0] != "config" {
					args = append(args, "--config", config)
				}
				got := georag(t, environ, args...)
				if got.code == exitUsage && args[0] != "index" { // no recording has the vectors of a file
					t.Errorf("%s, %q: %s", name, args, got)
				}
				mustNotShow(t, name, args, got.all())
			}
			if content, err := os.ReadFile(rows); name == "taken" && err != nil {
				t.Error(err)
			} else {
				mustNotShow(t, name, []string{"rows"}, string(content))
			}
		}
	}
}

// keyed is a configuration in which every model wants the key.
func (s servers) keyed(t *testing.T, from string) string {
	t.Helper()
	return configFile(t, fmt.Sprintf(`
store: {flat: {dir: %[1]q}}
embedder: {openai: {base_url: %[2]q, model: all-MiniLM-L6-v2, %[5]s}}
writer: {openai: {base_url: %[3]q, model: recorded, %[5]s}}
reranker: {base_url: %[4]q, api: tei, model: length, %[5]s}
`, demoData(t), baseURL(t, s.embeddings), baseURL(t, s.chat), baseURL(t, s.scores), from))
}

func mustNotShow(t *testing.T, name string, args []string, text string) {
	t.Helper()
	if strings.Contains(text, canary) {
		t.Errorf("%s, %q: the key shows in %s", name, args, text)
	}
}

// A key on the command line, in a URL or under a mistyped variable is refused, and not repeated.
func TestKeysAreNotArguments(t *testing.T) {
	config := servers{}.config(t, "")
	for name, c := range map[string]struct {
		environ []string
		args    []string
	}{
		"argument":    {nil, []string{"--set", "embedder.openai.api_key=" + canary}},
		"store":       {nil, []string{"--set", "store.qdrant.api_key=" + canary}},
		"flag":        {nil, []string{"--api-key", "x"}},
		"URL":         {nil, []string{"--set", "writer.openai.base_url=http://me:" + canary + "@localhost/v1"}},
		"query":       {nil, []string{"--set", "writer.openai.base_url=http://localhost/v1?key=" + canary}},
		"variable":    {[]string{"GEORAG_EMBEDDER_OPENAI_API_KEY=" + canary}, nil},
		"server's":    {nil, []string{"--store", "qdrant://me:" + canary + "@localhost:6334/docs"}},
		"server's s":  {nil, []string{"--store", "milvus://me:" + canary + "@localhost:19530/docs"}},
		"other place": {nil, []string{"--set", "embedder.openai.api_key_env=" + canary}},
	} {
		t.Run(name, func(t *testing.T) {
			got := georag(t, c.environ, append([]string{"select", "--config", config, "a question"}, c.args...)...)
			if got.code != exitUsage {
				t.Error(got)
			}
			mustNotShow(t, name, c.args, got.all())
		})
	}
}

// TestStoreKey: a Qdrant that wants a key gets it from the configuration, and the doctor tells when it is wrong.
func TestStoreKey(t *testing.T) {
	server := qdranttest.Start(t, qdranttest.Config{APIKey: canary})
	config := configFile(t, fmt.Sprintf("store: {qdrant: {addr: %q, collection: docs, id_field: id, api_key_env: GEORAG_TEST_KEY}}", server.Addr()))
	for _, c := range []struct {
		key  string
		code int
		says string
		args []string
	}{
		{canary, exitDone, "the store holds 155", []string{"index", "import", "--passages", demoData(t)}},
		{canary, exitDone, "all well", []string{"doctor"}},
		{canary + "-wrong", exitFailed, "the credentials are refused", []string{"doctor"}},
		{"", exitUsage, "GEORAG_TEST_KEY", []string{"doctor"}},
		{canary + "-wrong", exitFailed, "unauthorized", []string{"select", "--questions", demoData(t), "--question-id", "q-dams"}},
	} {
		got := georag(t, []string{"GEORAG_TEST_KEY=" + c.key}, append(c.args, "--config", config)...)
		if got.code != c.code || !strings.Contains(got.all(), c.says) {
			t.Errorf("%q: want exit code %d and %q, got %s", c.args, c.code, c.says, got)
		}
		mustNotShow(t, c.key, c.args, got.all())
	}
}
