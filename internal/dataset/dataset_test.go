package dataset

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/georag/georag/core"
)

// titles returns the titles of the given passages.
func titles(t *testing.T, c Corpus, ids []core.ID) []string {
	t.Helper()
	byID := map[core.ID]string{}
	for _, p := range c.Passages {
		byID[p.ID] = p.Title
	}
	var titles []string
	for _, id := range ids {
		title, ok := byID[id]
		if !ok {
			t.Errorf("gold passage %s is not in the corpus", id)
		}
		titles = append(titles, title)
	}
	return titles
}

func TestRead(t *testing.T) {
	type question struct {
		id, kind     string
		answers      []string
		gold         []string // titles
		subQuestions []string
	}
	for _, c := range []struct {
		name, file string
		options    Options
		passages   []string // titles
		questions  []question
		skipped    map[string]int
	}{
		{"hotpotqa", "hotpotqa.json", Options{}, []string{"Arthur's Magazine", "Founder", "Radio City"}, []question{
			{"5a7a06935542990198eaf050", "bridge", []string{"American"}, []string{"Arthur's Magazine", "Founder"}, nil},
			{"5a879ab05542996e4f30887e", "comparison", []string{"yes"}, []string{"Arthur's Magazine", "Radio City"}, nil},
		}, map[string]int{"a supporting passage is not in the context": 1}},
		{"2wikimultihopqa", "2wikimultihopqa.json", Options{}, []string{"Polish-Russian War (film)", "Xawery Żuławski"}, []question{
			{"8813f87c0bdd11eba7f7acde48001122", "compositional", []string{"Małgorzata Braunek"}, []string{"Polish-Russian War (film)", "Xawery Żuławski"}, nil},
		}, map[string]int{}},
		{"musique", "musique.jsonl", Options{}, []string{"Green", "Miquette Giraudy", "Blue", "Red"}, []question{
			{"2hop__482757_12019", "2hop", []string{"Miquette Giraudy", "Giraudy"}, []string{"Green", "Miquette Giraudy"}, []string{"Green >> performer", "Steve Hillage >> spouse"}},
		}, map[string]int{"marked unanswerable": 1}},
		{"nq", "nq.json", Options{}, []string{"Does He Love You", "Linda Davis", "Cormac McCarthy", "Why Haven't I Heard from You"}, []question{
			{"nq-000001", "open", []string{"Linda Davis"}, []string{"Does He Love You"}, nil},
		}, map[string]int{"no positive passage": 1}},
		{"triviaqa", "triviaqa.json", Options{}, []string{"Peanuts", "Charles Schulz", "Early life"}, []question{
			{"triviaqa-000001", "open", []string{"Harry Truman", "Truman"}, []string{"Peanuts"}, nil},
			{"triviaqa-000002", "open", []string{"Minneapolis"}, []string{"Early life"}, nil},
		}, map[string]int{}},
		{"asqa", "asqa.json", Options{}, []string{"First war", "Second war"}, []question{
			{"-5742327904244384500", "train", []string{"1918", "11 November 1918", "1945"}, []string{"First war", "Second war"}, []string{"When did the first war end?", "When did the second war end?"}},
		}, map[string]int{"no passage in any reading": 1}},
		{"fever", "fever.jsonl", Options{Distractors: 1}, []string{"Nikolaj Coster-Waldau", "Fox Broadcasting Company", "Beyoncé", "First (song)"}, []question{
			{"75397", "SUPPORTS", []string{"SUPPORTS"}, []string{"Nikolaj Coster-Waldau", "Fox Broadcasting Company"}, nil},
			{"150448", "REFUTES", []string{"REFUTES"}, []string{"Beyoncé"}, nil},
		}, map[string]int{"no evidence": 1, "an evidence page is not in the dump": 1}},
		{"beir", "beir", Options{}, []string{"Microstructural development of the brain", "Induction of myelodysplasia", ""}, []question{
			{"3", "test", []string{}, []string{"Microstructural development of the brain", "Induction of myelodysplasia"}, nil},
			{"5", "train", []string{}, []string{""}, nil},
		}, map[string]int{"no judgement": 1, "judged passage not in the corpus": 1}},
		{"beir", "beir", Options{Split: "train"}, []string{"Microstructural development of the brain", "Induction of myelodysplasia", ""}, []question{
			{"5", "train", []string{}, []string{""}, nil},
		}, map[string]int{"no judgement": 2}},
		{"hotpotqa", "hotpotqa.json", Options{Limit: 1}, []string{"Arthur's Magazine", "Founder", "Radio City"}, []question{
			{"5a7a06935542990198eaf050", "bridge", []string{"American"}, []string{"Arthur's Magazine", "Founder"}, nil},
		}, map[string]int{}},
		{"fever", "fever.jsonl", Options{Limit: 1}, []string{"Nikolaj Coster-Waldau", "Fox Broadcasting Company"}, []question{
			{"75397", "SUPPORTS", []string{"SUPPORTS"}, []string{"Nikolaj Coster-Waldau", "Fox Broadcasting Company"}, nil},
		}, map[string]int{}},
	} {
		t.Run(c.name+" "+c.options.Split, func(t *testing.T) {
			corpus, err := Read(c.name, filepath.Join("testdata", c.file), c.options)
			if err != nil {
				t.Fatal(err)
			}
			var passages []string
			for _, p := range corpus.Passages {
				passages = append(passages, p.Title)
				if _, text := p.ID.Text(); !text || p.Text == "" {
					t.Errorf("passage %+v", p)
				}
			}
			if !reflect.DeepEqual(passages, c.passages) {
				t.Errorf("passages %q, want %q", passages, c.passages)
			}
			var questions []question
			for _, q := range corpus.Questions {
				questions = append(questions, question{q.ID, q.Type, q.Answers, titles(t, corpus, q.Gold), q.SubQuestions})
				if q.Dataset != c.name || q.Text == "" {
					t.Errorf("question %+v", q)
				}
			}
			if !reflect.DeepEqual(questions, c.questions) {
				t.Errorf("questions %+v\nwant %+v", questions, c.questions)
			}
			if !reflect.DeepEqual(corpus.Skipped, c.skipped) {
				t.Errorf("skipped %v, want %v", corpus.Skipped, c.skipped)
			}
		})
	}
}

func TestSentencesAreJoinedAlike(t *testing.T) {
	for name, want := range map[string]string{
		"hotpotqa":        "Arthur's Magazine (1844–1846) was a literary periodical. It was published in Philadelphia.",
		"2wikimultihopqa": "Polish-Russian War is a 2009 Polish film directed by Xawery Żuławski. It is based on a novel.",
	} {
		corpus, err := Read(name, filepath.Join("testdata", name+".json"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := corpus.Passages[0].Text; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestCompressedIsTheSame(t *testing.T) {
	plain, err := os.ReadFile("testdata/nq.json")
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "biencoder-nq-dev.json.gz")
	if err := os.WriteFile(path, zipped.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Read("nq", path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Read("nq", "testdata/nq.json", Options{})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, error %v", got, err)
	}
}

func TestErrorsNameFileAndRecord(t *testing.T) {
	const question = `{"_id":"a","question":"q","answer":"x","supporting_facts":[["T",0]],"context":[["T",["s"]]]}`
	for _, c := range []struct{ dataset, content, want string }{
		{"hotpotqa", `{"a":1}`, `starts with {, want [`},
		{"hotpotqa", `[` + question + `,{"_id":3}]`, `file: record 2: malformed dataset`},
		{"hotpotqa", `[` + question + `,` + question + `]`, `file: record 2: malformed dataset: question a appears twice`},
		{"hotpotqa", `[` + question, `file: malformed dataset: the array does not end`},
		{"hotpotqa", `[{"_id":"a","supporting_facts":[["T",0,1]]}]`, `record 1: malformed dataset`},
		{"hotpotqa", `[]`, `no usable question`},
		{"musique", "{}\n{\"id\":1}\n", `file:2: malformed dataset`},
		{"musique", "{}\n{\"id\":\n", `file:2: malformed file`},
		{"nq", `[{"question":"q","positive_ctxs":[{"passage_id":1.5}]}]`, `record 1: malformed dataset`},
		{"nq", `[{"question":"q","positive_ctxs":[{"passage_id":"1","text":"a"},{"passage_id":"1","text":"b"}]}]`, `record 1: malformed dataset: passage 1 appears twice`},
		{"asqa", `{"dev":{"1":{"qa_pairs":7}}}`, `file: dev: 1: malformed dataset`},
		{"asqa", `{"dev":{}`, `the object does not end`},
		{"fever", `{"id":1,"claim":"c","evidence":[[[1,2,"P",0]]]}`, `no wiki-pages/*.jsonl`},
		{"beir", ``, `corpus.jsonl`},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Read(c.dataset, path, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: error %v, want …%s…", c.dataset, c.content, err, c.want)
		}
	}
	if _, err := Read("squad", "x", Options{}); !errors.Is(err, ErrUnknown) {
		t.Errorf("error %v, want %v", err, ErrUnknown)
	}
	if _, err := Read("nq", "absent.json", Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want %v", err, os.ErrNotExist)
	}
	if _, err := Read("asqa", "testdata/asqa.json", Options{Split: "test"}); !errors.Is(err, ErrFormat) {
		t.Errorf("error %v, want %v", err, ErrFormat)
	}
}

func TestWrite(t *testing.T) {
	corpus, err := Read("musique", "testdata/musique.jsonl", Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new")
	if err := corpus.Write(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"passages.jsonl": `"title":"Green","text":"Green is the fourth studio album by Steve Hillage."}`, "questions.jsonl": "Steve Hillage >> spouse",
	} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s is %s, error %v", name, data, err)
		}
	}
	var back []Question
	err = lines(filepath.Join(dir, "questions.jsonl"), func(q Question) error { back = append(back, q); return nil })
	if err != nil || !reflect.DeepEqual(back, corpus.Questions) {
		t.Errorf("read back %+v, error %v", back, err)
	}
}

// FuzzHotpotQA checks that no input makes a reader panic or return a corpus that breaks its promises.
func FuzzHotpotQA(f *testing.F) {
	data, err := os.ReadFile("testdata/hotpotqa.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`[{"_id":"a","context":[["T",[]]]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "fuzz.json")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		corpus, err := Read("hotpotqa", path, Options{})
		if err != nil {
			return
		}
		for _, q := range corpus.Questions {
			if len(titles(t, corpus, q.Gold)) == 0 || q.Text == "" {
				t.Errorf("question without gold or text: %+v", q)
			}
		}
		if _, err := json.Marshal(corpus.Questions); err != nil {
			t.Error(err)
		}
	})
}
