package measure

import (
	"strings"
	"unicode"
)

// NormaliseAnswer makes answers comparable as the evaluation script of SQuAD does (Rajpurkar et al. 2016): lower
// case, no punctuation, no English articles, single spaces. Punctuation is that of ASCII, symbols included, and, as in
// the script of MLQA (Lewis et al. 2020), whatever Unicode calls punctuation, so that ’ and – count as ' and - do.
func NormaliseAnswer(answer string) string {
	answer = strings.Map(func(r rune) rune {
		if isPunctuation(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, answer)
	return strings.Join(strings.Fields(withoutArticles(answer)), " ")
}

func isPunctuation(r rune) bool {
	return unicode.IsPunct(r) || (r < unicode.MaxASCII && unicode.IsSymbol(r))
}

// withoutArticles replaces every whole word that is an article by a space.
func withoutArticles(text string) string {
	var kept strings.Builder
	for len(text) > 0 {
		end := strings.IndexFunc(text, func(r rune) bool { return !isWord(r) })
		if end < 0 {
			end = len(text)
		}
		switch word := text[:end]; word {
		case "a", "an", "the":
			kept.WriteByte(' ')
		default:
			kept.WriteString(word)
		}
		text = text[end:]
		next := strings.IndexFunc(text, isWord)
		if next < 0 {
			next = len(text)
		}
		kept.WriteString(text[:next])
		text = text[next:]
	}
	return kept.String()
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// ExactMatch returns 1 when the normalised answer equals one of the normalised gold answers, else 0.
func ExactMatch(answer string, golds []string) float64 {
	answer = NormaliseAnswer(answer)
	for _, gold := range golds {
		if NormaliseAnswer(gold) == answer {
			return 1
		}
	}
	return 0
}

// F1 returns the harmonic mean of precision and recall of the normalised answer's words, in [0, 1], against the gold
// answer for which it is largest. Words count as often as they occur. Where either side has no words, it is 1 when
// both have none, else 0 (SQuAD 2.0).
func F1(answer string, golds []string) float64 {
	best := 0.0
	for _, gold := range golds {
		best = max(best, wordF1(strings.Fields(NormaliseAnswer(answer)), strings.Fields(NormaliseAnswer(gold))))
	}
	return best
}

func wordF1(answer, gold []string) float64 {
	if len(answer) == 0 || len(gold) == 0 {
		if len(answer) == len(gold) {
			return 1
		}
		return 0
	}
	left := make(map[string]int, len(gold))
	for _, word := range gold {
		left[word]++
	}
	common := 0
	for _, word := range answer {
		if left[word] > 0 {
			left[word]--
			common++
		}
	}
	return 2 * float64(common) / float64(len(answer)+len(gold))
}
