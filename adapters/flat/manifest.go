package flat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/durable"
)

// The files of a folder.
const (
	manifestFile = "index.json"
	linesFile    = "passages.jsonl"
	vectorsFile  = "passages.npy"
)

const manifestVersion = 1

// errManifest is wrapped by every complaint about the content of an index.json.
var errManifest = errors.New("malformed index.json")

// manifest is index.json: what an index consists of. Replacing it is what makes a write visible.
type manifest struct {
	Version   int         `json:"version"`
	Dimension int         `json:"dimension"`
	Metric    core.Metric `json:"metric"`
	Model     string      `json:"model,omitempty"` // that made the vectors
	// Parts in the order they were written: a passage of a later part replaces one with the same ID before it.
	Parts []partFiles `json:"parts"`
	// Next numbers the next part, so that no two parts ever have the same name.
	Next int `json:"next"`
}

// write makes m the manifest of the folder at path dir, at once and durably.
func (m manifest) write(dir string) error {
	return durable.WriteFile(filepath.Join(dir, manifestFile), func(file io.WriteSeeker) error {
		encoder := json.NewEncoder(file)
		encoder.SetIndent("", "  ")
		return encoder.Encode(m)
	})
}

// partFiles is a pair of files in which row i of one belongs to line i+1 of the other.
type partFiles struct {
	Lines   string `json:"passages"`
	Vectors string `json:"vectors"`
	Rows    int    `json:"rows"`
}

// unknownRows stands for the rows of a part that only its files tell.
const unknownRows = -1

// plain is the manifest of a folder without one.
func plain() manifest {
	return manifest{Parts: []partFiles{{Lines: linesFile, Vectors: vectorsFile, Rows: unknownRows}}}
}

// readManifest returns the manifest of folder dir of fsys; ok is false where there is none.
func readManifest(fsys fs.FS, dir string) (m manifest, ok bool, err error) {
	data, err := fs.ReadFile(fsys, path.Join(dir, manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return plain(), false, nil
	}
	if err != nil {
		return m, false, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m); err != nil {
		return m, false, fmt.Errorf("%w: %w", errManifest, err)
	}
	return m, true, m.check()
}

func (m manifest) check() error {
	switch {
	case m.Version != manifestVersion:
		return fmt.Errorf("%w: its version is %d, want %d", errManifest, m.Version, manifestVersion)
	case m.Dimension < 1:
		return fmt.Errorf("%w: its dimension is %d", errManifest, m.Dimension)
	case !slices.Contains(metrics, m.Metric):
		return fmt.Errorf("%w: its metric is %q, want one of %v", errManifest, m.Metric, metrics)
	}
	for _, p := range m.Parts {
		for _, name := range []string{p.Lines, p.Vectors} {
			// A manifest names files beside it and nothing else on the machine.
			if !fs.ValidPath(name) || strings.ContainsAny(name, `/\:`) || name == "." {
				return fmt.Errorf("%w: %q is no file beside it", errManifest, name)
			}
		}
		if p.Rows < 0 {
			return fmt.Errorf("%w: %s has %d rows", errManifest, p.Lines, p.Rows)
		}
	}
	return nil
}
