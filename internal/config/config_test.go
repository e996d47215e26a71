package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/georag/georag/core"
)

type server struct {
	Addr    string        `koanf:"addr"`
	Retries *int          `koanf:"retries"`
	Timeout time.Duration `koanf:"timeout"`
	Zones   []string      `koanf:"zones"`
}

type common struct {
	K      int     `koanf:"k"`
	Lambda float64 `koanf:"lambda"`
	Gate   bool    `koanf:"gate"`
}

type shape struct {
	Server  *server           `koanf:"server"`
	Labels  map[string]string `koanf:"labels"`
	common  `koanf:",squash"`
	Exports struct {
		APIKeyEnv string `koanf:"api_key_env"`
	} `koanf:"exports"`
}

func read(t *testing.T, yaml string, environ []string, flags map[string]any) (shape, error) {
	t.Helper()
	layers := Layers{Environ: environ, Flags: flags}
	if yaml != "" {
		layers.File = "georag.yaml"
		layers.ReadFile = func(string) ([]byte, error) { return []byte(yaml), nil }
	}
	got := shape{common: common{K: 5, Lambda: 0.5, Gate: true}}
	values, err := Read(layers, got)
	if err == nil {
		err = values.Into(&got)
	}
	return got, err
}

func TestLaterLayersWinKeyByKey(t *testing.T) {
	got, err := read(t,
		"k: 7\nlambda: 0.1\nserver:\n  addr: file:1\n  timeout: 3s\nlabels: {team: search}\n",
		[]string{"GEORAG_LAMBDA=0.2", "GEORAG_SERVER_ADDR=env:1", "GEORAG_SERVER_ZONES=a, b", "PATH=/bin"},
		map[string]any{"server.addr": "flag:1"})
	if err != nil {
		t.Fatal(err)
	}
	if got.K != 7 || got.Lambda != 0.2 || got.Server.Addr != "flag:1" || got.Server.Timeout != 3*time.Second ||
		fmt.Sprint(got.Server.Zones) != "[a b]" || got.Labels["team"] != "search" || !got.Gate {
		t.Fatalf("%+v %+v", got, got.Server)
	}
}

func TestZeroIsNeverUnset(t *testing.T) {
	for _, c := range []struct {
		yaml    string
		environ []string
		flags   map[string]any
	}{
		{yaml: "k: 0\nlambda: 0\ngate: false\nserver: {retries: 0}"},
		{environ: []string{"GEORAG_K=0", "GEORAG_LAMBDA=0", "GEORAG_GATE=false", "GEORAG_SERVER_RETRIES=0"}},
		{flags: map[string]any{"k": 0, "lambda": 0.0, "gate": false, "server.retries": 0}},
	} {
		got, err := read(t, c.yaml, c.environ, c.flags)
		if err != nil {
			t.Fatal(err)
		}
		if got.K != 0 || got.Lambda != 0 || got.Gate || got.Server.Retries == nil || *got.Server.Retries != 0 {
			t.Fatalf("%+v", got)
		}
	}
}

func TestSectionWithoutKeysIsThere(t *testing.T) {
	for _, yaml := range []string{"server:\n", "server: {}\n"} {
		if got, err := read(t, yaml, nil, nil); err != nil || got.Server == nil {
			t.Errorf("%q: %+v, %v", yaml, got.Server, err)
		}
	}
}

func TestWrongContentNamesKeyAndNearest(t *testing.T) {
	for _, c := range []struct {
		yaml    string
		environ []string
		want    string
	}{
		{"lamda: 1", nil, "unknown key lamda; did you mean lambda?"},
		{"server: {adr: x}", nil, "unknown key server.adr; did you mean server.addr?"},
		{"addr: x", nil, "did you mean server.addr?"},
		{"zzzzzzzzzzzzzzzz: 1", nil, "unknown key zzzzzzzzzzzzzzzz"},
		{"k:", nil, "k has no value"},
		{"k: 1.5", nil, "1.5 is no integer"},
		{"k: five", nil, `"five" is no integer`},
		{"gate: 3", nil, "gate"},
		{"server: {timeout: 3}", nil, "3 is no duration"},
		{"server: up", nil, "server is up, want a section"},
		{"k: 1\nk: 2", nil, "k"},
		{"k: [1", nil, "georag.yaml"},
		{"- k", nil, "georag.yaml"},
		{"K: 3", nil, "unknown key K; did you mean k?"},
		{"k: [5]", nil, "k: [5] is no integer"},
		{"k: true", nil, "k: true is no integer"},
		{"lambda: [x]", nil, "lambda: [x] is no number"},
		{"server: {addr: [a]}", nil, "server.addr: [a] is no text"},
		{"gate: 3", nil, "gate: 3 is neither true nor false"},
		{"server: {timeout: soon}", nil, `server.timeout: "soon" is no duration: write it with a unit`},
		{"server.addr: x", nil, "line 1: server.addr is a dotted key: write server: and below it addr:"},
		{"k: 1\n---\nk: 2", nil, "line 3: a second document begins"},
		{"k: 1\n---\n{", nil, "georag.yaml"},
		{"null: 3", nil, "line 1: a key has no name"},
		{"'': 3", nil, "line 1: a key has no name"},
		{"server:\n  ~: 3", nil, "line 2: a key has no name"},
		{"- k", nil, "line 1: want keys and values"},
		{"hello", nil, "line 1: want keys and values"},
		{"k: 1\nk: 2", nil, `line 2: mapping key "k" already defined at line 1`},
		{"\tk: 1", nil, "georag.yaml"},
		{"", []string{"GEORAG_SERVER=x"}, "unknown variable GEORAG_SERVER"},
		{"", []string{"GEORAG_K="}, `k: "" is no integer`},
		{"", []string{"GEORAG_LAMDA=sk-secret"}, "unknown variable GEORAG_LAMDA; did you mean GEORAG_LAMBDA?"},
		{"", []string{"GEORAG_K=x"}, `"x" is no integer`},
	} {
		_, err := read(t, c.yaml, c.environ, nil)
		if !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %v: error %v does not say %q", c.yaml, c.environ, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "\n") || strings.Count(err.Error(), "invalid") != 1) {
			t.Errorf("%q %v: error %q is not one line that says invalid once", c.yaml, c.environ, err)
		}
		if err != nil && strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("the value of an unknown variable shows: %v", err)
		}
	}
}

// TestNoFarSuggestion: what resembles nothing gets no suggestion.
func TestNoFarSuggestion(t *testing.T) {
	for _, variable := range []string{"GEORAG_API_TOKEN=x", "GEORAG_WHATEVER=x"} {
		if _, err := read(t, "", []string{variable}, nil); err == nil || strings.Contains(err.Error(), "did you mean") {
			t.Errorf("%s: %v", variable, err)
		}
	}
}

// TestFileOfOneDocument: marks of a document's beginning and end are no second one, and a free map has free names.
func TestFileOfOneDocument(t *testing.T) {
	got, err := read(t, "---\nk: 3\nlabels: {a.b: c}\n---\n", nil, nil)
	if err != nil || got.K != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestVariablesThatAreNotSettings(t *testing.T) {
	_, err := read(t, "exports: {api_key_env: GEORAG_KEY_OF_MINE}", []string{
		"GEORAG_KEY_OF_MINE=secret", "GEORAG_SERVICE_HOST=10.0.0.1", "GEORAG_PORT_8080_TCP_ADDR=10.0.0.1", "GEORAG_SHARED=/x",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, "", []string{"GEORAG_EXPORTS_API_KEY_ENV=GEORAG_MINE", "GEORAG_MINE=secret"}, nil); err != nil {
		t.Fatal(err)
	}
}

func TestMissingFile(t *testing.T) {
	_, err := Read(Layers{File: "/no/such/file.yaml"}, shape{})
	if !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), "/no/such/file.yaml") {
		t.Fatal(err)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"k: 1", "server: {addr: x}", "k: [1", "\x00", "a: &a [*a]", "server:\n  addr:\n", "? x", "k: 1e999", "labels: {a: {b: c}}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		got := shape{}
		values, err := Read(Layers{File: "f", ReadFile: func(string) ([]byte, error) { return content, nil }}, got)
		if err == nil {
			err = values.Into(&got)
		}
		if err != nil && !errors.Is(err, core.ErrInvalid) {
			t.Errorf("error does not wrap ErrInvalid: %v", err)
		}
	})
}
