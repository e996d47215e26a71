package flat

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// shortOperators of the short form, those that begin with another one first.
var shortOperators = []struct {
	sign string
	op   operator
}{
	{"!=", opNotEqual}, {">=", opGreaterOrEqual}, {"<=", opLessOrEqual},
	{"==", opEqual}, {"=", opEqual}, {">", opGreater}, {"<", opLess},
}

// parseShortFilter reads "lang=en,year>=2000".
func parseShortFilter(text string) (filter, error) {
	var parsed filter
	for rest := text; ; {
		c, after, err := parseClause(rest)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, c)
		if after == "" {
			return parsed, nil
		}
		rest = after[1:] // the comma
	}
}

// parseClause reads one clause; what follows it is empty or begins with a comma.
func parseClause(text string) (c condition, after string, err error) {
	at := strings.IndexAny(text, "!=<>,")
	if at < 0 || text[at] == ',' || strings.TrimSpace(text[:at]) == "" {
		return c, "", fmt.Errorf("%.40q is not of the form field=value", strings.TrimSpace(text))
	}
	c.field = strings.TrimSpace(text[:at])
	operand := ""
	for _, s := range shortOperators {
		if strings.HasPrefix(text[at:], s.sign) {
			c.op, operand = s.op, strings.TrimLeft(text[at+len(s.sign):], " \t")
			break
		}
	}
	if c.op == "" {
		return c, "", fmt.Errorf("%.40q has no operator, want one of = != > >= < <=", strings.TrimSpace(text))
	}
	if strings.HasPrefix(operand, `"`) {
		return c.quoted(operand)
	}
	end := strings.IndexByte(operand, ',')
	if end < 0 {
		end = len(operand)
	}
	c.values, err = c.spelt(strings.TrimSpace(operand[:end]))
	return c, operand[end:], err
}

// quoted completes the clause with a JSON string.
func (c condition) quoted(operand string) (condition, string, error) {
	decoder := json.NewDecoder(strings.NewReader(operand))
	var s string
	if err := decoder.Decode(&s); err != nil {
		return c, "", fmt.Errorf("the quoted value of %q: %w", c.field, err)
	}
	end := decoder.InputOffset()
	c.values = []gjson.Result{gjson.Parse(operand[:end])}
	after := strings.TrimLeft(operand[end:], " \t")
	if after != "" && after[0] != ',' {
		return c, "", fmt.Errorf("a comma is missing before %.40q", after)
	}
	return c, after, nil
}

// spelt returns what a value without quotes can mean: the string, and the number, true, false or null it spells.
// An order needs one meaning: the number where it is one.
func (c condition) spelt(word string) ([]gjson.Result, error) {
	literal, err := json.Marshal(word)
	if err != nil || word == "" || strings.ContainsAny(word, `!=<>"`) {
		return nil, fmt.Errorf("the value %.40q of %q needs quotes", word, c.field)
	}
	meanings := []gjson.Result{gjson.ParseBytes(literal)}
	if json.Valid([]byte(word)) {
		if plain := gjson.Parse(word); plain.Type != gjson.JSON {
			meanings = append(meanings, plain)
		}
	}
	if last := meanings[len(meanings)-1]; c.op != opEqual && c.op != opNotEqual {
		if last.Type != gjson.Number {
			last = meanings[0]
		}
		return []gjson.Result{last}, nil
	}
	return meanings, nil
}
