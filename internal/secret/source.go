package secret

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/georag/georag/core"
)

// maxFile bounds a key file: one larger was named by mistake.
const maxFile = 64 << 10

// Source says where a key is kept. Its zero value is "no key".
type Source struct {
	// Env names an environment variable.
	Env string `koanf:"api_key_env"`
	// File names a file that holds the key and nothing else; white space around it is ignored.
	File string `koanf:"api_key_file"`
}

// variableName is how variables are named. A key put where a name belongs mostly does not look like one.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Validate reports a source that names both places, or a variable that cannot be one; the error wraps
// [core.ErrInvalid].
func (s Source) Validate() error {
	if s.Env != "" && !variableName.MatchString(s.Env) {
		return fmt.Errorf("internal/secret: api_key_env: %w: it must be the name of an environment variable, and is not shown in case it is the key itself", core.ErrInvalid)
	}
	if s.Env != "" && s.File != "" {
		return fmt.Errorf("internal/secret: api_key_env %q and api_key_file %q: %w: set one of them", s.Env, s.File, core.ErrInvalid)
	}
	return nil
}

// Load reads the key. A variable that is unset, a file that cannot be read, and a key that is empty or could not
// stand in an HTTP header are errors that wrap [core.ErrInvalid] and never show what was read.
func (s Source) Load() (Secret, error) {
	if err := s.Validate(); err != nil {
		return Secret{}, err
	}
	switch {
	case s.Env != "":
		value, ok := os.LookupEnv(s.Env)
		if !ok {
			return Secret{}, fmt.Errorf("internal/secret: api_key_env: %w: the environment has no variable %s", core.ErrInvalid, s.Env)
		}
		return parse(value, "variable "+s.Env)
	case s.File != "":
		value, err := readFile(s.File)
		if err != nil {
			return Secret{}, fmt.Errorf("internal/secret: api_key_file: %w: %w", core.ErrInvalid, err)
		}
		return parse(value, "file "+s.File)
	}
	return Secret{}, nil
}

// CheckAddress refuses a server's address with credentials in it, because addresses are printed in errors and logs;
// the error wraps [core.ErrInvalid] and does not show it.
func CheckAddress(addr string) error {
	if strings.Contains(addr, "@") {
		return fmt.Errorf("internal/secret: address: %w: it must have no credentials; a key belongs in api_key_env or api_key_file", core.ErrInvalid)
	}
	return nil
}

func readFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() > maxFile {
		return "", fmt.Errorf("%s has %d bytes, more than any key", path, info.Size())
	}
	content, err := os.ReadFile(path)
	return string(bytes.TrimPrefix(content, []byte("\ufeff"))), err
}

func parse(value, where string) (Secret, error) {
	value = strings.TrimSpace(value)
	if value == "" {
		return Secret{}, fmt.Errorf("internal/secret: %w: %s holds no key", core.ErrInvalid, where)
	}
	for _, r := range value {
		if r <= ' ' || r >= 0x7f {
			return Secret{}, fmt.Errorf("internal/secret: %w: %s holds a character that no key has (a space, a line break or a letter outside ASCII)", core.ErrInvalid, where)
		}
	}
	return New(value), nil
}
