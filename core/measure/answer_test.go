package measure

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNormaliseAnswer(t *testing.T) {
	for answer, want := range map[string]string{
		"  The  Beatles ":           "beatles",
		"a an the":                  "",
		"An apple, a day":           "apple day",
		"Theatre":                   "theatre",
		"U.S.A.":                    "usa",
		"it's 5 < 6 + $7":           "its 5 6 7",
		"“Hello”—l’été":             "hellolété",
		"ÉCOLE":                     "école",
		"bananA":                    "banana",
		"à la carte":                "à la carte",
		"l'a":                       "la",
		"東京タワー。":                    "東京タワー",
		"the\u00a0end\tof\nthe day": "end of day",
		"€a":                        "€",
	} {
		if got := NormaliseAnswer(answer); got != want {
			t.Errorf("%q becomes %q, want %q", answer, got, want)
		}
	}
}

func TestExactMatchAndF1(t *testing.T) {
	for _, c := range []struct {
		answer string
		golds  []string
		em, f1 float64
	}{
		{"the Eiffel Tower", []string{"Eiffel tower!"}, 1, 1},
		{"Eiffel Tower in Paris", []string{"Eiffel Tower"}, 0, 2.0 / 3},
		{"Paris", []string{"London", "paris"}, 1, 1},
		{"to be or not to be", []string{"to be"}, 0, 0.5},
		{"to", []string{"to to to"}, 0, 0.5},
		{"no", []string{"yes"}, 0, 0},
		{"", []string{"the"}, 1, 1},
		{"", []string{"word"}, 0, 0},
		{"word", nil, 0, 0},
	} {
		near(t, "EM of "+c.answer, ExactMatch(c.answer, c.golds), c.em)
		near(t, "F1 of "+c.answer, F1(c.answer, c.golds), c.f1)
	}
}

func TestAnswerScoresAreConsistent(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "The", "x", "y!", "é", "x", "z-z", "5"}), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		a, b := strings.Join(words.Draw(t, "a"), " "), strings.Join(words.Draw(t, "b"), " ")
		once := NormaliseAnswer(a)
		if again := NormaliseAnswer(once); again != once {
			t.Errorf("%q becomes %q, then %q", a, once, again)
		}
		em, f1 := ExactMatch(a, []string{b}), F1(a, []string{b})
		if f1 < em || f1 > 1 {
			t.Errorf("EM %v, F1 %v", em, f1)
		}
		near(t, "F1 the other way round", F1(b, []string{a}), f1)
		near(t, "EM with itself among the golds", ExactMatch(a, []string{b, a}), 1)
	})
}

func FuzzNormaliseAnswer(f *testing.F) {
	f.Add("The Ö-ff \xff a")
	f.Fuzz(func(t *testing.T, answer string) {
		if got := NormaliseAnswer(answer); got != strings.TrimSpace(got) || strings.Contains(got, "  ") {
			t.Errorf("%q becomes %q", answer, got)
		}
	})
}
