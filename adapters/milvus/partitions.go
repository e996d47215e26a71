package milvus

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/georag/georag/core"
)

// partitions returns the partitions to search: the requested ones, which must be among the configured ones.
func (s *Store) partitions(requested []string) ([]string, error) {
	if requested == nil {
		return s.cfg.Partitions, nil
	}
	if len(requested) == 0 {
		return nil, fmt.Errorf("adapters/milvus: %w: the list of partitions is empty", core.ErrEmptyScope)
	}
	if err := checkPartitionNames(requested); err != nil {
		return nil, err
	}
	for _, name := range requested {
		if len(s.cfg.Partitions) > 0 && !slices.Contains(s.cfg.Partitions, name) {
			return nil, fmt.Errorf("adapters/milvus: partition %q: %w: the configured ones are %s", name, core.ErrNotFound, list(slices.Clone(s.cfg.Partitions)))
		}
	}
	return requested, nil
}

var partitionName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// checkPartitionNames refuses what is no plain name, because Milvus reads partition names as regular expressions:
// ".*" would be every partition.
func checkPartitionNames(names []string) error {
	for _, name := range names {
		if !partitionName.MatchString(name) {
			return fmt.Errorf("adapters/milvus: %w: %q is no partition name", core.ErrInvalid, name)
		}
	}
	return nil
}

// missingPartition adds to a "no such partition" what partitions there are.
func (s *Store) missingPartition(ctx context.Context, l *link, err error) error {
	var refusal *serverError
	if !errors.As(err, &refusal) || !refusal.partitionMissing() {
		return err
	}
	names, failed := l.server.partitions(ctx, s.cfg.Collection)
	if failed != nil {
		return err
	}
	return fmt.Errorf("adapters/milvus: %w: %s; collection %q has the partitions %s", core.ErrNotFound, refusal.reason, s.cfg.Collection, list(names))
}
