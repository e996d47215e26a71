package build

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/georag/georag/core"
)

// Formats lists the supported files by the end of their names.
func Formats() []string { return []string{".md", ".markdown", ".txt", ".jsonl"} }

// expand returns the files that patterns name, each once, sorted.
func expand(patterns []string) ([]string, error) {
	var files, refused []string
	for _, pattern := range patterns {
		matches, err := matching(pattern)
		if err != nil {
			return nil, err
		}
		for _, file := range matches {
			info, err := os.Stat(file)
			switch {
			case err != nil:
				return nil, fmt.Errorf("internal/build: %w", err)
			case info.IsDir():
				refused = append(refused, file+" (a folder)")
			case !slices.Contains(Formats(), extension(file)):
				refused = append(refused, file)
			default:
				files = append(files, filepath.Clean(file))
			}
		}
	}
	slices.Sort(refused)
	if refused = slices.Compact(refused); len(refused) > 0 {
		return nil, fmt.Errorf("internal/build: %w: %s; supported are files ending in %s",
			ErrFormat, listed(refused), strings.Join(Formats(), ", "))
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("internal/build: %w: no input is named", core.ErrInvalid)
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// matching is the file named pattern where there is one, whatever characters it has, else what the pattern matches.
func matching(pattern string) ([]string, error) {
	if _, err := os.Stat(pattern); err == nil {
		return []string{pattern}, nil
	}
	if strings.Contains(pattern, "**") {
		return nil, fmt.Errorf("internal/build: %w: %q: ** is not supported, name each level: docs/*.md docs/*/*.md", core.ErrInvalid, pattern)
	}
	matches, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("internal/build: %w: pattern %q: %w", core.ErrInvalid, pattern, err)
	}
	if len(matches) == 0 {
		return nil, fmt.Errorf("internal/build: %w: %q matches no file", core.ErrNotFound, pattern)
	}
	return matches, nil
}

func extension(file string) string { return strings.ToLower(filepath.Ext(file)) }

// listed names the first few of many.
func listed(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
