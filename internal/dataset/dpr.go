package dataset

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/georag/georag/core"
)

// dprRecord is a question of Natural Questions or TriviaQA as DPR publishes them (biencoder-nq-dev.json) or as its
// retriever writes them (ctxs instead of the three lists).
type dprRecord struct {
	Question      string       `json:"question"`
	Answers       []string     `json:"answers"`
	Positive      []dprPassage `json:"positive_ctxs"`
	Negative      []dprPassage `json:"negative_ctxs"`
	HardNegatives []dprPassage `json:"hard_negative_ctxs"`
	Retrieved     []dprPassage `json:"ctxs"`
}

type dprPassage struct {
	Title     string    `json:"title"`
	Text      string    `json:"text"`
	PassageID dprNumber `json:"passage_id"` // Natural Questions
	PsgID     dprNumber `json:"psg_id"`     // TriviaQA
	ID        dprNumber `json:"id"`         // retriever output: "wiki:1234" or "1234"
	HasAnswer bool      `json:"has_answer"`
}

// dprNumber is an ID written as a JSON string or a JSON number, depending on the file.
type dprNumber string

// UnmarshalJSON reads either form.
func (n *dprNumber) UnmarshalJSON(data []byte) error {
	var id core.ID
	if err := json.Unmarshal(data, &id); err != nil {
		return err
	}
	*n = dprNumber(id.String())
	return nil
}

// readDPR reads a JSON array. Gold is the first positive passage, the one that the annotators or the distant
// supervision chose: the others hold the answer too and are alternatives to it, not further parts of the evidence.
// Questions have no IDs; theirs are the record's number in the file.
func readDPR(c *collector, path string, _ Options) error {
	record := 0
	return array(path, func(r dprRecord) error {
		record++
		q := Question{ID: fmt.Sprintf("%s-%06d", c.dataset, record), Type: "open", Text: r.Question, Answers: r.Answers}
		positives, others := r.Positive, append(r.Negative, r.HardNegatives...)
		for _, p := range r.Retrieved {
			if p.HasAnswer {
				positives = append(positives, p)
			} else {
				others = append(others, p)
			}
		}
		for i, p := range append(positives, others...) {
			id, err := c.dprPassage(p)
			if err != nil {
				return err
			}
			if i == 0 && len(positives) > 0 {
				q.Gold = []core.ID{id}
			}
		}
		if len(q.Gold) == 0 {
			c.skip("no positive passage")
			return nil
		}
		return c.ask(q)
	})
}

func (c *collector) dprPassage(p dprPassage) (core.ID, error) {
	for _, given := range []dprNumber{p.PassageID, p.PsgID, p.ID} {
		if given != "" {
			id := core.StringID(strings.TrimPrefix(string(given), "wiki:"))
			return id, c.add(Passage{ID: id, Title: p.Title, Text: p.Text})
		}
	}
	return c.text(p.Title, p.Text), nil
}
