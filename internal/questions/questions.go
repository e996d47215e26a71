// Package questions reads evaluation questions with their gold passages, sub-queries and vectors.
//
// A folder holds
//
//   - questions.jsonl: one object a line with "id", "question", and optionally "dataset", "type", "answers", "gold"
//     (IDs of the passages that answer it) and "subqueries";
//   - questions.npy: N × d, row i is the vector of line i+1; may be absent;
//   - subqueries.npy: N × m × d, the vectors of the sub-queries in order; may be absent.
//
// What does not fit together is an error that names file and line; it wraps [jsonl.ErrFormat] or [npy.ErrFormat].
package questions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/jsonl"
)

// The files of a folder.
const (
	linesFile      = "questions.jsonl"
	vectorsFile    = "questions.npy"
	subQueriesFile = "subqueries.npy"
)

// Question is one question and what is known of its answer.
type Question struct {
	ID, Dataset, Type, Text string
	Answers                 []string
	Gold                    []core.ID
	SubQueries              []string
	Vector                  []float32   // length d; nil where there is no questions.npy
	SubQueryVectors         [][]float32 // m × d, one per sub-query; nil where there is no subqueries.npy
}

// Query is the question as a stage takes it: without vectors it needs the stage's embedder.
func (q Question) Query() core.Query {
	query := core.Query{Text: q.Text, Vector: q.Vector}
	for j, text := range q.SubQueries {
		s := core.SubQuery{Text: text}
		if q.SubQueryVectors != nil {
			s.Vector = q.SubQueryVectors[j]
		}
		query.SubQueries = append(query.SubQueries, s)
	}
	return query
}

// Open reads the folder dir.
func Open(dir string) ([]Question, error) {
	return open(os.DirFS(dir), ".", func(name string) string { return filepath.Join(dir, name) })
}

// OpenFS reads the folder dir of fsys.
func OpenFS(fsys fs.FS, dir string) ([]Question, error) {
	return open(fsys, dir, func(name string) string { return path.Join(dir, name) })
}

// open reads the folder dir of fsys; shown turns a file's name into what messages call it.
func open(fsys fs.FS, dir string, shown func(string) string) ([]Question, error) {
	read := reader{fsys: fsys, dir: dir, shown: shown}
	questions, err := read.lines()
	if err == nil {
		err = read.vectors(questions)
	}
	if err == nil {
		err = read.subQueryVectors(questions)
	}
	if err != nil {
		return nil, fmt.Errorf("internal/questions: %w", err)
	}
	return questions, nil
}

type reader struct {
	fsys  fs.FS
	dir   string
	shown func(name string) string
}

// cause is err without the file's name as the file system knows it, which messages show otherwise.
func cause(err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}

// lines reads the texts.
func (r reader) lines() ([]Question, error) {
	file, err := r.fsys.Open(path.Join(r.dir, linesFile))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.shown(linesFile), cause(err))
	}
	defer file.Close()
	var questions []Question
	line := make(map[string]int) // where each ID was seen
	err = jsonl.Each(file, r.shown(linesFile), func(l jsonl.Line) error {
		q, err := parse(l.Data)
		if err == nil && line[q.ID] > 0 {
			err = fmt.Errorf("id %q is already on line %d", q.ID, line[q.ID])
		}
		if err != nil {
			return jsonl.Errorf(r.shown(linesFile), l.Number, "%w", err)
		}
		line[q.ID] = l.Number
		questions = append(questions, q)
		return nil
	})
	if err == nil && len(questions) == 0 {
		err = jsonl.Errorf(r.shown(linesFile), 1, "the file is empty")
	}
	return questions, err
}
