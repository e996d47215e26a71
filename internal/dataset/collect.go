package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/georag/georag/core"
)

// errFull ends reading when the wanted number of questions is reached.
var errFull = errors.New("full")

// collector puts a corpus together and keeps its passages and question IDs distinct.
type collector struct {
	dataset   string
	limit     int
	corpus    Corpus
	passage   map[core.ID]int // row in corpus.Passages
	questions map[string]bool
}

func newCollector(dataset string, limit int) *collector {
	return &collector{
		dataset: dataset, limit: limit,
		corpus:  Corpus{Skipped: map[string]int{}},
		passage: map[core.ID]int{}, questions: map[string]bool{},
	}
}

// text adds a passage that the dataset gives no ID. Its ID is a hash of title and text, so that the same passage
// has the same ID in every question, file and subset.
func (c *collector) text(title, text string) core.ID {
	sum := sha256.Sum256([]byte(title + "\x00" + text))
	id := core.StringID(hex.EncodeToString(sum[:8]))
	if _, known := c.passage[id]; !known {
		c.keep(Passage{ID: id, Title: title, Text: text})
	}
	return id
}

// add adds a passage under the dataset's own ID. The same ID with another text is an error.
func (c *collector) add(p Passage) error {
	if p.ID == core.StringID("") {
		return fmt.Errorf("%w: a passage has an empty id", ErrFormat)
	}
	if row, known := c.passage[p.ID]; known {
		if c.corpus.Passages[row] != p {
			return fmt.Errorf("%w: passage %s appears twice with different texts", ErrFormat, p.ID)
		}
		return nil
	}
	c.keep(p)
	return nil
}

func (c *collector) keep(p Passage) {
	c.passage[p.ID] = len(c.corpus.Passages)
	c.corpus.Passages = append(c.corpus.Passages, p)
}

// ask adds a question; the error is errFull where it was the last one wanted.
func (c *collector) ask(q Question) error {
	switch {
	case q.ID == "":
		return fmt.Errorf("%w: a question has no id", ErrFormat)
	case q.Text == "":
		return fmt.Errorf("%w: question %s has no text", ErrFormat, q.ID)
	case c.questions[q.ID]:
		return fmt.Errorf("%w: question %s appears twice", ErrFormat, q.ID)
	}
	q.Dataset = c.dataset
	q.Answers, q.Gold = unique(q.Answers), unique(q.Gold)
	c.questions[q.ID] = true
	c.corpus.Questions = append(c.corpus.Questions, q)
	if len(c.corpus.Questions) == c.limit {
		return errFull
	}
	return nil
}

// skip counts a record that becomes no question.
func (c *collector) skip(reason string) { c.corpus.Skipped[reason]++ }

func (c *collector) finish(path string) (Corpus, error) {
	if len(c.corpus.Questions) == 0 {
		return Corpus{}, fmt.Errorf("internal/dataset: %s: %s: %w: no usable question (skipped: %v)", c.dataset, path, ErrFormat, c.corpus.Skipped)
	}
	return c.corpus, nil
}
