package dataset

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/georag/georag/core"
)

// hotpotRecord is a question of HotpotQA (hotpot_dev_distractor_v1.json) or 2WikiMultihopQA (dev.json), whose
// layouts agree in these members.
type hotpotRecord struct {
	ID         string           `json:"_id"`
	Type       string           `json:"type"`
	Question   string           `json:"question"`
	Answer     string           `json:"answer"`
	Supporting []supportingFact `json:"supporting_facts"` // [title, sentence index]
	Context    []paragraph      `json:"context"`          // [title, [sentence, …]]
}

// supportingFact is the title of a supporting passage; which of its sentences is meant does not matter here.
type supportingFact string

// UnmarshalJSON reads a pair of title and sentence index.
func (f *supportingFact) UnmarshalJSON(data []byte) error {
	return pair(data, (*string)(f), new(int))
}

// paragraph is one passage of a question's context.
type paragraph struct {
	title, text string
}

// UnmarshalJSON reads a pair of title and sentences.
func (p *paragraph) UnmarshalJSON(data []byte) error {
	var sentences []string
	if err := pair(data, &p.title, &sentences); err != nil {
		return err
	}
	p.text = joinSentences(sentences)
	return nil
}

// pair reads a JSON array of exactly two elements.
func pair(data []byte, first, second any) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	if len(parts) != 2 {
		return fmt.Errorf("%w: %.60s has %d elements, want 2", ErrFormat, data, len(parts))
	}
	if err := json.Unmarshal(parts[0], first); err != nil {
		return err
	}
	return json.Unmarshal(parts[1], second)
}

// joinSentences joins sentences, some of which bring their leading space along.
func joinSentences(sentences []string) string {
	trimmed := make([]string, 0, len(sentences))
	for _, s := range sentences {
		if s = strings.TrimSpace(s); s != "" {
			trimmed = append(trimmed, s)
		}
	}
	return strings.Join(trimmed, " ")
}

// readHotpotQA reads a JSON array. A question whose supporting passages are not all in its context, as in the
// full-wiki setting, and a question without supporting facts, as in the test set, are skipped.
func readHotpotQA(c *collector, path string, _ Options) error {
	return array(path, func(r hotpotRecord) error {
		byTitle := make(map[string]core.ID, len(r.Context))
		for _, p := range r.Context {
			if p.text != "" {
				byTitle[p.title] = c.text(p.title, p.text)
			}
		}
		q := Question{ID: r.ID, Type: r.Type, Text: r.Question, Answers: []string{r.Answer}}
		for _, fact := range r.Supporting {
			id, ok := byTitle[string(fact)]
			if !ok {
				c.skip("a supporting passage is not in the context")
				return nil
			}
			q.Gold = append(q.Gold, id)
		}
		if len(q.Gold) == 0 {
			c.skip("no supporting facts")
			return nil
		}
		return c.ask(q)
	})
}
