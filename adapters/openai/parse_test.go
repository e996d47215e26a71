package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// The two sub-queries that most answers below hold.
const (
	who  = "Who directed Jaws?"
	when = "When was the director of Jaws born?"
)

var both = []string{who, when}

// answers are shapes in which models were seen to answer, or could.
var answers = []struct {
	name, text string
	truncated  bool
	want       []string
}{
	{"JSON as asked", `{"sub_queries":["Who directed Jaws?","When was the director of Jaws born?"]}`, false, both},
	{"JSON, indented", "{\n  \"sub_queries\": [\n    \"Who directed Jaws?\",\n    \"When was the director of Jaws born?\"\n  ]\n}", false, both},
	{"JSON array", `["Who directed Jaws?", "When was the director of Jaws born?"]`, false, both},
	{"fenced JSON", "```json\n[\"Who directed Jaws?\", \"When was the director of Jaws born?\"]\n```", false, both},
	{"fenced JSON with talk", "Sure! Here are the sub-queries:\n\n```json\n{\"queries\": [\"Who directed Jaws?\", \"When was the director of Jaws born?\"]}\n```\n\nLet me know if you need more.", false, both},
	{"fence never closed", "```json\n[\"Who directed Jaws?\",\n\"When was the director of Jaws born?\"]", false, both},
	{"fenced lines", "```\nWho directed Jaws?\nWhen was the director of Jaws born?\n```", false, both},
	{"fence with tildes", "~~~\n1. Who directed Jaws?\n2. When was the director of Jaws born?\n~~~", false, both},
	{"empty fence, list after it", "```\n```\n- Who directed Jaws?\n- When was the director of Jaws born?", false, both},
	{"JSON after a preamble", `Here is the JSON: {"sub_queries": ["Who directed Jaws?", "When was the director of Jaws born?"]} Hope this helps!`, false, both},
	{"bracket in the preamble", `Here are [2] queries [as asked]: ["Who directed Jaws?", "When was the director of Jaws born?"]`, false, both},
	{"JSON of objects", `[{"id":1,"question":"Who directed Jaws?"},{"id":2,"question":"When was the director of Jaws born?"}]`, false, both},
	{"objects with reasons", `{"sub_queries":[{"query":"Who directed Jaws?","reasoning":"The film comes first."},{"query":"When was the director of Jaws born?","reasoning":"Then the person."}]}`, false, both},
	{"objects with other names", `{"items":[{"text":"Who directed Jaws?","type":"person"},{"text":"When was the director of Jaws born?","type":"date"}]}`, false, both},
	{"reasoning beside the list", `{"reasoning":"First the film, then the person.","queries":["Who directed Jaws?","When was the director of Jaws born?"]}`, false, both},
	{"question repeated beside the list", `{"question":"When was the director of Jaws born in?","sub_questions":["Who directed Jaws?","When was the director of Jaws born?"]}`, false, both},
	{"numbered names", `{"1":"Who directed Jaws?","2":"When was the director of Jaws born?"}`, false, both},
	{"numbered question names", `{"q1":"Who directed Jaws?","q2":"When was the director of Jaws born?"}`, false, both},
	{"one object a line", "{\"query\":\"Who directed Jaws?\"}\n{\"query\":\"When was the director of Jaws born?\"}", false, both},
	{"nested arrays", `[["Who directed Jaws?"],["When was the director of Jaws born?"]]`, false, both},
	{"deep below other names", `{"result":{"data":{"list":["Who directed Jaws?","When was the director of Jaws born?"]}}}`, false, both},
	{"two lists under topics", `{"film":["Who directed Jaws?"],"person":["When was the director of Jaws born?"]}`, false, both},
	{"list inside a JSON string", `"1. Who directed Jaws?\n2. When was the director of Jaws born?"`, false, both},
	{"JSON inside a JSON string", `"[\"Who directed Jaws?\",\"When was the director of Jaws born?\"]"`, false, both},
	{"numbers inside JSON items", `["1. Who directed Jaws?","2. When was the director of Jaws born?"]`, false, both},
	{"trailing comma", `["Who directed Jaws?","When was the director of Jaws born?",]`, false, both},
	{"JSON cut inside a string", `{"sub_queries":["Who directed Jaws?","When was the director of Jaws born?","Where was the dir`, true, both},
	{"JSON cut after a comma", `["Who directed Jaws?","When was the director of Jaws born?",`, true, both},
	{"JSON cut inside an object", `[{"query":"Who directed Jaws?"},{"query":"When was the director of Jaws born?"},{"query":"Wh`, true, both},
	{"fenced JSON cut", "```json\n{\"sub_queries\": [\"Who directed Jaws?\", \"When was the director of Jaws born?\", \"Wh", true, both},
	{"nulls and numbers among the strings", `["Who directed Jaws?",null,17,true,"","When was the director of Jaws born?"]`, false, both},
	{"escapes", `["Who directed \"Jaws\" (1975)?","Wer war Regisseur von \u201eDer wei\u00dfe Hai\u201c?"]`, false, []string{`Who directed "Jaws" (1975)?`, "Wer war Regisseur von „Der weiße Hai“?"}},
	{"Python list", `['Who directed Jaws?', 'When was the director of Jaws born?']`, false, both},
	{"Python list with apostrophes", `["What is Jaws' length?", 'Who is Spielberg's wife?']`, false, []string{"What is Jaws' length?", "Who is Spielberg's wife?"}},
	{"Python tuple", `("Who directed Jaws?", "When was the director of Jaws born?")`, false, both},
	{"curly quotes as JSON", `[“Who directed Jaws?”, “When was the director of Jaws born?”]`, false, both},
	{"inner quotes not escaped", `["Who directed "Jaws" then?", "When was the director of Jaws born?"]`, false, []string{`Who directed "Jaws" then?`, when}},
	{"commas forgotten", "{\n\"sub_queries\": [\n\"Who directed Jaws?\"\n\"When was the director of Jaws born?\"\n]\n}", false, both},
	{"JSON cut inside its first string", `{"sub_queries": ["Who dir`, false, nil},

	{"numbered", "1. Who directed Jaws?\n2. When was the director of Jaws born?", false, both},
	{"numbered, parentheses", "1) Who directed Jaws?\n2) When was the director of Jaws born?", false, both},
	{"numbered, both parentheses", "(1) Who directed Jaws?\n(2) When was the director of Jaws born?", false, both},
	{"numbered, brackets", "[1] Who directed Jaws?\n[2] When was the director of Jaws born?", false, both},
	{"numbered, colons", "1: Who directed Jaws?\n2: When was the director of Jaws born?", false, both},
	{"numbered, no space", "1.Who directed Jaws?\n2.When was the director of Jaws born?", false, both},
	{"numbered, blank lines between", "1. Who directed Jaws?\n\n2. When was the director of Jaws born?\n\n", false, both},
	{"numbered, CRLF", "1. Who directed Jaws?\r\n2. When was the director of Jaws born?\r\n", false, both},
	{"numbered, old Mac line ends", "1. Who directed Jaws?\r2. When was the director of Jaws born?", false, both},
	{"numbered, one line", "1. Who directed Jaws? 2. When was the director of Jaws born?", false, both},
	{"numbered, bold numbers", "**1.** Who directed Jaws?\n**2.** When was the director of Jaws born?", false, both},
	{"numbered, bold", "1. **Who directed Jaws?**\n2. **When was the director of Jaws born?**", false, both},
	{"numbered, quoted", "1. \"Who directed Jaws?\"\n2. “When was the director of Jaws born?”", false, both},
	{"numbered, with talk", "Here are 20 sub-queries:\n\n1. Who directed Jaws?\n2. When was the director of Jaws born?\n\nThese cover the whole question.", false, both},
	{"numbered, talk without a colon", "I will split the question.\n1. Who directed Jaws?\n2. When was the director of Jaws born?\nGood luck!", false, both},
	{"bullets -", "- Who directed Jaws?\n- When was the director of Jaws born?", false, both},
	{"bullets *", "* Who directed Jaws?\n* When was the director of Jaws born?", false, both},
	{"bullets •", "• Who directed Jaws?\n• When was the director of Jaws born?", false, both},
	{"bullets, indented", "  - Who directed Jaws?\n\t- When was the director of Jaws born?", false, both},
	{"bulleted numbers", "- 1. Who directed Jaws?\n- 2. When was the director of Jaws born?", false, both},
	{"checkboxes", "- [ ] Who directed Jaws?\n- [x] When was the director of Jaws born?", false, both},
	{"letters", "a) Who directed Jaws?\nb) When was the director of Jaws born?", false, both},
	{"Roman numerals", "i. Who directed Jaws?\nii. When was the director of Jaws born?", false, both},
	{"labels", "Sub-query 1: Who directed Jaws?\nSub-query 2: When was the director of Jaws born?", false, both},
	{"labels, bold", "**Query 1:** Who directed Jaws?\n**Query 2:** When was the director of Jaws born?", false, both},
	{"labels, short", "Q1: Who directed Jaws?\nQ2: When was the director of Jaws born?", false, both},
	{"headings between", "## Film\n- Who directed Jaws?\n## Person\n- When was the director of Jaws born?", false, both},
	{"bare lines", "Who directed Jaws?\nWhen was the director of Jaws born?", false, both},
	{"bare lines with talk", "Here are the sub-queries you asked for\nWho directed Jaws?\nWhen was the director of Jaws born?\nLet me know if I should go on!", false, both},
	{"bare lines, talk in other words", "Voici les sous-questions :\nQui a réalisé Jaws ?\nQuand est-il né ?", false, []string{"Qui a réalisé Jaws ?", "Quand est-il né ?"}},
	{"bare lines that are no questions", "director of Jaws\nbirth date of the director of Jaws", false, []string{"director of Jaws", "birth date of the director of Jaws"}},
	{"one line of questions", "Who directed Jaws? When was the director of Jaws born?", false, both},
	{"one line with semicolons", "director of Jaws; birth date; place of birth", false, []string{"director of Jaws", "birth date", "place of birth"}},
	{"quoted lines with commas", "\"Who directed Jaws?\",\n\"When was the director of Jaws born?\"", false, both},
	{"table", "| # | Sub-query |\n|---|---|\n| 1 | Who directed Jaws? |\n| 2 | When was the director of Jaws born? |", false, both},
	{"rules between", "---\nWho directed Jaws?\n---\nWhen was the director of Jaws born?\n***", false, both},
	{"lines cut inside the last", "1. Who directed Jaws?\n2. When was the director of Jaws born?\n3. Where was the dir", true, both},
	{"lines cut after a whole last", "1. Who directed Jaws?\n2. When was the director of Jaws born?", true, both},
	{"cut inside the only line", "1. Who directed Ja", true, nil},

	{"HTML list", "<ul><li>Who directed Jaws?</li><li>When was the director of Jaws born?</li></ul>", false, both},
	{"HTML entities", "<ol>\n<li>Who wrote &quot;Jaws&quot; &amp; when?</li>\n<li>Was it &lt; 300 pages?</li>\n</ol>", false, []string{`Who wrote "Jaws" & when?`, "Was it < 300 pages?"}},
	{"HTML breaks", "Who directed Jaws?<br/>When was the director of Jaws born?<br>", false, both},
	{"XML tags", "<queries>\n<query>Who directed Jaws?</query>\n<query id=\"2\">When was the director of Jaws born?</query>\n</queries>", false, both},
	{"HTML page of a proxy", "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>", false, nil},

	{"thinking", "<think>\nThe user asks about a film.\n1. Is it Alien?\n2. Is it Jaws?\n</think>\n\n1. Who directed Jaws?\n2. When was the director of Jaws born?", false, both},
	{"thinking with JSON in it", "<think>maybe [\"What is Alien?\"]</think>[\"Who directed Jaws?\", \"When was the director of Jaws born?\"]", false, both},
	{"thinking opened in the prompt", "The film is Jaws, so ask\n- about Alien?\n</think>\n- Who directed Jaws?\n- When was the director of Jaws born?", false, both},
	{"thinking never closed", "<think>\nLet me see.\n1. Who directed Alien?\n2. When?", true, nil},
	{"thinking twice", "<thinking>a?</thinking>\nWho directed Jaws?\n<thinking>b?</thinking>\nWhen was the director of Jaws born?", false, both},
	{"channels", "<|channel|>analysis<|message|>Need two queries: [\"x?\"]<|end|><|start|>assistant<|channel|>final<|message|>[\"Who directed Jaws?\",\"When was the director of Jaws born?\"]<|return|>", false, both},
	{"template tokens left in", "1. Who directed Jaws?\n2. When was the director of Jaws born?<|im_end|><end_of_turn></s>", false, both},

	{"duplicates", "1. Who directed Jaws?\n2. who directed jaws\n3. When was the director of Jaws born?\n4. \"Who directed Jaws?\"", false, both},
	{"more than asked", "1. a?\n2. b?\n3. c?\n4. d?\n5. e?\n6. f?\n7. g?", false, []string{"a?", "b?", "c?", "d?", "e?"}},
	{"German", "1. Wer führte Regie bei „Der weiße Hai“?\n2. Wann wurde er geboren?", false, []string{"Wer führte Regie bei „Der weiße Hai“?", "Wann wurde er geboren?"}},
	{"Chinese", "1. 《大白鲨》的导演是谁？\n2. 这位导演何时出生？", false, []string{"《大白鲨》的导演是谁？", "这位导演何时出生？"}},
	{"Chinese list marks", "1、《大白鲨》的导演是谁？\n2、这位导演何时出生？", false, []string{"《大白鲨》的导演是谁？", "这位导演何时出生？"}},
	{"Chinese, one line", "《大白鲨》的导演是谁？这位导演何时出生？", false, []string{"《大白鲨》的导演是谁？", "这位导演何时出生？"}},
	{"Arabic", "- من أخرج فيلم الفك المفترس؟\n- متى ولد المخرج؟", false, []string{"من أخرج فيلم الفك المفترس؟", "متى ولد المخرج؟"}},
	{"Russian", "1) Кто снял «Челюсти»?\n2) Когда он родился?", false, []string{"Кто снял «Челюсти»?", "Когда он родился?"}},
	{"Hindi in JSON", `{"sub_queries":["जॉज़ का निर्देशन किसने किया?","उनका जन्म कब हुआ?"]}`, false, []string{"जॉज़ का निर्देशन किसने किया?", "उनका जन्म कब हुआ?"}},

	{"numbers that are no marks", "3.5 million people live where?\n1984 was written by whom?\n2001: A Space Odyssey was directed by whom?", false, []string{"3.5 million people live where?", "1984 was written by whom?", "2001: A Space Odyssey was directed by whom?"}},
	{"initials that are no marks", "A. A. Milne wrote what?\nJ. Smith is who?", false, []string{"A. A. Milne wrote what?", "J. Smith is who?"}},
	{"comparison signs", "Is x < 5 in the paper?\nIs a > b?", false, []string{"Is x < 5 in the paper?", "Is a > b?"}},
	{"title in quotes at both ends", `"Jaws" came out before "Alien"` + "\nWho directed Jaws?", false, []string{`"Jaws" came out before "Alien"`, who}},
	{"invisible characters", "\ufeff1.\u200b Who directed Jaws?\n2. When\u00a0was the director of Jaws born?\x00", false, both},
	{"broken UTF-8", "1. Who directed Jaws?\xff\xfe\n2. When was the director of Jaws born?", false, both},
	{"empty", "", false, nil},
	{"white space", " \n\t\r\n ", false, nil},
	{"punctuation", "...\n---\n\"\"\n[]", false, nil},
	{"empty JSON", `{"sub_queries":[]}`, false, nil},
	{"empty JSON object", `{}`, false, nil},
	{"JSON of numbers", `[1,2,3]`, false, nil},
	{"JSON error", `{"error":{"message":"context length exceeded","type":"invalid_request_error"}}`, false, nil},
	{"refusal", "I'm sorry, but I can't help with that.", false, nil},
	{"refusal of another kind", "As an AI language model, I cannot write sub-queries.", false, nil},
	{"talk only", "Sure! Here are the sub-queries:", false, nil},
	{"an essay in one line", strings.Repeat("word ", 200), false, nil},
}

func TestParseSubQueries(t *testing.T) {
	if len(answers) < 40 {
		t.Fatal("too few cases")
	}
	for _, c := range answers {
		t.Run(c.name, func(t *testing.T) {
			if got := ParseSubQueries(c.text, c.truncated, 5); !slices.Equal(got, c.want) {
				t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
			}
		})
	}
}

// Whatever a model writes, cut anywhere: no crash, at most n texts, all different, each part of the answer.
func check(t interface{ Errorf(string, ...any) }, text string, n int) {
	got := ParseSubQueries(text, true, n)
	if len(got) > max(n, 0) {
		t.Errorf("%d of at most %d", len(got), n)
	}
	seen := map[string]bool{}
	for _, q := range got {
		if q == "" || !utf8.ValidString(q) || strings.ContainsAny(q, "\n\r") || seen[letters(q)] || utf8.RuneCountInString(q) > maxSubQuery {
			t.Errorf("unusable text %q", q)
		}
		seen[letters(q)] = true
	}
}

func TestParsePropertiesOfCutAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(answers).Draw(t, "answer").text
		check(t, text[:rapid.IntRange(0, len(text)).Draw(t, "cut")], rapid.IntRange(-1, 25).Draw(t, "n"))
	})
}

// Every list of questions survives every shape that the prompt and its common misreadings ask for.
func TestParseRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-zäöü]{2,9}`), 2, 8)
		want := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
			return "Which " + strings.Join(words.Draw(t, "words"), " ") + "?"
		}), 2, 20, letters).Draw(t, "questions")
		asJSON, _ := json.Marshal(map[string]any{"sub_queries": want})
		var numbered, bulleted, plain strings.Builder
		for i, q := range want {
			fmt.Fprintf(&numbered, "%d. %s\n", i+1, q)
			fmt.Fprintf(&bulleted, "- %s\n", q)
			fmt.Fprintf(&plain, "%s\n", q)
		}
		for _, text := range []string{string(asJSON), "```json\n" + string(asJSON) + "\n```", numbered.String(), bulleted.String(), plain.String()} {
			if got := ParseSubQueries(text, false, 20); !slices.Equal(got, want) {
				t.Fatalf("%q\n got %q\nwant %q", text, got, want)
			}
		}
	})
}

func FuzzParseSubQueries(f *testing.F) {
	for _, c := range answers {
		f.Add(c.text, 5)
	}
	f.Fuzz(func(t *testing.T, text string, n int) { check(t, text, min(n, 100)) })
}
