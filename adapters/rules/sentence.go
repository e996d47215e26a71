package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentence is a question with the spans of the entities it names.
type sentence struct {
	words    []word
	entities []span
}

// span is words[from:to].
type span struct{ from, to int }

func parse(question string) sentence {
	s := sentence{words: split(question)}
	for at := 0; at < len(s.words); {
		to := s.quoted(at)
		from := at + 1
		if to == 0 {
			from, to = at, s.named(at)
		}
		if to == 0 {
			at++
			continue
		}
		s.entities = append(s.entities, span{from, to})
		for i := from; i < to; i++ {
			s.words[i].entity = len(s.entities)
		}
		at = to
	}
	return s
}

// quoted returns the end of the quotation that opens at word at, 0 where none does.
func (s sentence) quoted(at int) int {
	if !s.words[at].mark || !strings.ContainsAny(s.words[at].text, `"“”`) {
		return 0
	}
	for to := at + 1; to < len(s.words); to++ {
		if s.words[to].mark && strings.ContainsAny(s.words[to].text, `"“”`) {
			if to > at+1 {
				return to
			}
			return 0
		}
	}
	return 0
}

// named returns the end of the name that starts at word at, 0 where none does: capitalised words and numbers, with
// connectors between them.
func (s sentence) named(at int) int {
	if !s.capitalised(at) {
		return 0
	}
	end := at + 1
	for i := end; i < len(s.words) && !s.words[i].mark; i++ {
		if s.capitalised(i) || startsWithDigit(s.words[i].text) {
			end = i + 1
		} else if !connectors[s.words[i].lower] {
			break
		}
	}
	return end
}

// capitalised reports a word with a capital that the start of a sentence does not explain.
func (s sentence) capitalised(i int) bool {
	w := s.words[i]
	first, _ := utf8.DecodeRuneInString(w.text)
	if w.mark || !unicode.IsUpper(first) {
		return false
	}
	return !functionWord(w.lower) || i > 0 && !s.words[i-1].mark && len(w.text) > 1
}

func startsWithDigit(text string) bool { return text[0] >= '0' && text[0] <= '9' }

// boundary reports marks that separate clauses, outside names.
func (s sentence) boundary(i int) bool {
	w := s.words[i]
	return w.mark && w.entity == 0 && strings.ContainsAny(w.text, ",;:—–()?!.")
}

// clauseEnd is the first boundary from word i on.
func (s sentence) clauseEnd(i int) int {
	for i < len(s.words) && !s.boundary(i) {
		i++
	}
	return i
}

// phraseStart goes back from word i over the noun phrase before it: to after a determiner, a function word or a mark.
func (s sentence) phraseStart(i int) int {
	const longest = 4
	from := i
	for from > 0 && (i-from < longest || s.words[from-1].entity != 0) {
		w := s.words[from-1]
		if w.entity == 0 && (w.mark || functionWord(w.lower)) {
			break
		}
		from--
	}
	return from
}

// relatives are the parts that describe something by more words: "the president who signed the act", "the director
// of the film".
func (s sentence) relatives() (texts []string) {
	for i := 1; i < len(s.words); i++ {
		w := s.words[i]
		if w.entity != 0 || !(relativeWords[w.lower] || w.lower == "of" || w.lower == "by" || w.lower == "in") {
			continue
		}
		if from := s.phraseStart(i); from < i {
			texts = append(texts, join(trim(s.words[from:s.clauseEnd(i)])))
		}
	}
	return texts
}

// clauses are the parts between commas, conjunctions and relative words, where they say enough.
func (s sentence) clauses() (texts []string) {
	const least = 2 // content words
	from := 0
	for i := 0; i <= len(s.words); i++ {
		if i < len(s.words) && !s.boundary(i) && (s.words[i].entity != 0 || !(conjunctions[s.words[i].lower] || i > from && relativeWords[s.words[i].lower])) {
			continue
		}
		if part := s.words[from:i]; len(strings.Fields(contentKey(join(part), true))) >= least {
			texts = append(texts, join(trim(part)))
		}
		from = i
		if i < len(s.words) && (s.words[i].mark || conjunctions[s.words[i].lower]) {
			from = i + 1
		}
	}
	return texts
}

// trim leaves out function words at either end, which ask for something that is elsewhere in the question.
func trim(words []word) []word {
	idle := func(w word) bool { return w.mark || w.entity == 0 && functionWord(w.lower) }
	for len(words) > 0 && idle(words[0]) {
		words = words[1:]
	}
	for len(words) > 0 && idle(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	return words
}

// comparisons ask of each of two or more things named side by side ("X or Y", "both X and Y") what the question asks
// of all of them.
func (s sentence) comparisons() (texts []string) {
	var sides []span
	for e := 1; e < len(s.entities); e++ {
		between := s.words[s.entities[e-1].to:s.entities[e].from]
		joined := slices.ContainsFunc(between, func(w word) bool { return comparing[w.lower] })
		bare := !slices.ContainsFunc(between, func(w word) bool { return !w.mark && !functionWord(w.lower) })
		if joined && bare {
			if len(sides) == 0 || sides[len(sides)-1] != s.entities[e-1] {
				sides = append(sides, s.entities[e-1])
			}
			sides = append(sides, s.entities[e])
		}
	}
	for _, side := range sides {
		rest := s.contentOutside(func(w word) bool {
			return slices.ContainsFunc(sides, func(o span) bool { return w.entity == s.words[o.from].entity })
		})
		if len(rest) > 0 {
			texts = append(texts, join(s.words[side.from:side.to])+" "+strings.Join(rest, " "))
		}
	}
	return texts
}

// aboutEntities pair each name with the content words outside all names.
func (s sentence) aboutEntities() (texts []string) {
	rest := s.contentOutside(func(w word) bool { return w.entity != 0 })
	if len(rest) == 0 {
		return nil
	}
	for _, e := range s.entities {
		texts = append(texts, join(s.words[e.from:e.to])+" "+strings.Join(rest, " "))
	}
	return texts
}

func (s sentence) entityTexts() (texts []string) {
	for _, e := range s.entities {
		texts = append(texts, join(s.words[e.from:e.to]))
	}
	return texts
}

// keywords are the content words outside all names.
func (s sentence) keywords() string {
	return strings.Join(s.contentOutside(func(w word) bool { return w.entity != 0 }), " ")
}

// contentOutside lists the content words that leave does not name.
func (s sentence) contentOutside(leave func(word) bool) (texts []string) {
	for _, w := range s.words {
		if !w.mark && !leave(w) && (w.entity != 0 || !functionWord(w.lower)) {
			texts = append(texts, w.text)
		}
	}
	return texts
}
