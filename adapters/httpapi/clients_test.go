package httpapi_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/georag/georag/adapters/httpapi"
)

// TestOfficialCohereClient runs Cohere's Python client in the interpreter that GEORAG_TEST_COHERE_PYTHON names, one
// of a virtual environment after `pip install cohere`.
func TestOfficialCohereClient(t *testing.T) {
	python := os.Getenv("GEORAG_TEST_COHERE_PYTHON")
	if python == "" {
		t.Skip("SKIPPED: GEORAG_TEST_COHERE_PYTHON names no Python interpreter that has the package cohere")
	}
	path := filepath.Join(t.TempDir(), "keys")
	writeKeys(t, path, "me "+hash(plainKey))
	s := start(t, httpapi.Config{Auth: httpapi.AuthConfig{KeysFile: path}, Timeouts: httpapi.Timeouts{Request: 10 * time.Second}}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := exec.CommandContext(ctx, python, filepath.Join("testdata", "cohere_client.py"), s.url, plainKey)
	client.Stderr = os.Stderr
	out, err := client.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		All, First, Objects [][2]float64
		Text                string
		Units               float64
		Refused             map[string]int
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	decreasing := slices.IsSortedFunc(got.All, func(a, b [2]float64) int {
		if a[1] > b[1] {
			return -1
		}
		return 1
	})
	if len(got.All) != 3 || !decreasing || len(got.First) != 1 || got.First[0] != got.All[0] || len(got.Objects) != 2 || got.Text == "" || got.Units != 1 {
		t.Errorf("%s", out)
	}
	if got.Refused["empty"] != 400 || got.Refused["key"] != 401 {
		t.Errorf("refused %v", got.Refused)
	}
}
