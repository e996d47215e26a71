package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/georag/georag/internal/config"
)

// TestConfigFiles reads every file of configs as it stands, and again with its commented settings switched on, so
// that no comment can name a setting that does not exist.
func TestConfigFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "configs", "*.yaml"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := mustRead(t, file, string(content))
			if err := c.Validate(); err != nil {
				t.Error(err)
			}
			needed := 0
			for _, line := range strings.Split(string(content), "\n") {
				if text := strings.TrimSpace(line); text != "" && text[0] != '#' {
					needed++
				}
			}
			if needed > 6 {
				t.Errorf("%d lines are needed, want at most 6", needed)
			}
			mustRead(t, file, uncommented(string(content)))
		})
	}
}

func mustRead(t *testing.T, file, content string) Config {
	t.Helper()
	c, err := readConfig(config.Layers{File: file, ReadFile: func(string) ([]byte, error) { return []byte(content), nil }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// setting is a commented line that holds a key or a list item, rather than prose.
var setting = regexp.MustCompile(`^(\s*)# (\s*[a-z_]+:( .*)?)$`)

func uncommented(content string) string {
	lines := strings.Split(content, "\n")
	for i, line := range lines {
		if m := setting.FindStringSubmatch(line); m != nil {
			lines[i] = m[1] + m[2]
		}
	}
	return strings.Join(lines, "\n")
}
