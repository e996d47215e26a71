// Package bench measures the whole retrieval stage on real questions, and lends the comparison with other libraries
// (peers.py) its half. The benchmarks of single parts lie beside the parts.
package bench

import (
	"fmt"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/demo"
	"github.com/georag/georag/internal/questions"
	"github.com/georag/georag/internal/shareddata"
)

// sharedCorpus holds 9,002 passages and 140 questions; the demonstration's 155 and 12 stand in where it is absent.
const sharedCorpus = "data/wiki-multihop"

// Corpus is an index with its questions.
type Corpus struct {
	Name      string
	Store     *flat.Store
	Questions []questions.Question
}

// OpenCorpus opens the corpus of real questions beside the repository, or where there is none the demonstration's.
func OpenCorpus() (c Corpus, err error) {
	if dir, ok := shareddata.Find(sharedCorpus); ok {
		c.Name = "wiki-multihop"
		if c.Store, err = flat.Open(flat.Config{Dir: dir}); err == nil {
			c.Questions, err = questions.Open(dir)
		}
	} else {
		c.Name = "demo"
		if c.Store, err = flat.OpenFS(demo.Files, "data", flat.Config{}); err == nil {
			c.Questions, err = questions.OpenFS(demo.Files, "data")
		}
	}
	if err != nil {
		return c, fmt.Errorf("bench: open the %s corpus: %w", c.Name, err)
	}
	return c, nil
}
