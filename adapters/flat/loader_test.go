package flat

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/georag/georag/core"
)

func mustLoad(t *testing.T, cfg Config) *Loader {
	t.Helper()
	l, err := NewLoader(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustCreate(t *testing.T, l *Loader, dim int) {
	t.Helper()
	if err := l.Create(t.Context(), core.CollectionSpec{Dimension: dim}); err != nil {
		t.Fatal(err)
	}
}

func mustUpsert(t *testing.T, l *Loader, passages ...core.Candidate) {
	t.Helper()
	if err := l.Upsert(t.Context(), passages); err != nil {
		t.Fatal(err)
	}
}

// numbered is passage i in the given version.
func numbered(i, version int) core.Candidate {
	return core.Candidate{ID: core.IntID(int64(i)), Vector: []float32{float32(i + 1), float32(version), 1}, Payload: map[string]any{"v": int64(version)}}
}

// TestManyBatchesLieInFewParts makes 150 upserts of 100 passages.
func TestManyBatchesLieInFewParts(t *testing.T) {
	dir := t.TempDir()
	l := mustLoad(t, Config{Dir: dir})
	mustCreate(t, l, 3)
	for i := range 150 {
		mustUpsert(t, l, numbered(i%100, i/100))
	}
	if n := len(l.manifest.Parts); n > mergeAt*4 {
		t.Errorf("150 upserts lie in %d parts", n)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1+2*len(l.manifest.Parts) {
		t.Errorf("%d files of %d parts, error %v", len(entries), len(l.manifest.Parts), err)
	}
	s := mustOpen(t, Config{Dir: dir})
	defer s.Close()
	seen := 0
	err = s.Scan(t.Context(), core.Scope{}, 0, func(c core.Candidate) bool {
		i, _ := c.ID.Int()
		want := map[bool]int64{true: 1, false: 0}[i < 50]
		if c.Payload["v"] != want || c.Vector[1] != float32(want) {
			t.Errorf("passage %d is of version %v, want %d", i, c.Payload["v"], want)
		}
		seen++
		return true
	})
	if err != nil || seen != 100 {
		t.Errorf("%d passages, error %v", seen, err)
	}
}

// TestHandMadeFolderIsContinued: its own files stay as they are.
func TestHandMadeFolderIsContinued(t *testing.T) {
	dir := folderOf(t, map[string][]byte{linesFile: []byte("{\"id\":1,\"t\":\"a\"}\n{\"id\":2,\"t\":\"b\"}\n"), vectorsFile: matrix(2, 3)})
	l := mustLoad(t, Config{Dir: dir})
	if err := l.Create(t.Context(), core.CollectionSpec{Dimension: 4}); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("create with another dimension: %v", err)
	}
	mustCreate(t, l, 3)
	mustUpsert(t, l, core.Candidate{ID: core.IntID(2), Vector: []float32{9, 9, 9}, Payload: map[string]any{"t": "new"}}, numbered(3, 0))
	if n, err := mustLoad(t, Config{Dir: dir}).Count(t.Context()); n != 3 || err != nil {
		t.Errorf("a new loader counts %d, error %v", n, err)
	}
	s := mustOpen(t, Config{Dir: dir})
	defer s.Close()
	found, err := s.Fetch(t.Context(), core.FetchRequest{IDs: []core.ID{core.IntID(1), core.IntID(2)}})
	if err != nil || len(found) != 2 || found[0].Payload["t"] != "a" || found[1].Payload["t"] != "new" || found[1].Vector[0] != 9 {
		t.Errorf("fetched %v, error %v", found, err)
	}
	if lines, err := os.ReadFile(filepath.Join(dir, linesFile)); err != nil || !strings.Contains(string(lines), `"b"`) {
		t.Errorf("the folder's own passages are now %q, error %v", lines, err)
	}
}

// TestOpenStoreKeepsItsSnapshot while a loader replaces and merges the parts it reads.
func TestOpenStoreKeepsItsSnapshot(t *testing.T) {
	dir := t.TempDir()
	l := mustLoad(t, Config{Dir: dir})
	mustCreate(t, l, 3)
	mustUpsert(t, l, numbered(0, 0))
	s := mustOpen(t, Config{Dir: dir})
	defer s.Close()
	for version := range 20 {
		mustUpsert(t, l, numbered(0, version+1))
	}
	found, err := s.Fetch(t.Context(), core.FetchRequest{IDs: []core.ID{core.IntID(0)}})
	if err != nil || len(found) != 1 || found[0].Payload["v"] != int64(0) {
		t.Errorf("fetched %v, error %v", found, err)
	}
}

// TestFailedStepLeavesTheOldIndex makes each step of an Upsert fail in turn, by a folder where its file should be.
func TestFailedStepLeavesTheOldIndex(t *testing.T) {
	for _, step := range []string{"passages-000002.jsonl", "passages-000002.npy", manifestFile} {
		t.Run(step, func(t *testing.T) {
			dir := t.TempDir()
			l := mustLoad(t, Config{Dir: dir})
			mustCreate(t, l, 3)
			mustUpsert(t, l, numbered(0, 1))
			obstacle := filepath.Join(dir, step)
			kept, _ := os.ReadFile(obstacle)
			if err := errors.Join(os.RemoveAll(obstacle), os.MkdirAll(filepath.Join(obstacle, "x"), 0o755)); err != nil {
				t.Fatal(err)
			}
			if err := l.Upsert(t.Context(), []core.Candidate{numbered(0, 2), numbered(1, 2)}); err == nil {
				t.Fatal("the step did not fail")
			}
			if err := os.RemoveAll(obstacle); err != nil {
				t.Fatal(err)
			}
			if kept != nil {
				if err := os.WriteFile(obstacle, kept, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			checkVersion(t, dir, 1, 1)
			mustUpsert(t, l, numbered(0, 3), numbered(1, 3))
			checkVersion(t, dir, 2, 3)
		})
	}
}

func checkVersion(t *testing.T, dir string, passages int, version int64) {
	t.Helper()
	s := mustOpen(t, Config{Dir: dir})
	defer s.Close()
	if len(s.rowOf) != passages {
		t.Errorf("%d passages, want %d", len(s.rowOf), passages)
	}
	err := s.Scan(t.Context(), core.Scope{}, 0, func(c core.Candidate) bool {
		if c.Payload["v"] != version {
			t.Errorf("passage %v is of version %v, want %d", c.ID, c.Payload["v"], version)
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
}

// TestRemainsOfACrashAreRemoved, and files of others are not.
func TestRemainsOfACrashAreRemoved(t *testing.T) {
	dir := t.TempDir()
	l := mustLoad(t, Config{Dir: dir})
	mustCreate(t, l, 3)
	remains := []string{"passages-000007.jsonl", "passages-000007.npy", "passages-000001.npy.partial-123", "index.json.partial-9"}
	others := []string{"passages.jsonl", "notes.txt", "passages-7.jsonl", "passages-000001.npy.bak"}
	for _, name := range slices.Concat(remains, others) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mustUpsert(t, l, numbered(0, 0))
	for i, name := range slices.Concat(remains, others) {
		_, err := os.Stat(filepath.Join(dir, name))
		if removed, want := errors.Is(err, os.ErrNotExist), i < len(remains); removed != want {
			t.Errorf("%s removed: %v, want %v", name, removed, want)
		}
	}
}

func TestSecondLoaderIsNoticed(t *testing.T) {
	dir := t.TempDir()
	first, second := mustLoad(t, Config{Dir: dir}), mustLoad(t, Config{Dir: dir})
	mustCreate(t, first, 3)
	if err := second.Create(t.Context(), core.CollectionSpec{Dimension: 5}); !errors.Is(err, core.ErrUnavailable) {
		t.Errorf("second create: %v", err)
	}
	second = mustLoad(t, Config{Dir: dir})
	mustUpsert(t, first, numbered(0, 0))
	if err := second.Upsert(t.Context(), []core.Candidate{numbered(1, 0)}); !errors.Is(err, core.ErrUnavailable) {
		t.Errorf("second upsert: %v", err)
	}
	checkVersion(t, dir, 1, 0)
}

func TestWhatCannotBeReadBackIsRefused(t *testing.T) {
	dir := t.TempDir()
	l := mustLoad(t, Config{Dir: dir, Metric: core.MetricCosine})
	if err := l.Upsert(t.Context(), []core.Candidate{numbered(0, 0)}); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("upsert before create: %v", err)
	}
	if _, err := l.Count(t.Context()); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("count before create: %v", err)
	}
	for _, spec := range []core.CollectionSpec{{}, {Dimension: 3, Metric: core.MetricDot}, {Dimension: 3, Metric: "hamming"}} {
		if err := l.Create(t.Context(), spec); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("create of %+v: %v", spec, err)
		}
	}
	mustCreate(t, l, 3)
	if l.manifest.Metric != core.MetricCosine {
		t.Errorf("metric is %s", l.manifest.Metric)
	}
	good := numbered(0, 0)
	for name, change := range map[string]func(*core.Candidate){
		"empty id":         func(c *core.Candidate) { c.ID = core.StringID("") },
		"id not UTF-8":     func(c *core.Candidate) { c.ID = core.StringID("\xff") },
		"payload has id":   func(c *core.Candidate) { c.Payload = map[string]any{"id": 1} },
		"payload of a NaN": func(c *core.Candidate) { c.Payload = map[string]any{"x": math.NaN()} },
		"long payload":     func(c *core.Candidate) { c.Payload = map[string]any{"x": strings.Repeat("x", 17<<20)} },
	} {
		bad := good
		change(&bad)
		if err := l.Upsert(t.Context(), []core.Candidate{numbered(1, 0), bad}); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, err := l.Count(t.Context()); n != 0 || err != nil {
		t.Errorf("%d passages after refusals, error %v", n, err)
	}
	mustUpsert(t, l, core.Candidate{ID: core.StringID("<&>"), Vector: good.Vector})
	checkRoundTrip(t, dir)
}

// checkRoundTrip reads back an ID without a payload and with characters that HTML escapes.
func checkRoundTrip(t *testing.T, dir string) {
	t.Helper()
	s := mustOpen(t, Config{Dir: dir})
	defer s.Close()
	found, err := s.Fetch(t.Context(), core.FetchRequest{IDs: []core.ID{core.StringID("<&>")}})
	if err != nil || len(found) != 1 || len(found[0].Payload) != 0 {
		t.Errorf("fetched %v, error %v", found, err)
	}
}

func TestNumbersInPayloads(t *testing.T) {
	_, got := payloadOf([]byte(`{"id":1,"i":-9223372036854775808,"u":18446744073709551615,"big":123456789012345678901234567890,"f":1.0,"e":1e3}`))
	want := map[string]any{"i": int64(math.MinInt64), "u": uint64(math.MaxUint64), "big": json.Number("123456789012345678901234567890"), "f": 1.0, "e": 1000.0}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s is %v, want %v", name, fmt.Sprintf("%T %v", got[name], got[name]), w)
		}
	}
}
