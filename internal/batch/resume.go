package batch

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// written is what an earlier run left: whole lines, and the question that the last one answers.
type written struct {
	lines int
	last  string
}

// resume reads what out holds, cuts off a last line without its end, and leaves the position there.
func resume(out *os.File) (w written, err error) {
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return w, fmt.Errorf("internal/batch: %w", err)
	}
	lines, end, last := bufio.NewReader(out), int64(0), []byte(nil)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return w, fmt.Errorf("internal/batch: read the output: %w", err)
		}
		w.lines, end, last = w.lines+1, end+int64(len(line)), line
	}
	if w.lines > 0 {
		var line failure
		if err := json.Unmarshal(last, &line); err != nil || line.ID == "" {
			return w, fmt.Errorf("internal/batch: %w: line %d of it is no answer", ErrResume, w.lines)
		}
		w.last = line.ID
	}
	if err := out.Truncate(end); err != nil {
		return w, fmt.Errorf("internal/batch: cut off the torn last line: %w", err)
	}
	if _, err := out.Seek(end, io.SeekStart); err != nil {
		return w, fmt.Errorf("internal/batch: %w", err)
	}
	return w, nil
}

// check compares the last answer with the question of its line.
func (w written) check(q question, name string, line int) error {
	if q.id != w.last {
		return fmt.Errorf("internal/batch: %w: %s:%d is question %s, line %d of the output answers %s", ErrResume, name, line, q.id, line, w.last)
	}
	return nil
}
