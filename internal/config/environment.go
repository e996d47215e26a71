package config

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/georag/georag/core"
)

const prefix = "GEORAG_"

// foreign are variables with our prefix that are not settings: those Kubernetes sets for a service named georag,
// and those of the project's own tests.
var foreign = regexp.MustCompile(`^GEORAG_(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_\w+)?|SHARED|QDRANT_ADDR|MILVUS_ADDR|TEST_\w+)$`)

// fromEnvironment turns GEORAG_STORE_FLAT_DIR into the key store.flat.dir. Variables that the configuration itself
// names as the place of a key are left alone.
func fromEnvironment(environ []string, known keys, named []string) (map[string]any, error) {
	path := make(map[string]string, len(known))
	for key := range known {
		path[variable(key)] = key
	}
	layer := map[string]any{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, prefix) && strings.HasSuffix(name, "_API_KEY_ENV") {
			named = append(named, value)
		}
	}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, prefix) || foreign.MatchString(name) || slices.Contains(named, name) {
			continue
		}
		key, ok := path[name]
		if !ok {
			// The value is not shown: it may be a key under a mistyped name.
			return nil, fmt.Errorf("internal/config: environment: %w: unknown variable %s%s", core.ErrInvalid, name, suggestVariable(known, name))
		}
		layer[key] = value
	}
	return layer, nil
}

func variable(key string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(key, delimiter, "_"))
}

func suggestVariable(known keys, name string) string {
	variables := keys{}
	for key := range known {
		variables[variable(key)] = false
	}
	return variables.suggest(name)
}

// namedVariables lists the environment variables that the file names as the place of a key.
func (v *Values) namedVariables() []string {
	var names []string
	for key, value := range v.layers.All() {
		if name, ok := value.(string); ok && strings.HasSuffix(key, "api_key_env") {
			names = append(names, name)
		}
	}
	return names
}

func (l Layers) read() ([]byte, error) {
	if l.ReadFile != nil {
		return l.ReadFile(l.File)
	}
	return os.ReadFile(l.File)
}
