package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// checkDocument reports what a YAML parser would pass over in silence or explain in terms of Go: a file that is no
// mapping, a second document, a key without a name, and a dotted key, which a command line has and a file has not.
func checkDocument(content []byte, known keys) error {
	documents := yaml.NewDecoder(bytes.NewReader(content))
	var first, second yaml.Node
	if err := documents.Decode(&first); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return err
	}
	top := first.Content[0]
	if top.Kind != yaml.MappingNode && top.Tag != "!!null" {
		return fmt.Errorf("line %d: want keys and values, as in k: 5", top.Line)
	}
	if err := checkNames(top, "", known); err != nil {
		return err
	}
	if err := documents.Decode(&second); err == nil && second.Content[0].Tag != "!!null" {
		return fmt.Errorf("line %d: a second document begins, and a configuration is one", second.Content[0].Line)
	} else if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// checkNames checks the keys of a mapping that stands at path.
func checkNames(mapping *yaml.Node, path string, known keys) error {
	if mapping.Kind != yaml.MappingNode || known[path] { // below a free map, names are not ours
		return nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		switch {
		case key.Tag == "!!null" || key.Value == "" && key.Kind == yaml.ScalarNode:
			return fmt.Errorf("line %d: a key has no name", key.Line)
		case strings.Contains(key.Value, delimiter):
			section, below, _ := strings.Cut(key.Value, delimiter)
			return fmt.Errorf("line %d: %s is a dotted key: write %s: and below it %s:", key.Line, key.Value, section, below)
		}
		at := key.Value
		if path != "" {
			at = path + delimiter + at
		}
		if err := checkNames(value, at, known); err != nil {
			return err
		}
	}
	return nil
}

// oneLine is a parser's error without line breaks.
func oneLine(err error) error {
	if several := (*yaml.TypeError)(nil); errors.As(err, &several) {
		return errors.New(strings.Join(several.Errors, "; "))
	}
	return err
}
