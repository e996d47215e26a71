package rules

import (
	"strings"
	"unicode"
)

// word is a word of a question, or a punctuation mark.
type word struct {
	text, lower string
	mark        bool
	entity      int // 1 + index of the entity it belongs to, else 0
}

// split separates words from the marks around them; marks within a word (U.S., O'Neill, co-founder) stay.
func split(text string) []word {
	var words []word
	add := func(text string, mark bool) {
		if text != "" {
			words = append(words, word{text: text, lower: strings.ToLower(text), mark: mark})
		}
	}
	for _, field := range strings.Fields(text) {
		core := strings.TrimFunc(field, isMark)
		if core == "" {
			add(field, true)
			continue
		}
		before, after, _ := strings.Cut(field, core)
		add(before, true)
		owner, possessive := cutPossessive(core)
		add(owner, false)
		if possessive != "" {
			add(possessive, true) // ends an entity: "Nolan's film"
		}
		add(after, true)
	}
	return words
}

func isMark(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) }

func cutPossessive(text string) (owner, possessive string) {
	for _, suffix := range []string{"'s", "’s"} {
		if owner, ok := strings.CutSuffix(text, suffix); ok && owner != "" {
			return owner, suffix
		}
	}
	return text, ""
}

// join writes words as text, leaving out marks other than possessives at either end.
func join(words []word) string {
	var b strings.Builder
	for i, w := range words {
		possessive := w.mark && strings.HasSuffix(w.lower, "s")
		if w.mark && !possessive {
			continue
		}
		if b.Len() > 0 && !possessive {
			b.WriteByte(' ')
		}
		if possessive && (i == len(words)-1 || b.Len() == 0) {
			continue
		}
		b.WriteString(w.text)
	}
	return b.String()
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

var (
	questionWords = set("what which who whom whose where when why how whether name list")
	relativeWords = set("who whom whose which that where when")
	conjunctions  = set("and or but than versus vs nor while whereas")
	comparing     = set("and or nor than versus vs")
	determiners   = set("the a an this that these those its his her their")
	auxiliaries   = set("is are was were be been being do does did has have had can could will would shall should may might must")
	prepositions  = set("of in on at by for from to with as into about between during after before both either neither not more most less least same other also there it he she they them i you we me my your our if so such than then too very only just out up")
	// connectors may stand within a name: Bank of the West, Vincent van Gogh.
	connectors = set("of the de la le du van von der den di da el al bin ibn")
)

func functionWord(lower string) bool {
	return questionWords[lower] || relativeWords[lower] || conjunctions[lower] || determiners[lower] || auxiliaries[lower] || prepositions[lower]
}
