// Package chunk cuts documents into passages of a bounded number of tokens.
//
// A passage is an unbroken stretch of the document, so nothing inside it is reformatted. Cuts fall between blocks
// (paragraphs, lists, code fences) where that leaves a passage at least half full, else between sentences, else
// between words; a code fence is cut only where it is longer than a passage. Markdown headings become the passages'
// titles, as the path from the document's first heading down.
package chunk

import (
	"fmt"

	"github.com/georag/georag/core"
)

// Counter counts the tokens of a text as the embedding model does. It should not count fewer tokens for a text than
// for a part of it.
type Counter interface{ Count(text string) int }

// Defaults of [Config].
const (
	DefaultMaxTokens = 200
	DefaultOverlap   = 30
)

// minMaxTokens keeps room for a title and a few words.
const minMaxTokens = 16

// Config says how long passages are. Its zero value is the default.
type Config struct {
	// MaxTokens of "title. text", which is what gets embedded; 0 is 200, at least 16. Models read 256 to 8,192.
	MaxTokens int `koanf:"max_tokens"`
	// Overlap is how many tokens at the end of a passage are repeated at the start of the next one of the same
	// section, at most; nil is 30. It is below half of MaxTokens.
	Overlap *int `koanf:"overlap"`
}

func (c Config) maxTokens() int {
	if c.MaxTokens == 0 {
		return DefaultMaxTokens
	}
	return c.MaxTokens
}

func (c Config) overlap() int {
	if c.Overlap == nil {
		return min(DefaultOverlap, c.maxTokens()/4)
	}
	return *c.Overlap
}

// Validate reports a setting out of its range; the error wraps [core.ErrInvalid].
func (c Config) Validate() error {
	if c.MaxTokens != 0 && c.MaxTokens < minMaxTokens {
		return fmt.Errorf("internal/chunk: %w: max_tokens is %d, want %d or more", core.ErrInvalid, c.MaxTokens, minMaxTokens)
	}
	if o := c.overlap(); o < 0 || 2*o >= c.maxTokens() {
		return fmt.Errorf("internal/chunk: %w: overlap is %d, want 0 to below half of max_tokens = %d", core.ErrInvalid, o, c.maxTokens())
	}
	return nil
}

// Chunk is one passage of a document.
type Chunk struct {
	Title string // the document's title, or the path of Markdown headings: "Guide > Install > Linux"
	Text  string // never empty, without white space at its ends
}

// Splitter cuts documents. It is safe for concurrent use where its Counter is.
type Splitter struct {
	config  Config
	counter Counter
}

// NewSplitter returns a Splitter that counts with counter.
func NewSplitter(c Config, counter Counter) (*Splitter, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if counter == nil {
		return nil, fmt.Errorf("internal/chunk: %w: no token counter", core.ErrInvalid)
	}
	return &Splitter{config: c, counter: counter}, nil
}

// Text cuts plain text, whose paragraphs are separated by blank lines. title is that of every passage.
func (s *Splitter) Text(title, text string) []Chunk {
	return s.sections(title, []section{{blocks: paragraphs(text)}})
}

// Markdown cuts a Markdown document. title is used for what stands under no heading.
func (s *Splitter) Markdown(title, text string) []Chunk {
	return s.sections(title, markdown(text))
}
