package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write := func(text string, failure error) error {
		return WriteFile(path, func(w io.WriteSeeker) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, failure)
		})
	}
	if err := write("old", nil); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := write("half of the ne", broken); !errors.Is(err, broken) {
		t.Fatalf("error is %v, want %v", err, broken)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("after a failed write the file holds %q, want %q", got, "old")
	}
	if err := write("new", nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "new" {
		t.Errorf("file holds %q, want %q", got, "new")
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("%d files are left, want 1", len(entries))
	}
}

func TestWriteFileIntoMissingFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "file")
	for name, err := range map[string]error{
		"WriteFile": WriteFile(path, func(io.WriteSeeker) error { return nil }), "Check": Check(path),
	} {
		if !errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "partial") {
			t.Errorf("%s: error is %v, want %v without the name of a temporary file", name, err, os.ErrNotExist)
		}
	}
}

func TestCheckLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := Check(filepath.Join(dir, "file")); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("%d files are left, want none", len(entries))
	}
	for name, err := range map[string]error{
		"Check": Check(dir), "WriteFile": WriteFile(dir, func(io.WriteSeeker) error { return nil }),
	} {
		if err == nil || !strings.Contains(err.Error(), "is a folder") {
			t.Errorf("%s of a folder: error is %v", name, err)
		}
	}
}

// TestSymbolicLinkStays: the file that a link names is replaced, not the link.
func TestSymbolicLinkStays(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("old"), 0o600), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, func(w io.WriteSeeker) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, error %v", info, err)
	}
	if got, _ := os.ReadFile(file); string(got) != "new" {
		t.Errorf("file holds %q, want %q", got, "new")
	}
}
