package openai

import (
	"encoding/json"
	"regexp"
	"strings"
)

// maxStarts bounds how many brackets are tried as the beginning of JSON.
const maxStarts = 64

// fromJSON reads the strings of the first JSON value that holds any. Strings that were complete before the value was
// cut off, or broke its own rules, count.
func fromJSON(text string) []string {
	rest, starts := text, 0
	for starts < maxStarts {
		at := strings.IndexAny(rest, "[{")
		if at < 0 {
			break
		}
		rest = rest[at:]
		if found := choose(readStrings(rest)); len(found) > 0 {
			return found
		}
		rest, starts = rest[1:], starts+1
	}
	var quoted string // a list inside one JSON string
	if json.Unmarshal([]byte(text), &quoted) == nil {
		return candidates(quoted, false)
	}
	return nil
}

// leaf is one string value: the name it stands under, and whether an array holds it or its object.
type leaf struct {
	name, text string
	inArray    bool
}

// readStrings walks through JSON token by token, as far as it is well formed, and collects the string values.
func readStrings(text string) []leaf {
	decoder := json.NewDecoder(strings.NewReader(text))
	var leaves []leaf
	walk := walker{}
	for {
		token, err := decoder.Token()
		if err != nil {
			return leaves
		}
		if delimiter, ok := token.(json.Delim); ok {
			walk.delimiter(delimiter)
			continue
		}
		value, isText := token.(string)
		switch frame := walk.top(); {
		case frame == nil: // a value between two documents
		case !frame.array && frame.wantName:
			frame.name, frame.wantName = value, false
		default:
			if isText {
				leaves = append(leaves, leaf{walk.name(), value, walk.arrays > 0})
			}
			frame.wantName = true
		}
	}
}

// walker knows where in the document a token stands.
type walker struct {
	frames []frame
	arrays int
}

type frame struct {
	array    bool
	wantName bool
	name     string
}

func (w *walker) top() *frame {
	if len(w.frames) == 0 {
		return nil
	}
	return &w.frames[len(w.frames)-1]
}

// name is the nearest name above the current value.
func (w *walker) name() string {
	for i := len(w.frames) - 1; i >= 0; i-- {
		if !w.frames[i].array {
			return w.frames[i].name
		}
	}
	return ""
}

func (w *walker) delimiter(d json.Delim) {
	switch d {
	case '[':
		w.frames, w.arrays = append(w.frames, frame{array: true}), w.arrays+1
	case '{':
		w.frames = append(w.frames, frame{wantName: true})
	default:
		if w.top().array {
			w.arrays--
		}
		w.frames = w.frames[:len(w.frames)-1]
		if parent := w.top(); parent != nil {
			parent.wantName = true
		}
	}
}

var (
	asked = regexp.MustCompile(`(?i)quer|question|^sub|^q\d*$`)
	aside = regexp.MustCompile(`(?i)reason|thought|thinking|explanation|rationale|analysis|^notes?$|^id$|^type$|purpose|intent|original|entit|keyword|language|title|status|error|message|model|role|object`)
)

// choose takes the strings that stand where sub-queries are expected: lists under a name that says so, then such
// names outside lists, then other lists, then whatever is left but reasons and labels.
func choose(leaves []leaf) []string {
	for _, fits := range []func(leaf) bool{
		func(l leaf) bool { return l.inArray && asked.MatchString(l.name) },
		func(l leaf) bool { return asked.MatchString(l.name) },
		func(l leaf) bool { return l.inArray },
		func(leaf) bool { return true },
	} {
		var texts []string
		for _, l := range leaves {
			if !aside.MatchString(l.name) && fits(l) && letters(l.text) != "" {
				texts = append(texts, l.text)
			}
		}
		if len(texts) > 0 {
			return texts
		}
	}
	return nil
}

// quotedItem is a string of a list in any kind of quotes, up to a quote that ends an item rather than standing within.
var quotedItem = regexp.MustCompile(`(?s)^\s*(?:'(.*?)'|"(.*?)"|“(.*?)”)\s*(?:,|\]|\)|$|\n)`)

// fromQuotedList reads the list literals of other languages: ['a', 'b'], ("a", "b").
func fromQuotedList(text string) []string {
	at := strings.IndexAny(text, "[(")
	if at < 0 {
		return nil
	}
	var items []string
	for rest := text[at+1:]; ; {
		m := quotedItem.FindStringSubmatchIndex(rest)
		if m == nil {
			break
		}
		for group := 2; group < len(m); group += 2 {
			if m[group] >= 0 {
				items = append(items, strings.NewReplacer(`\'`, "'", `\"`, `"`).Replace(rest[m[group]:m[group+1]]))
			}
		}
		rest = rest[m[1]:]
	}
	if len(items) < 2 {
		return nil
	}
	return items
}
