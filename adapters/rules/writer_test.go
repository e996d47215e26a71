package rules

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSubQueries(t *testing.T) {
	for _, c := range []struct {
		question string
		want     []string // the first ones, in order
	}{
		{"Are Christopher Nolan and Sathish Kalathil both film directors?",
			[]string{"Christopher Nolan film directors", "Sathish Kalathil film directors", "Christopher Nolan"}},
		{"Who was born first, Marie Curie or Ada Lovelace?",
			[]string{"Marie Curie born first", "Ada Lovelace born first", "born first", "Marie Curie", "Ada Lovelace"}},
		{"Which university did the president who signed the Voting Rights Act of 1965 attend?",
			[]string{"president who signed the Voting Rights Act of 1965 attend", "university did the president", "signed the Voting Rights Act of 1965 attend"}},
		{"What is the birthplace of the director of “Polish-Russian War”?",
			[]string{"birthplace of the director of Polish-Russian War", "director of Polish-Russian War"}},
		{"When did the Admiral Twin open in the city where the Philbrook Museum is located?",
			[]string{"Admiral Twin open in the city where the Philbrook Museum is located", "city where the Philbrook Museum is located", "Admiral Twin open in the city"}},
		{"Where was Christopher Nolan's father born?",
			[]string{"Christopher Nolan's father born", "Christopher Nolan", "father born"}},
		{"How do dams affect fish, and what do they give to farmers downstream?",
			[]string{"dams affect fish", "give to farmers downstream"}},
		{"Penicillin", []string{}},
		{"", []string{}},
		{"?!…", []string{}},
		{"\"\" “”", []string{}},
	} {
		got := subQueries(c.question, 20)
		if len(got) < len(c.want) || !slices.Equal(got[:len(c.want)], c.want) {
			t.Errorf("%s\n got %q\nwant %q", c.question, got, c.want)
		}
	}
}

func TestWriter(t *testing.T) {
	w := Writer{}
	if !strings.HasPrefix(w.Model(), "rule") {
		t.Errorf("model %q does not say that it is a rule", w.Model())
	}
	written, err := w.WriteSubQueries(t.Context(), "Who was born first, Marie Curie or Ada Lovelace?", 2)
	if err != nil || len(written.Texts) != 2 || written.Degraded != "" {
		t.Errorf("written %+v, error %v", written, err)
	}
	written, err = w.WriteSubQueries(t.Context(), "Penicillin", 20)
	if err != nil || written.Degraded == "" {
		t.Errorf("written %+v, error %v", written, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.WriteSubQueries(ctx, "Penicillin", 20); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestProperties: at most n sub-queries, all different, none the question itself, each made of the question's words.
func TestProperties(t *testing.T) {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{"Which", "the", "who", "of", "and", "or", "both", ",", "?", `"`, "“", "Marie", "Curie", "Paris", "1965", "film", "was", "O'Neill's", "U.S.", "北京"}),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		question := strings.Join(rapid.SliceOfN(part, 0, 30).Draw(t, "parts"), " ")
		n := rapid.IntRange(0, 25).Draw(t, "n")
		got := subQueries(question, n)
		if len(got) > n || !slices.Equal(got, subQueries(question, n)) {
			t.Fatalf("%d of %d, or a second run differs", len(got), n)
		}
		for i, text := range got {
			if text == "" || slices.Contains(got[:i], text) || text == question {
				t.Fatalf("%q among %q", text, got)
			}
			for _, w := range strings.Fields(text) {
				if utf8.ValidString(question) && !strings.Contains(question, w) {
					t.Fatalf("%q is not in the question", w)
				}
			}
		}
	})
}
