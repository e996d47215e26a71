package openai

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxAnswer   = 256 << 10 // bytes of a model's answer that are looked at
	maxSubQuery = 400       // runes; what is longer is an essay, not a question
)

// ParseSubQueries finds up to n sub-queries in a model's answer, in its order, whatever its shape: JSON of any
// structure, whole or cut off, quoted lists of Python, numbered or bulleted lines, tables, tags, one question after
// another. Thinking, talk around the list, refusals and duplicates are left out. Nothing is ever added: each text is
// part of the answer. truncated says that the answer was cut off, so that its last line is used only where it is
// visibly whole. No answer is an error; one without sub-queries gives none.
func ParseSubQueries(answer string, truncated bool, n int) []string {
	text := withoutThinking(tidy(answer))
	found := candidates(text, truncated)
	var kept []string
	seen := map[string]bool{}
	for _, c := range found {
		c = bare(c)
		key := letters(c)
		if key == "" || seen[key] || utf8.RuneCountInString(c) > maxSubQuery || isTalk(c) {
			continue
		}
		seen[key] = true
		if kept = append(kept, c); len(kept) >= n {
			break
		}
	}
	return kept[:min(len(kept), max(n, 0))]
}

// candidates reads fenced blocks where there are any with something in them, and else the whole text.
func candidates(text string, truncated bool) []string {
	for _, part := range []string{fenced(text), text} {
		// JSON that breaks its own rules, as with quotes inside quotes, is read better as a list of quoted items.
		found, quoted := fromJSON(part), fromQuotedList(part)
		if len(quoted) > len(found) {
			return quoted
		}
		if len(found) > 0 || json.Valid([]byte(part)) {
			return found
		}
		if found := fromLines(withoutTags(part), truncated); len(found) > 0 {
			return found
		}
	}
	return nil
}

// tidy makes valid UTF-8 with plain line ends and without invisible characters.
func tidy(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), maxAnswer)], "")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\ufeff", "", "\u200b", "", "\u2060", "", "\x00", "").Replace(text)
	return strings.TrimSpace(text)
}

var (
	thinking   = regexp.MustCompile(`(?is)<(think|thinking|thought|reasoning|analysis)>.*?</(think|thinking|thought|reasoning|analysis)>`)
	thinkEnd   = regexp.MustCompile(`(?is)^.*</(think|thinking|thought|reasoning|analysis)>`)
	thinkStart = regexp.MustCompile(`(?is)<(think|thinking|thought|reasoning|analysis)>.*$`)
	channel    = regexp.MustCompile(`(?s)^.*<\|channel\|>final<\|message\|>`)
	special    = regexp.MustCompile(`<\|[^|>]{1,40}\|>|</s>|<(start|end)_of_turn>|\[/?INST\]`)
)

// withoutThinking drops what a reasoning model wrote for itself: tagged, with the opening tag in the prompt, or cut
// off before the end.
func withoutThinking(text string) string {
	text = thinking.ReplaceAllString(text, "\n")
	text = thinkEnd.ReplaceAllString(text, "")
	text = thinkStart.ReplaceAllString(text, "")
	text = channel.ReplaceAllString(text, "")
	return strings.TrimSpace(special.ReplaceAllString(text, "\n"))
}

var fence = regexp.MustCompile("(?s)(?:```|~~~)[a-zA-Z0-9_-]*\n?(.*?)(?:```|~~~|$)")

// fenced is the content of all fenced blocks, the last of which may be open.
func fenced(text string) string {
	var blocks []string
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, m[1])
	}
	return strings.Join(blocks, "\n")
}

var (
	page     = regexp.MustCompile(`(?i)<!doctype|<html[\s>]|<head>`)
	blockTag = regexp.MustCompile(`(?i)</?(li|ul|ol|p|br|div|tr|table|tbody|h[1-6]|pre|sub[-_]?(?:quer(?:y|ies)|questions?)|quer(?:y|ies)|questions?|q|items?|list|output|answer|response|result)(\s[^<>]*)?/?>`)
	inline   = regexp.MustCompile(`(?i)</?(span|b|i|em|strong|code|u|a|td|th|font)(\s[^<>]*)?/?>`)
)

// withoutTags turns markup into lines. A whole HTML page is a proxy's error, not an answer.
func withoutTags(text string) string {
	if page.MatchString(text) {
		return ""
	}
	text = blockTag.ReplaceAllString(text, "\n")
	return html.UnescapeString(inline.ReplaceAllString(text, ""))
}

// bare strips list marks, labels, emphasis and quotes from one sub-query.
func bare(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for {
		before := text
		text, _ = unmarked(text)
		text = strings.Trim(text, " *_`|,;\u00a0")
		text = unquoted(text)
		if text == before {
			return text
		}
	}
}

var quotes = map[rune]rune{'"': '"', '\'': '\'', '“': '”', '‘': '’', '«': '»', '「': '」', '『': '』', '„': '“'}

// unquoted drops a pair of quotes round the whole text, and not the quotes of a title at one of its ends.
func unquoted(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	last, lastSize := utf8.DecodeLastRuneInString(text)
	closing, ok := quotes[first]
	if !ok || closing != last || len(text) < size+lastSize {
		return text
	}
	inner := text[size : len(text)-lastSize]
	if strings.ContainsRune(inner, first) || strings.ContainsRune(inner, last) && first != '\'' {
		return text
	}
	return strings.TrimSpace(inner)
}

// letters is what two texts that differ in case, spaces and punctuation only have in common.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

var talk = regexp.MustCompile(`(?i)^(sure|certainly|of course|absolutely|okay|ok|great|alright)\b[,!.]|^here(’|'| i)?s?\s?(is|are)?\b.*(quer|question|list|json|:)|^(i'?m|i am|we're) (sorry|unable)|^sorry\b|^i (can'?no?t|can not|won't|apologi[sz]e)\b|^as an ai\b|^(i hope|hope|let me know|feel free|please let|these (sub|quer|question)|the (following|above) )|^(note|explanation|reasoning|output|answer|sub-?quer(y|ies)|sub-?questions?|queries|questions|json)\s*:?$`)

// remains of JSON that was cut off before its first string ended, or of its frame.
var remains = regexp.MustCompile(`^[{\[]\s*["'{\[}\]]|^"\w*"\s*:`)

// isTalk reports whether a text is said about the list, or instead of it, or is the frame round it.
func isTalk(text string) bool {
	return remains.MatchString(text) || talk.MatchString(text) || strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
}
