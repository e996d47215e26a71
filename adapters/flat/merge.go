package flat

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// mergeAt parts of about one size are merged into one, so that n passages written in any batches are copied
// O(log n) times and lie in O(log n) parts.
const mergeAt = 8

// sizeClass groups parts by size: each class is eight times the one before.
func (p partFiles) sizeClass() int { return bits.Len(uint(p.Rows)) / 3 }

// merge merges the last parts, where there are enough that are no larger than the very last.
func (l *Loader) merge(ctx context.Context) error {
	for {
		parts := l.manifest.Parts
		first := len(parts)
		for first > 0 && parts[first-1].sizeClass() <= parts[len(parts)-1].sizeClass() {
			first--
		}
		if len(parts)-first < mergeAt {
			return nil
		}
		if err := l.mergeFrom(ctx, first); err != nil {
			return fmt.Errorf("adapters/flat: merge: %w", err)
		}
	}
}

// mergeFrom replaces the parts from the first-th on by one, without the rows that a later one supersedes.
func (l *Loader) mergeFrom(ctx context.Context, first int) (err error) {
	merging := l.manifest
	merging.Parts = merging.Parts[first:]
	s, err := openParts(onDisk(l.cfg.Dir), Config{}, merging)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	live, scratch, buffer := rows{some: s.live, all: len(s.ids)}, make([]float32, s.dim), []byte(nil)
	rest := l.manifest
	rest.Parts = slices.Clone(rest.Parts[:first])
	merged, err := rest.append(l.cfg.Dir, content{
		rows: live.len(),
		line: func(i int) ([]byte, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			var err error
			buffer, err = s.line(buffer, live.at(i))
			return append(buffer, '\n'), err
		},
		vector: func(i int) []float32 { return s.view(scratch, live.at(i)) },
	})
	if err != nil {
		return err
	}
	return l.commit(merged)
}
