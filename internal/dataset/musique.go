package dataset

import (
	"strconv"
	"strings"
)

// musiqueRecord is a line of musique_ans_v1.0_dev.jsonl or musique_full_v1.0_dev.jsonl.
type musiqueRecord struct {
	ID         string `json:"id"`
	Paragraphs []struct {
		Index        int    `json:"idx"`
		Title        string `json:"title"`
		Text         string `json:"paragraph_text"`
		IsSupporting bool   `json:"is_supporting"`
	} `json:"paragraphs"`
	Question      string        `json:"question"`
	Decomposition []musiqueStep `json:"question_decomposition"`
	Answer        string        `json:"answer"`
	Aliases       []string      `json:"answer_aliases"`
	Answerable    *bool         `json:"answerable"`
}

type musiqueStep struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// readMuSiQue reads JSON lines. Questions marked unanswerable, whose evidence was taken out of their paragraphs,
// and those of the test set, whose evidence is not published, are skipped; their paragraphs stay as distractors.
func readMuSiQue(c *collector, path string, _ Options) error {
	return lines(path, func(r musiqueRecord) error {
		q := Question{
			ID: r.ID, Text: r.Question, Answers: append([]string{r.Answer}, r.Aliases...),
			SubQuestions: subQuestions(r.Decomposition),
		}
		q.Type, _, _ = strings.Cut(r.ID, "__") // "2hop", "3hop1", …
		for _, p := range r.Paragraphs {
			id := c.text(p.Title, p.Text)
			if p.IsSupporting {
				q.Gold = append(q.Gold, id)
			}
		}
		switch {
		case r.Answerable != nil && !*r.Answerable:
			c.skip("marked unanswerable")
			return nil
		case len(q.Gold) == 0:
			c.skip("no supporting paragraphs")
			return nil
		}
		return c.ask(q)
	})
}

// subQuestions returns the steps with "#1", "#2", … replaced by the answers of the steps they refer to, so that
// each can be searched for on its own.
func subQuestions(steps []musiqueStep) []string {
	var replaced []string
	for i, s := range steps {
		text := s.Question
		for before := i; before >= 1; before-- { // "#12" before "#1"
			text = strings.ReplaceAll(text, "#"+strconv.Itoa(before), steps[before-1].Answer)
		}
		replaced = append(replaced, text)
	}
	return replaced
}
