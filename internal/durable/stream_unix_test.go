//go:build unix

package durable

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipeIsWrittenTo: what is no regular file is never replaced by one.
func TestPipeIsWrittenTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(path, os.O_RDWR, 0) // both ends, so that neither waits for the other
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := Check(path); err != nil {
		t.Error(err)
	}
	if err := WriteFile(path, func(w io.WriteSeeker) error { _, err := io.WriteString(w, "rows"); return err }); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := io.ReadFull(reader, got); err != nil || string(got) != "rows" {
		t.Errorf("the pipe holds %q, error %v", got, err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is now %v, error %v", info, err)
	}
}
