package questions

import (
	"errors"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/jsonl"
)

// parse reads one line, a valid JSON object. Members it does not know are ignored.
func parse(data []byte) (q Question, err error) {
	var faults []error
	note := func(err error) { faults = append(faults, err) }
	err = jsonl.Members(data, func(name string, value gjson.Result) {
		switch name {
		case "id":
			id, err := jsonl.ID(value)
			q.ID = id.String()
			note(err)
		case "dataset":
			note(text(&q.Dataset, name, value))
		case "type":
			note(text(&q.Type, name, value))
		case "question":
			note(text(&q.Text, name, value))
		case "answers":
			note(texts(&q.Answers, name, value))
		case "subqueries":
			note(texts(&q.SubQueries, name, value))
		case "gold":
			note(ids(&q.Gold, value))
		}
	})
	if q.ID == "" && errors.Join(faults...) == nil {
		note(fmt.Errorf(`"id" is missing`))
	}
	if q.Text == "" && errors.Join(faults...) == nil {
		note(fmt.Errorf(`"question" is missing or empty`))
	}
	return q, errors.Join(append(faults, err)...)
}

func text(target *string, name string, value gjson.Result) error {
	if value.Type != gjson.String {
		return fmt.Errorf("%q is %.40s, want a string", name, value.Raw)
	}
	*target = value.String()
	return nil
}

func texts(target *[]string, name string, value gjson.Result) error {
	if !value.IsArray() {
		return fmt.Errorf("%q is %.40s, want an array of strings", name, value.Raw)
	}
	for _, element := range value.Array() {
		var s string
		if err := text(&s, name, element); err != nil {
			return err
		}
		*target = append(*target, s)
	}
	return nil
}

func ids(target *[]core.ID, value gjson.Result) error {
	if !value.IsArray() {
		return fmt.Errorf(`"gold" is %.40s, want an array of passage ids`, value.Raw)
	}
	for _, element := range value.Array() {
		id, err := jsonl.ID(element)
		if err != nil {
			return fmt.Errorf(`"gold": %w`, err)
		}
		*target = append(*target, id)
	}
	return nil
}
