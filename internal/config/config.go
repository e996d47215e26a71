// Package config reads settings in layers: a YAML file, then GEORAG_… environment variables, then what was given
// on the command line. A later layer wins key by key. A key that no field has is an error that suggests the nearest
// one; a key that is given counts, also where its value is 0, false or "".
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"

	"github.com/georag/georag/core"
)

const delimiter = "."

// Layers are the sources of one configuration.
type Layers struct {
	// File is the path of a YAML file; "" is none.
	File string
	// ReadFile reads File; tests replace it. nil is [os.ReadFile].
	ReadFile func(string) ([]byte, error)
	// Environ holds NAME=value pairs, as [os.Environ] returns them.
	Environ []string
	// Flags holds what was given on the command line, by key ("selectors.mmr.lambda").
	Flags map[string]any
}

// Read reads the layers and checks every key against shape, a struct or a pointer to one.
// The error wraps [core.ErrInvalid] where the content is at fault.
func Read(l Layers, shape any) (*Values, error) {
	known := keysOf(reflect.TypeOf(shape))
	values := &Values{layers: koanf.New(delimiter)}
	if l.File != "" {
		if err := values.loadFile(l, known); err != nil {
			return nil, err
		}
	}
	environment, err := fromEnvironment(l.Environ, known, values.namedVariables())
	if err != nil {
		return nil, err
	}
	for key, value := range l.Flags {
		if err := known.check(key, value); err != nil {
			return nil, fmt.Errorf("internal/config: command line: %w", err)
		}
	}
	for _, layer := range []map[string]any{environment, l.Flags} {
		if err := values.layers.Load(confmap.Provider(layer, delimiter), nil); err != nil {
			return nil, fmt.Errorf("internal/config: %w: %w", core.ErrInvalid, err)
		}
	}
	return values, nil
}

// Values are the merged layers.
type Values struct{ layers *koanf.Koanf }

func (v *Values) loadFile(l Layers, known keys) error {
	content, err := l.read()
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("internal/config: %w: there is no file %s", core.ErrInvalid, l.File)
		}
		return fmt.Errorf("internal/config: %w: %w", core.ErrInvalid, err)
	}
	if err = checkDocument(content, known); err == nil {
		err = v.layers.Load(rawbytes.Provider(content), yaml.Parser())
	}
	if err != nil {
		return fmt.Errorf("internal/config: %s: %w: %w", l.File, core.ErrInvalid, oneLine(err))
	}
	for key, value := range v.layers.All() {
		if err := known.check(key, value); err != nil {
			return fmt.Errorf("internal/config: %s: %w", l.File, err)
		}
		if value == nil { // a section without keys is there, with its defaults
			if err := v.layers.Set(key, map[string]any{}); err != nil {
				return fmt.Errorf("internal/config: %s: %s: %w", l.File, key, err)
			}
		}
	}
	return nil
}

// String returns the text at key, or def where the key is not given.
func (v *Values) String(key, def string) string {
	if !v.layers.Exists(key) {
		return def
	}
	return v.layers.String(key)
}

// Has reports whether key, or one below it, is given.
func (v *Values) Has(key string) bool { return v.layers.Exists(key) }

// Into overwrites the fields of target, a pointer to the struct given to [Read], whose keys are given.
// The error names the key and wraps [core.ErrInvalid].
func (v *Values) Into(target any) error {
	return decode(v.layers.Raw(), target)
}
