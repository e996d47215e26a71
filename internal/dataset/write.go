package dataset

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/georag/georag/internal/durable"
)

// Write writes passages.jsonl and questions.jsonl into dir, which is made where it is missing. Vectors are not
// part of a dataset: they are added by embedding the folder.
func (c Corpus) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("internal/dataset: %w", err)
	}
	if err := writeLines(filepath.Join(dir, "passages.jsonl"), c.Passages); err != nil {
		return err
	}
	return writeLines(filepath.Join(dir, "questions.jsonl"), c.Questions)
}

func writeLines[T any](path string, rows []T) error {
	return durable.WriteFile(path, func(w io.WriteSeeker) error {
		buffered := bufio.NewWriter(w)
		encoder := json.NewEncoder(buffered)
		encoder.SetEscapeHTML(false)
		for i := range rows {
			if err := encoder.Encode(&rows[i]); err != nil {
				return err
			}
		}
		return buffered.Flush()
	})
}
