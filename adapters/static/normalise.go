package static

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalise appends text to dst as BERT's uncased models see it: control characters dropped, white space as ' ',
// ideographs standing alone, accents stripped, lower case.
func normalise(dst []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		if text[i] >= 0x80 {
			return lowerStripped(dst, clean(nil, text))
		}
	}
	start := len(dst)
	dst = clean(dst, text)
	for i, c := range dst[start:] {
		if 'A' <= c && c <= 'Z' {
			dst[start+i] = c + 'a' - 'A'
		}
	}
	return dst
}

func clean(dst []byte, text string) []byte {
	for _, r := range text {
		switch {
		case r == 0 || r == unicode.ReplacementChar || isControl(r):
		case unicode.IsSpace(r):
			dst = append(dst, ' ')
		case isIdeograph(r):
			dst = append(dst, ' ')
			dst = append(utf8.AppendRune(dst, r), ' ')
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// lowerStripped appends text decomposed (NFD), without its non-spacing marks, in lower case.
func lowerStripped(dst, text []byte) []byte {
	for _, r := range string(norm.NFD.Bytes(text)) {
		if !unicode.Is(unicode.Mn, r) {
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
	}
	return dst
}

// isControl reports Unicode's category "other", unassigned characters included; tab and line ends are white space.
func isControl(r rune) bool {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return false
	case r < 0x80:
		return r < 0x20 || r == 0x7f
	default:
		return !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z)
	}
}

// isPunctuation counts every ASCII symbol too, as BERT does.
func isPunctuation(r rune) bool {
	if r < 0x80 {
		return '!' <= r && r <= '/' || ':' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~'
	}
	return unicode.IsPunct(r)
}

// isIdeograph reports the blocks that BERT spaces out, which leave out kana and Hangul.
func isIdeograph(r rune) bool {
	if r < 0x3400 {
		return false
	}
	for _, block := range [...][2]rune{
		{0x4E00, 0x9FFF}, {0x3400, 0x4DBF}, {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
		{0x2B740, 0x2B81F}, {0x2B820, 0x2CEAF}, {0xF900, 0xFAFF}, {0x2F800, 0x2FA1F},
	} {
		if block[0] <= r && r <= block[1] {
			return true
		}
	}
	return false
}
