package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/georag/georag/core"
)

// keys are the dotted paths of a configuration's fields. A value is true where anything may stand below the path.
type keys map[string]bool

// keysOf lists the paths of a struct by its koanf tags; squashed structs add their fields to the parent's.
func keysOf(t reflect.Type) keys {
	known := keys{}
	known.add("", t)
	return known
}

func (k keys) add(prefix string, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for i := range t.NumField() {
		field := t.Field(i)
		name, squash := strings.CutSuffix(field.Tag.Get("koanf"), ",squash")
		if squash {
			k.add(prefix, field.Type)
			continue
		}
		if name == "" || name == "-" {
			continue
		}
		inner := field.Type
		for inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch path := prefix + name; inner.Kind() {
		case reflect.Struct:
			k.add(path+delimiter, inner)
		case reflect.Map:
			k[path] = true
		default:
			k[path] = false
		}
	}
}

// check reports an unknown key, or one without a value.
func (k keys) check(key string, value any) error {
	if value == nil {
		if k.isSection(key) {
			return nil // "static:" with nothing below it asks for a section's defaults
		}
		if _, known := k[key]; known {
			return fmt.Errorf("%w: %s has no value; leave the key out to keep its default", core.ErrInvalid, key)
		}
	}
	if k.isSection(key) {
		if section, ok := value.(map[string]any); ok && len(section) == 0 {
			return nil
		}
		return fmt.Errorf("%w: %s is %v, want a section with keys below it", core.ErrInvalid, key, value)
	}
	if _, known := k[key]; known || k.belowMap(key) {
		return nil
	}
	return fmt.Errorf("%w: unknown key %s%s", core.ErrInvalid, key, k.suggest(key))
}

func (k keys) isSection(key string) bool {
	for path := range k {
		if strings.HasPrefix(path, key+delimiter) {
			return true
		}
	}
	return false
}

func (k keys) belowMap(key string) bool {
	for path, open := range k {
		if open && strings.HasPrefix(key, path+delimiter) {
			return true
		}
	}
	return false
}

// suggest names the nearest known key: by its last part where that exists elsewhere, else by edit distance, of which
// a third of the key is the most that is still a likely slip. Capitals do not count.
func (k keys) suggest(key string) string {
	best, least := "", len(strings.TrimPrefix(key, prefix))/3+1
	key = strings.ToLower(key)
	last := key[strings.LastIndex(key, delimiter)+1:]
	for _, path := range slices.Sorted(maps.Keys(k)) {
		distance := levenshtein.ComputeDistance(key, strings.ToLower(path))
		if path[strings.LastIndex(path, delimiter)+1:] == last {
			distance = min(distance, 1)
		}
		if distance < least {
			best, least = path, distance
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}
