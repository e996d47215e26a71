package chunk

import "strings"

// section is what stands under one heading of a document.
type section struct {
	heading string // "" for what stands before the first heading
	path    []int  // sections whose headings lead here, outermost first, its own last; empty without a heading
	blocks  []block
}

// block is a stretch of source that is best kept whole: a paragraph, a list, a code fence.
type block struct {
	text string
	code bool
}

// titleShare bounds a title to this part of a passage's tokens.
const titleShare = 4

// sections cuts every section and drops no title and no heading: one that fits in no passage's title is text.
func (s *Splitter) sections(title string, all []section) []Chunk {
	if s.counter.Count(title) > s.config.maxTokens()/titleShare {
		all[0].blocks = append([]block{{text: title}}, all[0].blocks...)
		title = ""
	}
	kept := make([][]int, len(all))
	titled := make([]bool, len(all))
	for i, section := range all {
		kept[i] = s.keptPath(all, section.path)
		if len(section.blocks) > 0 {
			for _, heading := range kept[i] {
				titled[heading] = true
			}
		}
	}
	var chunks []Chunk
	for i, section := range all {
		blocks := section.blocks
		if section.heading != "" && !titled[i] {
			blocks = append([]block{{text: section.heading}}, blocks...)
			kept[i] = s.keptPath(all, section.path[:len(section.path)-1])
		}
		chunks = append(chunks, s.pack(pathTitle(all, kept[i], title), blocks)...)
	}
	return chunks
}

// keptPath is path without the outermost headings that make it too long for a title.
func (s *Splitter) keptPath(all []section, path []int) []int {
	for len(path) > 0 && s.counter.Count(pathTitle(all, path, "")) > s.config.maxTokens()/titleShare {
		path = path[1:]
	}
	return path
}

func pathTitle(all []section, path []int, otherwise string) string {
	if len(path) == 0 {
		return otherwise
	}
	headings := make([]string, len(path))
	for i, at := range path {
		headings[i] = all[at].heading
	}
	return strings.Join(headings, " > ")
}
