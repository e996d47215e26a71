package flat

import (
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/georag/georag/core"
)

// reader reads passages for one call, each row once.
type reader struct {
	*Store
	line []byte
	seen map[int32]core.Candidate
}

func (s *Store) newReader() *reader { return &reader{Store: s, seen: make(map[int32]core.Candidate)} }

// candidate returns the passage of a row with a vector and payload of its own: nothing in it ends with the store.
func (r *reader) candidate(row int32) (core.Candidate, error) {
	if c, known := r.seen[row]; known {
		return c, nil
	}
	var err error
	if r.line, err = r.Store.line(r.line, row); err != nil {
		return core.Candidate{}, err
	}
	id, payload := payloadOf(r.line)
	if id != r.ids[row] {
		return core.Candidate{}, fmt.Errorf("adapters/flat: %s: %w: passage %s is no longer where it was when the index was opened",
			r.where.name(""), core.ErrUnavailable, r.ids[row])
	}
	p := r.part(row)
	c := core.Candidate{ID: r.ids[row], Vector: p.vectors.Row(nil, int(row)-p.first), Payload: payload}
	r.seen[row] = c
	return c, nil
}

// line reads the line of a row into buffer, which it may replace, and returns it.
func (s *Store) line(buffer []byte, row int32) ([]byte, error) {
	p := s.part(row)
	at := p.spans[int(row)-p.first]
	buffer = slices.Grow(buffer[:0], int(at.length))[:at.length]
	if _, err := p.lines.ReadAt(buffer, at.offset); err != nil {
		return buffer, fmt.Errorf("adapters/flat: read passage %s: %w: %w", s.ids[row], core.ErrUnavailable, err)
	}
	if !gjson.ValidBytes(buffer) {
		return buffer, fmt.Errorf("adapters/flat: %s: %w: the line of passage %s was overwritten", s.where.name(""), core.ErrUnavailable, s.ids[row])
	}
	return buffer, nil
}
