package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"
)

// maxWatched bounds a file that is watched: a larger one was named by mistake.
const maxWatched = 4 << 20

// watched is a value read from files, and read again when their content changes. Content is compared rather than
// modification times, which a replaced file may share with its predecessor.
type watched[T any] struct {
	paths []string
	parse func(contents [][]byte) (T, error)
	every time.Duration
	// failed is told why a changed file was not taken over; the former value stays.
	failed func(error)

	mu       sync.Mutex
	checked  time.Time
	contents [][]byte
	value    T
}

// open reads the files for the first time; then an error is an error.
func (w *watched[T]) open() error {
	contents, err := w.read()
	if err != nil {
		return err
	}
	w.contents, w.checked = contents, time.Now()
	w.value, err = w.parse(contents)
	return err
}

// get returns the value, of files read at most every ago.
func (w *watched[T]) get() T {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.checked) < w.every {
		return w.value
	}
	w.checked = time.Now()
	contents, err := w.read()
	if err != nil {
		w.failed(err)
		return w.value
	}
	if slices.EqualFunc(contents, w.contents, bytes.Equal) {
		return w.value
	}
	value, err := w.parse(contents)
	if err != nil {
		w.failed(err)
		return w.value
	}
	w.contents, w.value = contents, value
	return w.value
}

func (w *watched[T]) read() ([][]byte, error) {
	contents := make([][]byte, len(w.paths))
	for i, path := range w.paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		contents[i], err = io.ReadAll(io.LimitReader(f, maxWatched+1))
		f.Close()
		if err != nil {
			return nil, err
		}
		if len(contents[i]) > maxWatched {
			return nil, fmt.Errorf("%s is larger than %d bytes", path, maxWatched)
		}
	}
	return contents, nil
}
