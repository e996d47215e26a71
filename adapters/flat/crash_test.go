package flat

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/georag/georag/core"
)

// crashVariable names the folder that a copy of the test binary loads until it is killed.
const crashVariable = "GEORAG_FLAT_TEST_CRASH_DIR"

const (
	crashPassages  = 40
	crashDimension = 24
)

// TestKilledLoaderLeavesAWholeIndex kills a loading process at random moments. Each of its Upserts replaces every
// passage, so an index of two Upserts, or of a half, would show.
func TestKilledLoaderLeavesAWholeIndex(t *testing.T) {
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(1, 1))
	last := int64(0)
	for range 20 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), crashVariable+"="+dir)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		waitForProgress(t, dir, last)
		time.Sleep(time.Duration(rng.IntN(12_000)) * time.Microsecond)
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // "signal: killed"
		version := checkWhole(t, dir)
		if version <= last {
			t.Fatalf("version %d after version %d: nothing was kept", version, last)
		}
		last = version
	}
	t.Logf("%d upserts survived 20 kills", last)
}

// waitForProgress waits until a new version is visible, which also reads the index while it is being written.
func waitForProgress(t *testing.T, dir string, last int64) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if s, err := Open(Config{Dir: dir}); err == nil {
			empty := len(s.rowOf) == 0
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if !empty && checkWhole(t, dir) > last {
				return
			}
		} else if last > 0 {
			t.Fatalf("the index cannot be opened while it is being written: %v", err)
		}
	}
	t.Fatal("the loading process made no progress")
}

// checkWhole requires every passage in one and the same version, which it returns.
func checkWhole(t *testing.T, dir string) int64 {
	t.Helper()
	s := mustOpen(t, Config{Dir: dir})
	defer s.Close()
	versions := make(map[int64]int)
	err := s.Scan(t.Context(), core.Scope{}, 0, func(c core.Candidate) bool {
		version := c.Payload["version"].(int64)
		if c.Vector[0] != float32(version) {
			t.Errorf("passage %v: its payload is of version %d and its vector of %v", c.ID, version, c.Vector[0])
		}
		versions[version]++
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for version, n := range versions {
		if n == crashPassages {
			return version
		}
	}
	t.Fatalf("passages of versions %v", versions)
	return 0
}

// loadForever is the loading process: it goes on from where the last one was killed.
func loadForever() {
	err := func() error {
		loader, err := NewLoader(Config{Dir: os.Getenv(crashVariable)})
		if err != nil {
			return err
		}
		if err := loader.Create(context.Background(), core.CollectionSpec{Dimension: crashDimension}); err != nil {
			return err
		}
		version := int64(1)
		if n, err := loader.Count(context.Background()); err != nil || n > 0 {
			if err != nil || n != crashPassages {
				return fmt.Errorf("%d passages, error %w", n, err)
			}
			version = 1 + loader.lastVersion()
		}
		for ; ; version++ {
			if err := loader.Upsert(context.Background(), passagesOfVersion(version)); err != nil {
				return err
			}
		}
	}()
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func (l *Loader) lastVersion() int64 {
	s, err := Open(l.cfg)
	if err != nil {
		return 0
	}
	defer s.Close()
	found, err := s.Fetch(context.Background(), core.FetchRequest{IDs: []core.ID{core.IntID(0)}})
	if err != nil || len(found) != 1 {
		return 0
	}
	version, _ := found[0].Payload["version"].(int64)
	return version
}

func passagesOfVersion(version int64) []core.Candidate {
	passages := make([]core.Candidate, crashPassages)
	for i := range passages {
		v := make([]float32, crashDimension)
		v[0], v[1] = float32(version), float32(i+1)
		passages[i] = core.Candidate{ID: core.IntID(int64(i)), Vector: v, Payload: map[string]any{"version": version}}
	}
	return passages
}
