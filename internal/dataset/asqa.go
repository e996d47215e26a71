package dataset

import (
	"encoding/json"
	"fmt"
	"io"
)

// asqaRecord is one question of ASQA.json, which is an object of splits, each an object of records by sample ID.
type asqaRecord struct {
	Question string `json:"ambiguous_question"`
	Pairs    []struct {
		Context  string   `json:"context"`
		Question string   `json:"question"`
		Answers  []string `json:"short_answers"`
		WikiPage *string  `json:"wikipage"`
	} `json:"qa_pairs"`
	Annotations []struct {
		Knowledge []struct {
			Content  string  `json:"content"`
			WikiPage *string `json:"wikipage"`
		} `json:"knowledge"`
	} `json:"annotations"`
}

// noContext is what ASQA writes where a reading has no passage.
const noContext = "No context provided"

// readASQA reads ASQA.json. Gold are the passages of the question's readings and the further knowledge that its
// annotators used; the sub-questions are the readings. A question with neither is skipped.
func readASQA(c *collector, path string, o Options) error {
	return with(path, func(r io.Reader) error {
		decoder := json.NewDecoder(r)
		if err := open(decoder, '{'); err != nil {
			return at(err, "%s", path)
		}
		found := false
		err := members(decoder, func(split string) error {
			wanted := o.Split == "" || o.Split == split
			found = found || wanted
			if err := open(decoder, '{'); err != nil {
				return err
			}
			return members(decoder, func(id string) error {
				var record asqaRecord
				if err := decoder.Decode(&record); err != nil {
					return fmt.Errorf("%w: %w", ErrFormat, err)
				}
				if !wanted {
					return nil
				}
				return c.asqa(id, split, record)
			})
		})
		if err != nil {
			return at(err, "%s", path)
		}
		if !found {
			return fmt.Errorf("%s: %w: no split %q", path, ErrFormat, o.Split)
		}
		return nil
	})
}

// members calls yield with each name of the object that decoder has opened; yield consumes the value.
func members(decoder *json.Decoder, yield func(name string) error) error {
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrFormat, err)
		}
		name := token.(string) // the decoder admits nothing else as a name
		if err := yield(name); err != nil {
			return at(err, "%s", name)
		}
	}
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("%w: the object does not end: %w", ErrFormat, err)
	}
	return nil
}

func (c *collector) asqa(id, split string, r asqaRecord) error {
	q := Question{ID: id, Type: split, Text: r.Question}
	add := func(page *string, text string) {
		if text == "" || text == noContext {
			return
		}
		title := ""
		if page != nil {
			title = *page
		}
		q.Gold = append(q.Gold, c.text(title, text))
	}
	for _, pair := range r.Pairs {
		q.SubQuestions = append(q.SubQuestions, pair.Question)
		q.Answers = append(q.Answers, pair.Answers...)
		add(pair.WikiPage, pair.Context)
	}
	for _, a := range r.Annotations {
		for _, k := range a.Knowledge {
			add(k.WikiPage, k.Content)
		}
	}
	if len(q.Gold) == 0 {
		c.skip("no passage in any reading")
		return nil
	}
	return c.ask(q)
}
