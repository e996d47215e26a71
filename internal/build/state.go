package build

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/georag/georag/core"
)

// state is what earlier runs have written: a file of JSON lines, the first one a header, then a line for every
// passage with the digest of what was written. Lines are appended after their batch is in the store, so a crash
// repeats at most one batch.
type state struct {
	header
	done map[core.ID]string // digest of what was written last
	path string
	file *os.File // nil where there is no state file, or nothing has been written yet
}

// header ties a state file to its build: vectors of two models in one collection would be nonsense.
type header struct {
	Version   int    `json:"version"`
	Model     string `json:"model"`
	Dimension int    `json:"dimension"`
}

const stateVersion = 1

// entry is a line of a state file.
type entry struct {
	ID     core.ID `json:"id"`
	Digest string  `json:"digest"`
}

// digest of a passage and, where it brings one, its vector.
func digest(p core.Candidate) (string, error) {
	hash := sha256.New()
	if err := json.NewEncoder(hash).Encode(p.Payload); err != nil {
		return "", fmt.Errorf("internal/build: payload of passage %s: %w", p.ID, err)
	}
	if err := binary.Write(hash, binary.LittleEndian, p.Vector); err != nil {
		return "", fmt.Errorf("internal/build: vector of passage %s: %w", p.ID, err)
	}
	return hex.EncodeToString(hash.Sum(nil)[:16]), nil
}

// readState reads the file at path, which need not exist. A last line without its end, which a crash leaves, is cut.
func readState(path, model string) (*state, error) {
	s := &state{header: header{Version: stateVersion, Model: model}, done: map[core.ID]string{}, path: path}
	if path == "" {
		return s, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("internal/build: %w", err)
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	if len(whole) == 0 {
		return s, nil
	}
	if err := s.parse(whole, model); err != nil {
		return nil, err
	}
	s.file, err = os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("internal/build: %w", err)
	}
	_, err = s.file.Seek(int64(len(whole)), io.SeekStart)
	if err := errors.Join(err, s.file.Truncate(int64(len(whole)))); err != nil {
		return nil, errors.Join(fmt.Errorf("internal/build: %w", err), s.file.Close())
	}
	return s, nil
}

func (s *state) parse(lines []byte, model string) error {
	decoder := json.NewDecoder(bytes.NewReader(lines))
	if err := decoder.Decode(&s.header); err != nil {
		return fmt.Errorf("internal/build: %w: %s: %w", ErrState, s.path, err)
	}
	if s.Version != stateVersion || s.Model != model {
		return fmt.Errorf("internal/build: %w: %s is of model %q (version %d), this build is of %q (version %d); remove it to write everything anew",
			ErrState, s.path, s.Model, s.Version, model, stateVersion)
	}
	for {
		var e entry
		err := decoder.Decode(&e)
		if err == io.EOF {
			return nil
		}
		if err != nil || e.ID.IsZero() {
			return fmt.Errorf("internal/build: %w: %s: malformed line after %d passages: %w", ErrState, s.path, len(s.done), err)
		}
		s.done[e.ID] = e.Digest
	}
}

// note records a batch that is in the store, and flushes it to the disk.
func (s *state) note(entries []entry) error {
	for _, e := range entries {
		s.done[e.ID] = e.Digest
	}
	if s.path == "" {
		return nil
	}
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	if s.file == nil {
		file, err := os.Create(s.path)
		if err != nil {
			return fmt.Errorf("internal/build: state file: %w", err)
		}
		s.file = file
		if err := encoder.Encode(s.header); err != nil {
			return fmt.Errorf("internal/build: state file: %w", err)
		}
	}
	for _, e := range entries {
		if err := encoder.Encode(e); err != nil {
			return fmt.Errorf("internal/build: state file: %w", err)
		}
	}
	_, err := s.file.Write(lines.Bytes())
	if err := errors.Join(err, s.file.Sync()); err != nil {
		return fmt.Errorf("internal/build: state file: %w", err)
	}
	return nil
}

// forget starts over: the store no longer holds what the file says.
func (s *state) forget() error {
	s.done = map[core.ID]string{}
	err := s.close()
	s.file = nil
	return err
}

func (s *state) close() error {
	if s.file == nil {
		return nil
	}
	if err := s.file.Close(); err != nil {
		return fmt.Errorf("internal/build: state file: %w", err)
	}
	return nil
}
