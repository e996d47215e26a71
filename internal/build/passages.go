package build

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/chunk"
	"github.com/georag/georag/internal/jsonl"
)

// IDs says how passages are named.
type IDs string

const (
	// IDsPath names a passage "docs/guide.md#3", the fourth of that file, or by the "id" of its JSON line. It is
	// the default.
	IDsPath IDs = ""
	// IDsUUID names a passage by the UUID (version 5) of that name, which is kept in the payload as "passage", for
	// stores that hold no other text as ID (Qdrant). IDs that are UUIDs stay.
	IDsUUID IDs = "uuid"
)

// namespace of the UUIDs; changing it renames every passage.
var namespace = uuid.NewSHA1(uuid.NameSpaceURL, []byte("github.com/georag/georag/internal/build"))

// readAll cuts the files into passages with unique IDs of one kind.
func readAll(files []string, splitter *chunk.Splitter, kind IDs) ([]core.Candidate, error) {
	if kind != IDsPath && kind != IDsUUID {
		return nil, fmt.Errorf("internal/build: %w: ids is %q, want %q or %q", core.ErrInvalid, kind, IDsPath, IDsUUID)
	}
	var passages []core.Candidate
	for _, file := range files {
		more, err := readFile(file, splitter)
		if err != nil {
			return nil, fmt.Errorf("internal/build: %w", err)
		}
		passages = append(passages, more...)
	}
	name(passages, kind)
	sources := make(map[core.ID]any, len(passages))
	for _, p := range passages {
		if first, twice := sources[p.ID]; twice {
			return nil, fmt.Errorf("internal/build: %w: id %s appears twice, in %v and %v", core.ErrInvalid, p.ID, first, p.Payload[fieldSource])
		}
		sources[p.ID] = p.Payload[fieldSource]
	}
	return passages, nil
}

// Fields of the payload.
const (
	fieldTitle   = "title"
	fieldText    = "text"
	fieldSource  = "source"  // the file
	fieldPassage = "passage" // the name that an [IDsUUID] stands for
)

// name makes all IDs of one kind: a collection holds integers or text.
func name(passages []core.Candidate, kind IDs) {
	text := kind == IDsUUID
	for _, p := range passages {
		_, is := p.ID.Text()
		text = text || is
	}
	for i := range passages {
		p := &passages[i]
		if text {
			p.ID = core.StringID(p.ID.String())
		}
		if kind == IDsUUID {
			p.Payload[fieldPassage] = p.ID.String()
			if _, err := uuid.Parse(p.ID.String()); err != nil {
				p.ID = core.StringID(uuid.NewSHA1(namespace, []byte(p.ID.String())).String())
			}
		}
	}
}

func readFile(file string, splitter *chunk.Splitter) ([]core.Candidate, error) {
	if extension(file) == ".jsonl" {
		return readLines(file, splitter)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return nil, fmt.Errorf("%w: %s is not UTF-8 text", ErrFormat, file)
	}
	base := filepath.Base(file)
	split, title := splitter.Markdown, strings.TrimSuffix(base, filepath.Ext(base))
	if extension(file) == ".txt" {
		split = splitter.Text
	}
	source := filepath.ToSlash(file)
	return numbered(source, split(title, text), map[string]any{fieldSource: source}), nil
}

// numbered makes passages of the chunks of one text, named "name#0", "name#1", ….
func numbered(name string, chunks []chunk.Chunk, fields map[string]any) []core.Candidate {
	passages := make([]core.Candidate, len(chunks))
	for i, c := range chunks {
		payload := maps.Clone(fields)
		payload[fieldText] = c.Text
		if c.Title != "" {
			payload[fieldTitle] = c.Title
		}
		passages[i] = core.Candidate{ID: core.StringID(name + "#" + strconv.Itoa(i)), Payload: payload}
	}
	return passages
}

// readLines reads a passage a line: an object with "text" (or "content" or "page_content"), optionally "id" and
// "title", and any further fields, which go into the payload. A text longer than a passage becomes several.
func readLines(file string, splitter *chunk.Splitter) ([]core.Candidate, error) {
	lines, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer lines.Close()
	source := filepath.ToSlash(file)
	var passages []core.Candidate
	err = jsonl.Each(lines, file, func(line jsonl.Line) error {
		id, title, text, fields, err := parseLine(line.Data)
		if err != nil {
			return jsonl.Errorf(file, line.Number, "%w", err)
		}
		if _, taken := fields[fieldSource]; !taken {
			fields[fieldSource] = source
		}
		if id.IsZero() {
			id = core.StringID(source + ":" + strconv.Itoa(line.Number))
		}
		parts := numbered(id.String(), splitter.Text(title, text), fields)
		if len(parts) == 1 {
			parts[0].ID = id
		}
		passages = append(passages, parts...)
		return nil
	})
	return passages, err
}

func parseLine(data []byte) (id core.ID, title, text string, fields map[string]any, err error) {
	fields = map[string]any{}
	var faults []error
	err = jsonl.Members(data, func(name string, value gjson.Result) {
		switch name {
		case "id":
			var err error
			id, err = jsonl.ID(value)
			faults = append(faults, err)
		case fieldTitle:
			title = value.String()
		case fieldText, "content", "page_content":
			if text == "" && value.Type == gjson.String {
				text = value.String()
			}
		default:
			fields[name] = fieldValue(value)
		}
	})
	if strings.TrimSpace(text) == "" {
		faults = append(faults, fmt.Errorf(`neither "text" nor "content" nor "page_content" holds a text`))
	}
	return id, title, text, fields, errors.Join(append(faults, err)...)
}

// fieldValue keeps every digit of an integer.
func fieldValue(v gjson.Result) any {
	if v.Type == gjson.Number && !strings.ContainsAny(v.Raw, ".eE") {
		if i, err := strconv.ParseInt(v.Raw, 10, 64); err == nil {
			return i
		}
	}
	return v.Value()
}
