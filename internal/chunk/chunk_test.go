package chunk

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/georag/georag/core"
)

// words counts a token for every four bytes of a word, begun ones included.
type words struct{}

func (words) Count(text string) int {
	n := 0
	for _, word := range strings.Fields(text) {
		n += (len(word) + 3) / 4
	}
	return n
}

func splitter(t testing.TB, maxTokens, overlap int) *Splitter {
	t.Helper()
	s, err := NewSplitter(Config{MaxTokens: maxTokens, Overlap: &overlap}, words{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMarkdown(t *testing.T) {
	const document = `before any heading

# Guide

Intro one. Intro two.

## Install ##

Run:

` + "```sh\n# not a heading\n\nmake\n```" + `

### Linux
apt install

## Empty

Use
===

Last part.
- - -
* item
---
`
	got := splitter(t, 40, 0).Markdown("readme", document)
	want := []Chunk{
		{"readme", "before any heading"},
		{"Guide", "Intro one. Intro two."},
		{"Guide > Install", "Run:\n\n```sh\n# not a heading\n\nmake\n```"},
		{"Guide > Install > Linux", "apt install"},
		{"Guide", "Empty"},
		{"Use", "Last part.\n- - -\n* item\n---"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAFenceIsCutOnlyWhereItMustBe(t *testing.T) {
	code := "```\naaaa bbbb\ncccc dddd\n```" // 6 tokens
	got := splitter(t, 16, 4).Text("", "")
	if len(got) != 0 {
		t.Errorf("an empty text gives %q", got)
	}
	prose := strings.TrimSpace(strings.Repeat("word ", 12))
	chunks := splitter(t, 16, 4).Markdown("", prose+"\n\n"+code)
	want := []Chunk{{"", prose}, {"", "word word word word\n\n" + code}}
	if !slices.Equal(chunks, want) {
		t.Errorf("got  %q\nwant %q", chunks, want)
	}
	long := "```\n" + strings.Repeat("aaaa bbbb cccc\n", 10) + "```"
	for _, c := range splitter(t, 16, 4).Markdown("", long) {
		if strings.HasSuffix(c.Text, "aaaa") || strings.HasSuffix(c.Text, "bbbb") {
			t.Errorf("a long fence is cut within a line: %q", c.Text)
		}
	}
}

func TestSentencesAndOverlap(t *testing.T) {
	text := "aaaa bbbb cccc. dddd eeee ffff gggg hhhh. iiii jjjj kkkk llll. mmmm nnnn oooo pppp qqqq rrrr ssss."
	got := splitter(t, 16, 6).Text("T", text)
	want := []Chunk{
		{"T", "aaaa bbbb cccc. dddd eeee ffff gggg hhhh. iiii jjjj kkkk llll."},
		{"T", "iiii jjjj kkkk llll. mmmm nnnn oooo pppp qqqq rrrr ssss."},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestLongWords(t *testing.T) {
	word := strings.Repeat("é\u0301", 100)
	var joined strings.Builder
	for _, c := range splitter(t, 16, 0).Text("", word) {
		if !utf8.ValidString(c.Text) || strings.HasPrefix(c.Text, "\u0301") {
			t.Errorf("%q is cut within a character", c.Text)
		}
		joined.WriteString(c.Text)
	}
	if joined.String() != word {
		t.Errorf("the parts give %q", joined.String())
	}
}

func TestValidate(t *testing.T) {
	half, negative := 8, -1
	for _, c := range []Config{{MaxTokens: 15}, {MaxTokens: -1}, {MaxTokens: 16, Overlap: &half}, {Overlap: &negative}} {
		if err := c.Validate(); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
	for _, c := range []Config{{}, {MaxTokens: 16}, {MaxTokens: 1000}} {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := NewSplitter(Config{}, nil); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("without a counter: %v", err)
	}
}

// TestProperties: every word is in some passage, in order; none is above the limit; all are valid and not empty; a
// second run gives the same.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(16, 60).Draw(t, "limit")
		overlap := rapid.IntRange(0, limit/2-1).Draw(t, "overlap")
		s := &Splitter{config: Config{MaxTokens: limit, Overlap: &overlap}, counter: words{}}
		text := document(t)
		for name, split := range map[string]func(string, string) []Chunk{"text": s.Text, "markdown": s.Markdown} {
			chunks := split("title", text)
			checkLimits(t, name, chunks, limit)
			checkWords(t, name, chunks, text)
			if again := split("title", text); !slices.Equal(again, chunks) {
				t.Fatalf("%s: a second run differs", name)
			}
		}
	})
}

func document(t *rapid.T) string {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"\n", "\n\n", " ", "# ", "\n## ", "\n### h\n", "```\n", "\n~~~\n", "\n===\n", "\n---\n", "- ", ". ", "\t", "\r\n", " "}),
		rapid.StringMatching(`[a-zéß中]{1,12}[.!?]? ?`),
		rapid.StringMatching(`([a-z]{1,9} ){1,40}`),
	)
	return strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "pieces"), "")
}

func checkLimits(t *rapid.T, name string, chunks []Chunk, limit int) {
	for _, c := range chunks {
		whole := core.Candidate{Payload: map[string]any{"title": c.Title, "text": c.Text}}.PayloadText()
		if n := (words{}).Count(whole); n > limit {
			t.Fatalf("%s: %d tokens, limit %d: %q", name, n, limit, whole)
		}
		if c.Text == "" || c.Text != strings.TrimSpace(c.Text) || !utf8.ValidString(c.Text) {
			t.Fatalf("%s: text %q", name, c.Text)
		}
	}
}

func checkWords(t *rapid.T, name string, chunks []Chunk, text string) {
	var all strings.Builder
	for _, c := range chunks {
		all.WriteString(" " + c.Title + " " + c.Text)
	}
	have := map[string]bool{}
	for _, word := range strings.Fields(all.String()) {
		have[word] = true
	}
	for _, word := range strings.Fields(text) {
		if heading := strings.Trim(word, "#=-"); heading == "" {
			continue // the marks of a heading are not its text
		}
		if !have[word] {
			t.Fatalf("%s: %q is in no passage of %q: %q", name, word, text, chunks)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add("# a\n\n```\ncode\n```\n\ntext\n===\n", 16, 3)
	f.Fuzz(func(t *testing.T, text string, limit, overlap int) {
		s, err := NewSplitter(Config{MaxTokens: limit, Overlap: &overlap}, words{})
		if err != nil || !utf8.ValidString(text) {
			return
		}
		for _, c := range s.Markdown("t", text) {
			if c.Text == "" || !utf8.ValidString(c.Text) {
				t.Fatalf("%q", c.Text)
			}
		}
	})
}
