package diagnose

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/georag/georag/core"
)

// state is the file that records go to, one JSON object a line below a line that says what they are of.
type state struct {
	file *os.File // nil where no state is kept
}

// stateHeader is the first line.
type stateHeader struct {
	Of string `json:"diagnosis_of"` // a hash of the settings, the index and the sample
}

// openState reads the records of an earlier run, hands each to yield, and makes the file ready for more. A last line
// that was torn by the interruption is cut off. A file of another diagnosis is an error that wraps [core.ErrInvalid].
func openState(path, of string, yield func(record)) (_ *state, err error) {
	if path == "" {
		return &state{}, nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("internal/diagnose: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	whole, err := readState(file, path, of, yield)
	if err != nil {
		return nil, err
	}
	if err := file.Truncate(whole); err != nil {
		return nil, fmt.Errorf("internal/diagnose: %w", err)
	}
	if _, err := file.Seek(whole, io.SeekStart); err != nil {
		return nil, fmt.Errorf("internal/diagnose: %w", err)
	}
	s := &state{file}
	if whole == 0 {
		return s, s.write(stateHeader{of})
	}
	return s, nil
}

// readState returns how many bytes of the file are whole lines.
func readState(file *os.File, path, of string, yield func(record)) (whole int64, err error) {
	source := bufio.NewReader(file)
	for number := 1; ; number++ {
		line, err := source.ReadBytes('\n')
		if err == io.EOF {
			return whole, nil // what follows the last line end was being written when the run ended
		}
		if err != nil {
			return 0, fmt.Errorf("internal/diagnose: %s:%d: %w", path, number, err)
		}
		if number == 1 {
			var header stateHeader
			if err := json.Unmarshal(line, &header); err != nil || header.Of != of {
				return 0, fmt.Errorf("internal/diagnose: %w: %s is the state of another diagnosis (other settings, index or queries); remove it or name another file", core.ErrInvalid, path)
			}
		} else {
			var r record
			if err := json.Unmarshal(line, &r); err != nil {
				return 0, fmt.Errorf("internal/diagnose: %w: %s:%d: %w", core.ErrInvalid, path, number, err)
			}
			yield(r)
		}
		whole += int64(len(line))
	}
}

// add appends a record.
func (s *state) add(r record) error { return s.write(r) }

func (s *state) write(value any) error {
	if s.file == nil {
		return nil
	}
	line, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("internal/diagnose: %w", err)
	}
	if _, err := s.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("internal/diagnose: state: %w", err)
	}
	return nil
}

func (s *state) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// identity is a hash of everything that the records depend on.
func (d *diagnosis) identity() (string, error) {
	var content bytes.Buffer
	err := json.NewEncoder(&content).Encode([]any{
		d.cfg.Stage.Settings, d.cfg.ExactQueries, d.cfg.Scope, d.queries.Len(),
		d.description.Store, d.description.Collection, d.description.Vectors,
	})
	if err != nil {
		return "", fmt.Errorf("internal/diagnose: %w", err)
	}
	sum := sha256.Sum256(content.Bytes())
	return hex.EncodeToString(sum[:]), nil
}
