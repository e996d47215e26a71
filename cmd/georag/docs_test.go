package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fenced = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	// word is a word of a shell's command line.
	word = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
)

// TestDocs reads every configuration and every command of the pages on servers and models: no setting and no flag may
// be one that does not exist.
func TestDocs(t *testing.T) {
	for _, page := range []string{"qdrant.md", "milvus.md", "models.md"} {
		content, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		commands := 0
		for _, block := range fenced.FindAllStringSubmatch(string(content), -1) {
			if block[1] == "yaml" {
				mustRead(t, page, block[2])
				continue
			}
			for line := range strings.Lines(block[2]) {
				commands++
				checkCommand(t, page, line)
			}
		}
		if commands == 0 {
			t.Errorf("%s has no command", page)
		}
	}
}

func checkCommand(t *testing.T, page, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, "  # ")
	words := word.FindAllString(line, -1)
	if len(words) < 2 || words[0] != "georag" {
		t.Errorf("%s: %s", page, line)
		return
	}
	root := newRoot(streams{strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}})
	command, rest, err := root.Find(words[1:])
	if err != nil || command == root {
		t.Errorf("%s: %s: %v", page, line, err)
		return
	}
	if err := command.ParseFlags(rest); err != nil {
		t.Errorf("%s: %s: %v", page, line, err)
	}
	if command.Flags().NFlag() == 0 {
		t.Errorf("%s: %s sets no flag", page, line)
	}
}
