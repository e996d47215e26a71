package stress

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
)

// boilerplate is what real collections wrap around the same text.
var boilerplate = []string{
	"This page was last updated recently.",
	"All rights reserved.",
	"Read more about this topic on our website.",
	"Share this article with your friends.",
	"From the archive: the following text was published earlier.",
	"Please see the disclaimer at the end of this document.",
}

// Rewrite returns the passage's text as a near-duplicate has it: a sentence cut, the sentences in another order,
// boilerplate before or after them, or several of these. It always differs from text.
func Rewrite(text string, r *rand.Rand) string {
	sentences := Sentences(text)
	changed := false
	if len(sentences) > 2 && r.IntN(2) == 0 {
		at := r.IntN(len(sentences))
		sentences, changed = slices.Delete(sentences, at, at+1), true
	}
	if len(sentences) > 1 && r.IntN(2) == 0 {
		at := 1 + r.IntN(len(sentences)-1)
		sentences, changed = append(slices.Clone(sentences[at:]), sentences[:at]...), true
	}
	if !changed || r.IntN(2) == 0 {
		line := boilerplate[r.IntN(len(boilerplate))]
		sentences = slices.Insert(sentences, r.IntN(2)*len(sentences), line)
	}
	if rewritten := strings.Join(sentences, " "); rewritten != text {
		return rewritten
	}
	return text + " " + boilerplate[0] // turning equal sentences around changed nothing
}

// Sentences cuts a text after a full stop, question mark or exclamation mark that is followed by white space and
// does not end an initial.
func Sentences(text string) []string {
	var sentences []string
	runes := []rune(text)
	start := 0
	for i := 0; i < len(runes)-1; i++ {
		ends := strings.ContainsRune(".?!", runes[i]) && unicode.IsSpace(runes[i+1])
		initial := i >= 1 && unicode.IsUpper(runes[i-1]) && (i == 1 || !unicode.IsLetter(runes[i-2]))
		if ends && !initial {
			sentences = appendTrimmed(sentences, runes[start:i+1])
			start = i + 1
		}
	}
	return appendTrimmed(sentences, runes[start:])
}

func appendTrimmed(sentences []string, runes []rune) []string {
	if s := strings.TrimSpace(string(runes)); s != "" {
		return append(sentences, s)
	}
	return sentences
}
