package flat

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
	"github.com/georag/georag/internal/durable"
	"github.com/georag/georag/internal/jsonl"
	"github.com/georag/georag/internal/npy"
)

// encode turns passages into lines, each with its end, and checks that they can be read again as they are.
func encode(passages []core.Candidate, dim int) ([][]byte, error) {
	lines := make([][]byte, len(passages))
	for i, p := range passages {
		if err := vec.Check(p.Vector, dim); err != nil {
			return nil, fmt.Errorf("adapters/flat: upsert of id %q: %w", p.ID, err)
		}
		text, textual := p.ID.Text()
		if p.ID.IsZero() || textual && (text == "" || !utf8.ValidString(text)) {
			return nil, fmt.Errorf("adapters/flat: upsert: %w: passage %d of %d has the id %q", core.ErrInvalid, i+1, len(passages), p.ID)
		}
		if _, taken := p.Payload[idField]; taken {
			return nil, fmt.Errorf("adapters/flat: upsert of id %q: %w: its payload has a field %q", p.ID, core.ErrInvalid, idField)
		}
		line, err := encodeLine(p)
		if err == nil && len(line) > jsonl.MaxLine {
			err = fmt.Errorf("its payload is longer than %d MiB", jsonl.MaxLine>>20)
		}
		if err != nil {
			return nil, fmt.Errorf("adapters/flat: upsert of id %q: %w: %w", p.ID, core.ErrInvalid, err)
		}
		lines[i] = line
	}
	return lines, nil
}

// encodeLine writes the ID first, where a person looks for it.
func encodeLine(p core.Candidate) ([]byte, error) {
	id, err := json.Marshal(p.ID)
	if err != nil {
		return nil, err
	}
	var line bytes.Buffer
	fmt.Fprintf(&line, `{%q:%s`, idField, id)
	if len(p.Payload) > 0 {
		line.WriteByte(',')
		start := line.Len()
		encoder := json.NewEncoder(&line)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(p.Payload); err != nil {
			return nil, err
		}
		line.Truncate(line.Len() - len("}\n"))
		return append(slices.Delete(line.Bytes(), start, start+len("{")), "}\n"...), nil
	}
	line.WriteString("}\n")
	return line.Bytes(), nil
}

// content is what a part to be written holds, by row.
type content struct {
	rows   int
	line   func(row int) ([]byte, error) // with its end
	vector func(row int) []float32
}

// append writes the files of a further part, durably, and returns the manifest that includes it. Nothing reads
// them before that manifest is written.
func (m manifest) append(dir string, c content) (manifest, error) {
	files := partFiles{
		Lines: fmt.Sprintf("passages-%06d.jsonl", m.Next), Vectors: fmt.Sprintf("passages-%06d.npy", m.Next), Rows: c.rows,
	}
	err := durable.WriteFile(filepath.Join(dir, files.Lines), func(file io.WriteSeeker) error {
		buffered := bufio.NewWriter(file)
		for row := range c.rows {
			line, err := c.line(row)
			if err != nil {
				return err
			}
			if _, err := buffered.Write(line); err != nil {
				return err
			}
		}
		return buffered.Flush()
	})
	if err != nil {
		return m, err
	}
	err = durable.WriteFile(filepath.Join(dir, files.Vectors), func(file io.WriteSeeker) error {
		w, err := npy.NewWriter(file, m.Dimension)
		if err != nil {
			return err
		}
		for row := range c.rows {
			if err := w.Write(c.vector(row)); err != nil {
				return err
			}
		}
		return w.Close()
	})
	m.Parts = append(slices.Clone(m.Parts), files)
	m.Next++
	return m, err
}

// written matches the files that a loader makes, finished or not, beside index.json itself.
var written = regexp.MustCompile(`^(passages-[0-9]{6,}\.(jsonl|npy)(\.partial-[0-9]+)?|index\.json\.partial-[0-9]+)$`)

// sweep removes what a loader wrote and the manifest does not name: parts that were merged, and what a crash left.
// A file that cannot be removed does no harm and is tried again next time.
func (l *Loader) sweep() error {
	entries, err := os.ReadDir(l.cfg.Dir)
	if err != nil {
		return fmt.Errorf("adapters/flat: %w", err)
	}
	for _, entry := range entries {
		name := entry.Name()
		named := slices.ContainsFunc(l.manifest.Parts, func(p partFiles) bool { return p.Lines == name || p.Vectors == name })
		if !named && written.MatchString(name) && entry.Type().IsRegular() {
			_ = os.Remove(filepath.Join(l.cfg.Dir, name))
		}
	}
	return nil
}
