// Package shareddata finds the data that lies beside the repository rather than in it (the 140 real questions and
// the golden answers), for tests only. A test that needs absent data skips loudly.
package shareddata

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Shared returns the path of the named file or folder of the shared data, which is looked for in $GEORAG_SHARED
// and then in a folder `shared` beside any parent of the working directory. Where it is absent the test is
// skipped with a line that says so.
func Shared(t testing.TB, name string) string {
	t.Helper()
	path, ok := Find(name)
	if !ok {
		t.Skipf("SKIPPED: shared data %q not found; set GEORAG_SHARED to the folder that holds it", name)
	}
	return path
}

// ReadJSON decodes the named file of the shared data into target, or skips the test as [Shared] does.
func ReadJSON(t testing.TB, name string, target any) {
	t.Helper()
	data, err := os.ReadFile(Shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, target); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// Find is [Shared] without a test to skip: ok is false where the data is absent.
func Find(name string) (path string, ok bool) {
	if root := os.Getenv("GEORAG_SHARED"); root != "" {
		return existing(filepath.Join(root, name))
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", false
	}
	for {
		if path, ok := existing(filepath.Join(dir, "shared", name)); ok {
			return path, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

func existing(path string) (string, bool) {
	_, err := os.Stat(path)
	return path, err == nil
}
