package strictjson

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// fieldsOf returns the JSON names of a struct's fields with their types, embedded ones included; nil where t is no
// struct, or one without exported fields, which decodes itself.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if t = indirect(t); t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	known := map[string]reflect.Type{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			maps.Copy(known, fieldsOf(field.Type))
		case !field.IsExported() || name == "-":
		case name == "":
			known[field.Name] = field.Type
		default:
			known[name] = field.Type
		}
	}
	if len(known) == 0 {
		return nil
	}
	return known
}

func indirect(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// Fields returns the JSON names of a struct's fields, sorted.
func Fields(t reflect.Type) []string { return slices.Sorted(maps.Keys(fieldsOf(t))) }

// Nearest is "; did you mean x?" for the known name nearest to name, or "" where none is near.
func Nearest[T any](name string, known map[string]T) string {
	if len(name) > maxKey {
		return ""
	}
	best, least := "", len(name)/2+2
	for _, candidate := range slices.Sorted(maps.Keys(known)) {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), candidate); d < least {
			best, least = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}
