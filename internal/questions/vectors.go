package questions

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/georag/georag/core/vec"
	"github.com/georag/georag/internal/jsonl"
	"github.com/georag/georag/internal/npy"
)

// matrix reads a file of vectors with one row group per question; nil where the file is absent.
func (r reader) matrix(name string, rank, questions int) (*npy.Matrix, error) {
	data, err := fs.ReadFile(r.fsys, path.Join(r.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.shown(name), cause(err))
	}
	m, err := npy.Parse(data, r.shown(name))
	if err != nil {
		return nil, err
	}
	shape := m.Shape()
	if len(shape) != rank {
		return nil, fmt.Errorf("%s: %w: its shape is %v, want %d axes", r.shown(name), npy.ErrFormat, shape, rank)
	}
	if shape[0] != questions {
		return nil, fmt.Errorf("%s: %w: its shape is %v and %s has %d lines", r.shown(name), npy.ErrFormat, shape, r.shown(linesFile), questions)
	}
	return m, nil
}

// vectors sets the questions' own vectors.
func (r reader) vectors(questions []Question) error {
	m, err := r.matrix(vectorsFile, 2, len(questions))
	if m == nil || err != nil {
		return err
	}
	for i := range questions {
		questions[i].Vector = m.Row(nil, i)
		if err := vec.Check(questions[i].Vector, m.Dim()); err != nil {
			return fmt.Errorf("%s: row %d, of %s:%d: %w", r.shown(vectorsFile), i, r.shown(linesFile), i+1, err)
		}
	}
	return nil
}

// subQueryVectors sets the vectors of the sub-queries.
func (r reader) subQueryVectors(questions []Question) error {
	m, err := r.matrix(subQueriesFile, 3, len(questions))
	if m == nil || err != nil {
		return err
	}
	each := m.Shape()[1]
	for i := range questions {
		q := &questions[i]
		if len(q.SubQueries) != each {
			return jsonl.Errorf(r.shown(linesFile), i+1, "it has %d sub-queries and %s has vectors for %d", len(q.SubQueries), r.shown(subQueriesFile), each)
		}
		if q.Vector != nil && len(q.Vector) != m.Dim() {
			return fmt.Errorf("%s: %w: its vectors have dimension %d, those of %s %d", r.shown(subQueriesFile), npy.ErrFormat, m.Dim(), r.shown(vectorsFile), len(q.Vector))
		}
		q.SubQueryVectors = make([][]float32, each)
		for j := range q.SubQueryVectors {
			q.SubQueryVectors[j] = m.Row(nil, i*each+j)
			if err := vec.Check(q.SubQueryVectors[j], m.Dim()); err != nil {
				return fmt.Errorf("%s: row %d, %d, of %s:%d: %w", r.shown(subQueriesFile), i, j, r.shown(linesFile), i+1, err)
			}
		}
	}
	return nil
}
