package openai

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	bullet   = regexp.MustCompile(`^(?:[-*•‣◦▪●○–—+·]|\[[ xX]?\])\s+`)
	number   = regexp.MustCompile(`^[\(\[（]?(?:\d{1,3}|[①-⑳]|[一二三四五六七八九十]{1,3})(?:\s?[.):\]）、．：]+|\s-\s|\b\*\*[.:)])|^[①-⑳]`)
	lettered = regexp.MustCompile(`^(?:\(?[a-z]\)|[ivx]{1,4}[.)])\s+`)
	label    = regexp.MustCompile(`(?i)^(?:sub[-_ ]?(?:quer(?:y|ies)|questions?)|quer(?:y|ies)|questions?|search|step|q|frage|pregunta|вопрос|问题)\s?(?:#?\d{1,3})?\s?(?:[.):\]：]|-\s)\s*|^q\d{1,3}\s`)
	rule     = regexp.MustCompile(`^[\s|:=_*-]*$`)
)

// unmarked strips one list mark or label from the start of a line and reports whether there was one.
func unmarked(line string) (string, bool) {
	line = strings.TrimSpace(line)
	// "**1. Who?**" and "**Query 1:** who?" carry the mark inside the emphasis.
	plain := strings.TrimLeft(line, "*_`#> ")
	if m := bullet.FindString(line); m != "" {
		return strings.TrimSpace(line[len(m):]), true
	}
	if m := number.FindString(plain); m != "" {
		// "3.5 million people" is a number, not the third item.
		rest := plain[len(m):]
		if next, _ := utf8.DecodeRuneInString(rest); !unicode.IsDigit(next) {
			return strings.TrimSpace(rest), true
		}
		return line, false
	}
	for _, mark := range []*regexp.Regexp{lettered, label} {
		if m := mark.FindString(plain); m != "" && len(m) < len(plain) {
			return strings.TrimSpace(strings.TrimLeft(plain[len(m):], "*_")), true
		}
	}
	return line, false
}

// fromLines reads one sub-query a line. Where lines carry list marks, only those count: the others introduce or close
// the list.
func fromLines(text string, truncated bool) []string {
	lines := strings.Split(text, "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return rule.MatchString(line) || strings.HasPrefix(line, "#") && !isQuestion(line)
	})
	if len(lines) == 0 {
		return nil
	}
	if truncated && !strings.HasSuffix(text, "\n") && !isQuestion(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 1 {
		lines = split(lines[0])
	}
	var marked, all []string
	for _, line := range lines {
		line = cell(line)
		stripped, ok := unmarked(line)
		if ok {
			marked = append(marked, stripped)
		}
		all = append(all, stripped)
	}
	if len(marked) >= 2 {
		return marked
	}
	return withoutFrame(all)
}

// isQuestion reports whether a line ends as a question does, in any script, quotes and emphasis aside.
func isQuestion(line string) bool {
	line = strings.TrimRight(line, " \t*_`\"'”’»」,;|")
	return strings.HasSuffix(line, "?") || strings.HasSuffix(line, "？") || strings.HasSuffix(line, "؟")
}

// withoutFrame drops a first and a last line that are no questions where all lines between them are.
func withoutFrame(lines []string) []string {
	questions := 0
	for _, line := range lines {
		if isQuestion(line) {
			questions++
		}
	}
	if questions < 2 || len(lines)-questions > 2 {
		return lines
	}
	if !isQuestion(lines[0]) && len(lines)-questions < len(lines)/2+1 {
		lines = lines[1:]
	}
	if !isQuestion(lines[len(lines)-1]) && questions == len(lines)-1 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// cell returns the longest cell of a table's row, and other lines as they are.
func cell(line string) string {
	if !strings.HasPrefix(strings.TrimSpace(line), "|") {
		return line
	}
	return slices.MaxFunc(strings.Split(line, "|"), func(a, b string) int { return utf8.RuneCountInString(a) - utf8.RuneCountInString(b) })
}

var (
	inlineNumber = regexp.MustCompile(`\s+(\(?\d{1,2}[.)]\s)`)
	questionEnd  = regexp.MustCompile(`([?？؟]["”’»」]?)(\s+|,\s*)|([？؟])`)
)

// split takes apart a single line that holds several sub-queries.
func split(line string) []string {
	if _, ok := unmarked(line); ok && inlineNumber.MatchString(line) {
		return strings.Split(inlineNumber.ReplaceAllString(line, "\n$1"), "\n")
	}
	if parts := strings.Split(strings.TrimSpace(questionEnd.ReplaceAllString(line, "$1$3\n")), "\n"); len(parts) > 1 {
		return slices.DeleteFunc(parts, func(part string) bool { return letters(part) == "" })
	}
	if strings.Count(line, ";") >= 2 {
		return strings.Split(line, ";")
	}
	return []string{line}
}
