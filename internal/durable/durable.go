// Package durable replaces files so that a crash at any moment leaves either the old content or the new, whole.
package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// WriteFile replaces the file at path with what write writes: into a temporary file beside it, which is flushed to
// the disk and then renamed. Where write or a later step fails, the old file is untouched. A symbolic link stays one:
// the file it names is replaced. A device or a pipe, such as /dev/stdout, is written to and never replaced.
func WriteFile(path string, write func(io.WriteSeeker) error) (err error) {
	path, stream, err := target(path)
	if err != nil {
		return err
	}
	if stream {
		return writeStream(path, write)
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".partial-*")
	if err != nil {
		return fmt.Errorf("internal/durable: write %s: %w", path, cause(err))
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

// Check reports whether WriteFile could write to path now, and leaves nothing behind: for a command that works long
// before it has something to write.
func Check(path string) error {
	path, stream, err := target(path)
	if err != nil || stream {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".partial-*")
	if err != nil {
		return fmt.Errorf("internal/durable: write %s: %w", path, cause(err))
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// target follows symbolic links to what path names. stream says that it is there and no regular file.
func target(path string) (real string, stream bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, false, nil
	}
	if err != nil {
		return path, false, fmt.Errorf("internal/durable: write %s: %w", path, cause(err))
	}
	if info.IsDir() {
		return path, false, fmt.Errorf("internal/durable: write %s: is a folder", path)
	}
	if !info.Mode().IsRegular() || openAlready(path) {
		return path, true, nil
	}
	if real, err = filepath.EvalSymlinks(path); err != nil {
		return path, false, fmt.Errorf("internal/durable: write %s: %w", path, cause(err))
	}
	return real, false, nil
}

// openAlready reports whether path names a file that this process has open, which others write to as well.
func openAlready(path string) bool {
	return path == "/dev/stdout" || path == "/dev/stderr" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

func writeStream(path string, write func(io.WriteSeeker) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("internal/durable: write %s: %w", path, cause(err))
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return fmt.Errorf("internal/durable: write %s: %w", path, cause(err))
	}
	return nil
}

// cause is err without the name of a file, which messages give as the caller named it.
func cause(err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
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
