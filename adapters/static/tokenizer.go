package static

import (
	"iter"
	"unicode/utf8"
)

// maxWord is the length in characters above which a word is one unknown token, as in BERT.
const maxWord = 100

// unknownToken stands for a word that the vocabulary cannot spell.
const unknownToken = "[UNK]"

// Tokenizer splits text into WordPiece tokens as uncased BERT models do, without [CLS], [SEP] and padding. The names
// of such special tokens in a text are ordinary text: a question is data. It is safe for concurrent use.
type Tokenizer struct {
	rows    map[string]int32 // token → row; continuations start with "##"
	tokens  []string
	unknown int32
}

// newTokenizer reads a vocabulary whose row is the position; it must hold [UNK].
func newTokenizer(tokens []string) (*Tokenizer, bool) {
	t := &Tokenizer{rows: make(map[string]int32, len(tokens)), tokens: tokens}
	for row, token := range tokens {
		t.rows[token] = int32(row)
	}
	var ok bool
	t.unknown, ok = t.rows[unknownToken]
	return t, ok && len(t.rows) == len(tokens)
}

// Tokens returns the tokens of text as strings of the vocabulary.
func (t *Tokenizer) Tokens(text string) []string {
	rows := t.appendRows(nil, text)
	tokens := make([]string, len(rows))
	for i, row := range rows {
		tokens[i] = t.tokens[row]
	}
	return tokens
}

// Count returns how many tokens text has.
func (t *Tokenizer) Count(text string) int { return len(t.appendRows(nil, text)) }

// appendRows appends the table row of each token of text.
func (t *Tokenizer) appendRows(dst []int32, text string) []int32 {
	key := make([]byte, 0, 64)
	for word := range words(normalise(make([]byte, 0, len(text)), text)) {
		dst = t.appendPieces(dst, word, key)
	}
	return dst
}

// appendPieces spells one word by the longest piece that fits, again and again; a word that cannot be spelt to its
// end is unknown as a whole. key is scratch space.
func (t *Tokenizer) appendPieces(dst []int32, word, key []byte) []int32 {
	if utf8.RuneCount(word) > maxWord {
		return append(dst, t.unknown)
	}
	start := len(dst)
	for from := 0; from < len(word); {
		key = key[:0]
		if from > 0 {
			key = append(key, "##"...)
		}
		prefix := len(key)
		key = append(key, word[from:]...)
		row, found := int32(0), false
		for len(key) > prefix {
			if row, found = t.rows[string(key)]; found {
				break
			}
			_, size := utf8.DecodeLastRune(key)
			key = key[:len(key)-size]
		}
		if !found {
			return append(dst[:start], t.unknown)
		}
		dst = append(dst, row)
		from += len(key) - prefix
	}
	return dst
}

// words yields the words of normalised text: runs between white space, and each punctuation mark alone.
func words(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		start := 0
		for at := 0; at < len(text); {
			r, size := utf8.DecodeRune(text[at:])
			if r != ' ' && !isPunctuation(r) {
				at += size
				continue
			}
			if start < at && !yield(text[start:at]) {
				return
			}
			if r != ' ' && !yield(text[at:at+size]) {
				return
			}
			at += size
			start = at
		}
		if start < len(text) {
			yield(text[start:])
		}
	}
}
