// Package durable replaces files so that a crash at any moment leaves either the old content or the new, whole.
package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// WriteFile replaces the file at path with what write writes: into a temporary file beside it, which is flushed to
// the disk and then renamed. Where write or a later step fails, the old file is untouched.
func WriteFile(path string, write func(io.WriteSeeker) error) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".partial-*")
	if err != nil {
		return fmt.Errorf("internal/durable: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if err := errors.Join(write(file), file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("internal/durable: write %s: %w", path, err)
	}
	return Rename(file.Name(), path)
}

// Rename moves a file or folder to its final name in the same folder and makes that durable.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("internal/durable: %w", err)
	}
	return SyncDir(filepath.Dir(to))
}

// SyncDir flushes a folder's entries to the disk. Windows has no such call and needs none.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("internal/durable: %w", err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return fmt.Errorf("internal/durable: sync %s: %w", dir, err)
	}
	return nil
}
