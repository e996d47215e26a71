package static

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func open(t testing.TB) *Embedder {
	t.Helper()
	e, err := NewEmbedder()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestTokensMatchTheRealTokenizer compares with what the model's own tokenizer made of the same texts.
func TestTokensMatchTheRealTokenizer(t *testing.T) {
	data, err := os.ReadFile("testdata/tokens.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Text   string   `json:"text"`
		Tokens []string `json:"tokens"`
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 40 {
		t.Fatalf("%d cases", len(cases))
	}
	tokenizer := open(t).Tokenizer()
	for _, c := range cases {
		if got := tokenizer.Tokens(c.Text); !slices.Equal(got, c.Tokens) {
			t.Errorf("%q:\n got %q\nwant %q", c.Text, got, c.Tokens)
		}
		if got := tokenizer.Count(c.Text); got != len(c.Tokens) {
			t.Errorf("%q: count %d, want %d", c.Text, got, len(c.Tokens))
		}
	}
}

// TestTokensOfAnything: tokens of words stand for themselves, whatever surrounds them.
func TestTokensOfAnything(t *testing.T) {
	tokenizer := open(t).Tokenizer()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		joined := slices.Concat(tokenizer.Tokens(a), tokenizer.Tokens(b))
		if got := tokenizer.Tokens(a + " " + b); !slices.Equal(got, joined) {
			t.Fatalf("%q + %q: %q, want %q", a, b, got, joined)
		}
	})
}

func FuzzTokens(f *testing.F) {
	f.Add("The “naïve” 北京 café\xff\xfe \u0301")
	tokenizer := open(f).Tokenizer()
	f.Fuzz(func(t *testing.T, text string) {
		for _, token := range tokenizer.Tokens(text) {
			if token == "" || !utf8.ValidString(token) || strings.ContainsAny(token, " \t\n") {
				t.Fatalf("%q: token %q", text, token)
			}
		}
	})
}
