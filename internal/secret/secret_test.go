package secret

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/georag/georag/core"
)

const key = "sk-canary-3f9a1c"

type holder struct {
	Public Secret
	hidden Secret
	nested struct{ deep *Secret }
}

func TestNoVerbShowsTheKey(t *testing.T) {
	s := New(key)
	h := holder{Public: s, hidden: s}
	h.nested.deep = &s
	for _, value := range []any{s, &s, h, &h, []Secret{s}, map[string]Secret{"k": s}, map[string]any{"k": h}, fmt.Errorf("x: %v", s)} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T %v", "% x", "%10s", "%-40v|", "%t", "%c", "%U"} {
			args := []any{value}
			if strings.Count(verb, "%") == 2 {
				args = append(args, value)
			}
			mustNotShow(t, fmt.Sprintf(verb, args...))
		}
	}
}

func TestNoEncoderShowsTheKey(t *testing.T) {
	s := New(key)
	h := holder{Public: s, hidden: s}
	encoded, err := json.Marshal(map[string]any{"s": s, "p": &s, "h": h})
	if err != nil {
		t.Fatal(err)
	}
	mustNotShow(t, string(encoded))
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(handler).Error("call failed", "key", s, "pointer", &s, "holder", h, slog.Group("g", "key", s))
	}
	mustNotShow(t, log.String())
	if !strings.Contains(log.String(), redacted) {
		t.Error("the log does not say that something was redacted")
	}
}

func TestPanicDoesNotShowTheKey(t *testing.T) {
	defer func() { mustNotShow(t, fmt.Sprint(recover())) }()
	panic(fmt.Sprintf("%+v", holder{Public: New(key), hidden: New(key)}))
}

func TestRevealAndScrub(t *testing.T) {
	if got := New(key).Reveal(); got != key {
		t.Errorf("Reveal = %q", got)
	}
	if got := New(key).Scrub("bad key " + key + ", again " + key); got != "bad key [redacted], again [redacted]" {
		t.Errorf("Scrub = %q", got)
	}
	var none Secret
	if !none.IsZero() || none.Reveal() != "" || none.Scrub("text") != "text" || fmt.Sprint(none) != "" || !New("").IsZero() {
		t.Error("the zero Secret is not empty")
	}
}

func TestSource(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("GEORAG_TEST_KEY", " "+key+"\n")
	t.Setenv("GEORAG_TEST_EMPTY", "  ")
	t.Setenv("GEORAG_TEST_BROKEN", key+"\r\nX-Injected: 1")
	for name, c := range map[string]struct {
		source Source
		want   string
		fails  string
	}{
		"none":              {Source{}, "", ""},
		"environment":       {Source{Env: "GEORAG_TEST_KEY"}, key, ""},
		"file":              {Source{File: write("key", key+"\n")}, key, ""},
		"file with a mark":  {Source{File: write("bom", "\ufeff"+key)}, key, ""},
		"both":              {Source{Env: "A", File: "b"}, "", "set one of them"},
		"key for a name":    {Source{Env: key}, "", "must be the name"},
		"unset variable":    {Source{Env: "GEORAG_TEST_UNSET"}, "", "no variable GEORAG_TEST_UNSET"},
		"empty variable":    {Source{Env: "GEORAG_TEST_EMPTY"}, "", "holds no key"},
		"header injection":  {Source{Env: "GEORAG_TEST_BROKEN"}, "", "no key has"},
		"letters":           {Source{File: write("utf8", key+"é")}, "", "no key has"},
		"missing file":      {Source{File: filepath.Join(dir, "absent")}, "", "absent"},
		"folder":            {Source{File: dir}, "", "directory"},
		"far too large":     {Source{File: write("large", strings.Repeat("k", maxFile+1))}, "", "more than any key"},
		"largest permitted": {Source{File: write("max", strings.Repeat("k", maxFile))}, strings.Repeat("k", maxFile), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.source.Load()
			if c.fails == "" {
				if err != nil || got.Reveal() != c.want {
					t.Fatalf("Load = %q, %v", got.Reveal(), err)
				}
				return
			}
			if !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), c.fails) {
				t.Fatalf("error %v does not say %q", err, c.fails)
			}
			mustNotShow(t, err.Error())
		})
	}
}

func mustNotShow(t *testing.T, text string) {
	t.Helper()
	for _, form := range []string{key, fmt.Sprintf("%x", key), fmt.Sprintf("%X", key), fmt.Sprintf("% x", key)} {
		if strings.Contains(text, form) {
			t.Errorf("the key shows in %q", text)
		}
	}
}

func TestCheckAddress(t *testing.T) {
	for _, addr := range []string{"me:" + key + "@localhost:6334", "https://" + key + "@localhost", "@"} {
		if err := CheckAddress(addr); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("error %v", err)
		} else {
			mustNotShow(t, err.Error())
		}
	}
	for _, addr := range []string{"", "localhost:6334", "https://[::1]:6334"} {
		if err := CheckAddress(addr); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
}
