package trec

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// eachLine splits every line into columns and hands them on. Blank lines are passed over, as trec_eval does.
func eachLine(r io.Reader, file string, columns int, yield func([]string) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	number := 0
	for lines.Scan() {
		number++
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		if len(fields) != columns {
			return fmt.Errorf("internal/trec: %s:%d: %w: %d columns, want %d", file, number, ErrFormat, len(fields), columns)
		}
		if err := yield(fields); err != nil {
			return fmt.Errorf("internal/trec: %s:%d: %w", file, number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("internal/trec: %s:%d: %w", file, number+1, err)
	}
	return nil
}

// checkNames refuses names that would change the number of columns.
func checkNames(names []string) error {
	for _, name := range names {
		if fields := strings.Fields(name); len(fields) != 1 || fields[0] != name {
			return fmt.Errorf("internal/trec: %w: %q is empty or holds white space", ErrFormat, name)
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
