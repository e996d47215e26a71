package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cut is how good a place is to end a passage, better ones higher.
type cut uint8

const (
	cutRunes    cut = iota // within a word longer than a passage
	cutWord                // between words
	cutLine                // between lines of code
	cutSentence            // after a sentence or a line of text
	cutBlock               // between blocks
)

// atom is a word with the white space after it: the unit that passages are packed from.
type atom struct {
	text   string
	tokens int
	after  cut // the quality of a cut after it
	fence  int // 1 + number of the block it belongs to where that is code, else 0
}

// pack cuts the blocks of one section.
func (s *Splitter) pack(title string, blocks []block) []Chunk {
	budget := s.config.maxTokens()
	if title != "" {
		budget -= s.counter.Count(title + ".")
	}
	p := packer{atoms: s.atoms(blocks, budget), budget: budget, overlap: s.config.overlap(), counter: s.counter}
	var chunks []Chunk
	for from, done := 0, 0; done < len(p.atoms); {
		if from < done && !p.repeats(from, done) {
			from = done
		}
		end := p.end(from, done)
		chunks = append(chunks, Chunk{Title: title, Text: p.text(from, end)})
		from, done = p.repeatFrom(from, end), end
	}
	return chunks
}

type packer struct {
	atoms           []atom
	budget, overlap int
	counter         Counter
}

func (p *packer) text(from, end int) string {
	var b strings.Builder
	for _, a := range p.atoms[from:end] {
		b.WriteString(a.text)
	}
	return strings.TrimSpace(b.String())
}

// repeats reports whether atoms from to done can be repeated: not where they leave no room for the next one, nor where
// a fence would fit without them.
func (p *packer) repeats(from, done int) bool {
	return p.counter.Count(p.text(from, done+1)) <= p.budget && !p.splitsFence(p.end(from, done))
}

// end returns where the passage that starts at atom from ends; it is above done, so that every passage brings
// something new.
func (p *packer) end(from, done int) int {
	most, tokens := from, 0
	for most < len(p.atoms) && (most <= done || tokens+p.atoms[most].tokens <= p.budget) {
		tokens += p.atoms[most].tokens
		most++
	}
	for most > done+1 && p.counter.Count(p.text(from, most)) > p.budget { // tokens need not add up
		most--
	}
	if most == len(p.atoms) {
		return most
	}
	if before := p.fenceStart(most); before > done {
		return before
	}
	best := most
	filled := 0
	for i := from; i < most; i++ {
		filled += p.atoms[i].tokens
		if i >= done && 2*filled >= p.budget && p.atoms[i].after >= p.atoms[best-1].after {
			best = i + 1
		}
	}
	return best
}

// splitsFence reports whether a cut before atom at is within a code fence.
func (p *packer) splitsFence(at int) bool {
	return at < len(p.atoms) && p.atoms[at].fence != 0 && p.atoms[at-1].fence == p.atoms[at].fence
}

// fenceStart is the first atom of the fence that a cut before atom at would split, 0 where it splits none.
func (p *packer) fenceStart(at int) int {
	if !p.splitsFence(at) {
		return 0
	}
	start := at
	for start > 0 && p.atoms[start-1].fence == p.atoms[at].fence {
		start--
	}
	return start
}

// repeatFrom is where the passage after the one from from to end starts: at a sentence within the overlap where
// there is one, else at a word. Code is not repeated.
func (p *packer) repeatFrom(from, end int) int {
	start, best, tokens := end, end, 0
	for start > from+1 && p.atoms[start-1].fence == 0 && tokens+p.atoms[start-1].tokens <= p.overlap {
		start--
		tokens += p.atoms[start].tokens
		if p.atoms[start-1].after >= cutSentence {
			best = start
		}
	}
	if best < end {
		return best
	}
	return start
}

// atoms splits blocks into words of at most budget tokens.
func (s *Splitter) atoms(blocks []block, budget int) []atom {
	var atoms []atom
	for number, b := range blocks {
		fence := 0
		if b.code {
			fence = number + 1
		}
		for rest := b.text; rest != ""; {
			word, space := nextWord(rest)
			rest = rest[len(word)+len(space):]
			for _, part := range s.parts(word, budget) {
				atoms = append(atoms, atom{text: part, tokens: s.counter.Count(part), after: cutRunes, fence: fence})
			}
			last := &atoms[len(atoms)-1]
			last.text += space
			last.after = cutAfter(word, space, b.code)
		}
		last := &atoms[len(atoms)-1]
		last.text = strings.TrimRightFunc(last.text, unicode.IsSpace) + "\n\n"
		last.after = cutBlock
	}
	return atoms
}

// nextWord returns the first word of text, with the white space before it, and the white space after it.
func nextWord(text string) (word, space string) {
	start := len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
	length := strings.IndexFunc(text[start:], unicode.IsSpace)
	if length < 0 {
		return text, ""
	}
	word, rest := text[:start+length], text[start+length:]
	return word, rest[:len(rest)-len(strings.TrimLeftFunc(rest, unicode.IsSpace))]
}

func cutAfter(word, space string, code bool) cut {
	lineEnd := strings.Contains(space, "\n")
	switch {
	case code && lineEnd:
		return cutLine
	case code:
		return cutWord
	case strings.ContainsRune(".!?。！？…", lastMark(word)):
		return cutSentence
	default:
		return cutWord
	}
}

// lastMark is the last character of a word before closing quotes and brackets.
func lastMark(word string) rune {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(word, `"')]}”’»*_`))
	return r
}

// parts cuts a word longer than budget tokens between characters, marks staying with what they mark.
func (s *Splitter) parts(word string, budget int) []string {
	var parts []string
	for s.counter.Count(word) > budget {
		var ends []int // of characters
		for i, r := range word {
			if i > 0 && !unicode.Is(unicode.M, r) && r != '\u200d' {
				ends = append(ends, i)
			}
		}
		end, found := 0, false
		for low, high := 0, len(ends); low < high; {
			if middle := (low + high) / 2; s.counter.Count(word[:ends[middle]]) <= budget {
				end, found, low = ends[middle], true, middle+1
			} else {
				high = middle
			}
		}
		if !found {
			break // one character above the budget: nothing to cut
		}
		parts, word = append(parts, word[:end]), word[end:]
	}
	return append(parts, word)
}
