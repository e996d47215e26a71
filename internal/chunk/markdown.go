package chunk

import (
	"regexp"
	"strings"
)

var (
	atxHeading    = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	setextHeading = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*$`)
	// A fence may be indented, in a list, or quoted.
	fence = regexp.MustCompile("^[ \t>]*(`{3,}|~{3,})(.*)$")
)

// markdown reads a document's headings, fences and paragraphs line by line. What it does not know (tables, lists,
// HTML, front matter) stays in the text as it is.
func markdown(text string) []section {
	r := reader{sections: []section{{}}}
	for line := range strings.Lines(text) {
		r.line(line)
	}
	r.endBlock(r.fence != "")
	return r.sections
}

type reader struct {
	sections []section
	levels   []int    // of the current path's headings
	open     []string // lines of the block that has not ended
	fence    string   // what opened the fence that has not ended
}

func (r *reader) line(line string) {
	bare := strings.TrimRight(line, "\r\n")
	marks := fence.FindStringSubmatch(bare)
	switch {
	case r.fence != "":
		r.open = append(r.open, line)
		if marks != nil && strings.HasPrefix(marks[1], r.fence) && strings.TrimSpace(marks[2]) == "" {
			r.endBlock(true)
		}
	case marks != nil && !(marks[1][0] == '`' && strings.Contains(marks[2], "`")): // not ```code``` within a line
		r.endBlock(false)
		r.fence, r.open = marks[1], []string{line}
	case strings.TrimSpace(bare) == "":
		r.endBlock(false)
	default:
		r.paragraphLine(line, bare)
	}
}

func (r *reader) paragraphLine(line, bare string) {
	if m := atxHeading.FindStringSubmatch(bare); m != nil && strings.Trim(m[2], "# \t") != "" {
		r.endBlock(false)
		r.heading(len(m[1]), m[2])
		return
	}
	// Only a single line becomes a heading by being underlined: a list or table above a rule stays text.
	if m := setextHeading.FindStringSubmatch(bare); m != nil && len(r.open) == 1 && !startsBlock(r.open[0]) {
		heading := r.open[0]
		r.open = nil
		level := 1
		if m[1][0] == '-' {
			level = 2
		}
		r.heading(level, heading)
		return
	}
	r.open = append(r.open, line)
}

// startsBlock reports lines that are lists, quotes, tables or rules, which no underline makes a heading.
func startsBlock(line string) bool {
	return strings.IndexAny(strings.TrimSpace(line), "-*+>|") == 0
}

func (r *reader) heading(level int, text string) {
	path := r.sections[len(r.sections)-1].path
	for len(r.levels) > 0 && r.levels[len(r.levels)-1] >= level {
		r.levels, path = r.levels[:len(r.levels)-1], path[:len(path)-1]
	}
	r.levels = append(r.levels, level)
	own := append(append([]int(nil), path...), len(r.sections))
	r.sections = append(r.sections, section{heading: strings.TrimSpace(text), path: own})
}

func (r *reader) endBlock(code bool) {
	if text := strings.Join(r.open, ""); strings.TrimSpace(text) != "" {
		last := &r.sections[len(r.sections)-1]
		last.blocks = append(last.blocks, block{text: text, code: code})
	}
	r.open, r.fence = nil, ""
}

// paragraphs splits plain text at blank lines.
func paragraphs(text string) []block {
	var blocks []block
	var open strings.Builder
	end := func() {
		if open.Len() > 0 {
			blocks = append(blocks, block{text: open.String()})
			open.Reset()
		}
	}
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			end()
		} else {
			open.WriteString(line)
		}
	}
	end()
	return blocks
}
