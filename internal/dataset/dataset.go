// Package dataset reads question answering and retrieval datasets, in the files that their publishers hand out,
// into one [Corpus], and writes it in the folder layout that the commands of georag read.
//
// A file may be compressed with gzip where its name ends in ".gz". Files are read record by record, so memory
// holds the passages and questions kept and one record, never a whole file. Every complaint names the file and
// the record.
package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/georag/georag/core"
)

// Errors of a reader.
var (
	// ErrFormat: a file is not in the layout that its publisher documents.
	ErrFormat = errors.New("malformed dataset")
	// ErrUnknown: no dataset has the given name.
	ErrUnknown = errors.New("unknown dataset")
)

// Corpus is a dataset in the one shape that everything else reads.
type Corpus struct {
	// Passages are distinct: no two share an ID, and where the dataset gives no IDs, no two share title and text.
	Passages  []Passage
	Questions []Question
	// Skipped counts the records that became no question, by the reason why.
	Skipped map[string]int
}

// Passage is one piece of text that can be retrieved.
type Passage struct {
	ID    core.ID `json:"id"` // always text
	Title string  `json:"title"`
	Text  string  `json:"text"`
}

// Question is one question and what is known about its evidence.
type Question struct {
	ID      string   `json:"id"`
	Dataset string   `json:"dataset"`
	Type    string   `json:"type"` // the dataset's own kind of question, or its split
	Text    string   `json:"question"`
	Answers []string `json:"answers"` // alternatives, any of which is right; empty where the dataset has none
	// Gold are the passages that together hold the evidence, in the dataset's order.
	Gold []core.ID `json:"gold"`
	// SubQuestions are the dataset's own decomposition of the question, written by people or its generator.
	SubQuestions []string `json:"subquestions,omitempty"`
}

// Options restrict what is read. The zero value reads everything.
type Options struct {
	// Limit ends reading after so many questions; 0 is no limit. Passages of a folder that lists them apart
	// (BEIR, FEVER) are not limited by it.
	Limit int
	// Split restricts ASQA ("train", "dev") and BEIR (the name of a file in qrels) to one split; "" is all.
	Split string
	// Pages is FEVER's folder of Wikipedia pages, "wiki-pages" where it lies beside the claims.
	Pages string
	// Distractors is how many of FEVER's pages are kept beyond those that hold evidence, the first ones; the
	// 5.4 million pages of the full dump need some 4 GB. Negative keeps all.
	Distractors int
}

// reader adds the dataset at path to the collector; it ends without error when the collector is full.
type reader func(c *collector, path string, o Options) error

var readers = []struct {
	name string
	read reader
}{
	{"hotpotqa", readHotpotQA},
	{"2wikimultihopqa", readHotpotQA},
	{"musique", readMuSiQue},
	{"nq", readDPR},
	{"triviaqa", readDPR},
	{"asqa", readASQA},
	{"fever", readFEVER},
	{"beir", readBEIR},
}

// Names lists the datasets that [Read] knows.
func Names() []string {
	names := make([]string, len(readers))
	for i, r := range readers {
		names[i] = r.name
	}
	return names
}

// Read reads the named dataset from a file, or from a folder for "beir". The error wraps [ErrUnknown] for another
// name, [ErrFormat] for a file in another layout, and the operating system's error for one that cannot be read.
func Read(name, path string, o Options) (Corpus, error) {
	for _, r := range readers {
		if r.name != name {
			continue
		}
		c := newCollector(name, o.Limit)
		if err := r.read(c, path, o); err != nil && !errors.Is(err, errFull) {
			return Corpus{}, fmt.Errorf("internal/dataset: %s: %w", name, err)
		}
		return c.finish(path)
	}
	return Corpus{}, fmt.Errorf("internal/dataset: %w %q; have %s", ErrUnknown, name, strings.Join(Names(), ", "))
}

// unique returns the values without repetition, in order of first appearance.
func unique[T comparable](values []T) []T {
	kept := make([]T, 0, len(values))
	for _, v := range values {
		if !slices.Contains(kept, v) {
			kept = append(kept, v)
		}
	}
	return kept
}
