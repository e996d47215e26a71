// Package architecture holds the test of the direction of imports: cmd → adapters → core.
package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/georag/georag/"

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
	Standard   bool
}

// list returns the packages of the module, without their tests.
func list(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Deps,Standard", module+"...")
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(pipe); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return packages
}

// room is the part of the project a package stands in: "core", "adapters/flat", "cmd", "internal", … and "" outside.
func room(importPath string) string {
	path, ours := strings.CutPrefix(importPath, module)
	if !ours {
		return ""
	}
	parts := strings.Split(path, "/")
	if parts[0] == "adapters" && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

func TestImportsPointInwards(t *testing.T) {
	packages := list(t)
	standard := map[string]bool{}
	for _, p := range packages {
		standard[p.ImportPath] = p.Standard
	}
	seen := 0
	for _, p := range packages {
		from := room(p.ImportPath)
		if from == "" {
			continue
		}
		seen++
		for _, imported := range p.Imports {
			if why := forbidden(p.ImportPath, from, imported, standard[imported]); why != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, imported, why)
			}
		}
	}
	if seen < 10 {
		t.Fatalf("only %d packages of the module were listed", seen)
	}
}

// forbidden says why a package may not import another; "" where it may.
func forbidden(importer, from, imported string, standard bool) string {
	to := room(imported)
	switch {
	case from == "core" && to == "" && !standard && !strings.HasPrefix(imported, "gonum.org/v1/gonum/"):
		return "core uses the standard library and gonum only"
	case from == "core" && to != "" && to != "core":
		return "core imports nothing of what stands around it"
	case strings.HasPrefix(importer, module+"core/") && imported == module+"core":
		return "the parts of core do not know the stage"
	case to == "cmd":
		return "nothing imports a command"
	case strings.HasPrefix(to, "adapters/") && from != to && !wires(importer, from):
		return "only cmd wires adapters"
	}
	return ""
}

// wires reports whether a package may know several adapters: a program, or the support of tests that run the suite of
// all stores.
func wires(importer, from string) bool {
	return from == "cmd" || from == "bench" || strings.HasPrefix(importer, module+"internal/qdranttest/")
}

func TestForbidden(t *testing.T) {
	for _, c := range []struct {
		importer, imported string
		standard, allowed  bool
	}{
		{module + "core", "fmt", true, true},
		{module + "core", "gonum.org/v1/gonum/floats", false, true},
		{module + "core", "github.com/knadh/koanf/v2", false, false},
		{module + "core/pick", module + "core/ot", false, true},
		{module + "core/pick", module + "core", false, false},
		{module + "core", module + "internal/retry", false, false},
		{module + "adapters/qdrant", module + "adapters/flat", false, false},
		{module + "adapters/qdrant", module + "core", false, true},
		{module + "adapters/flat/x", module + "adapters/flat", false, true},
		{module + "internal/evaluate", module + "adapters/flat", false, false},
		{module + "cmd/georag", module + "adapters/flat", false, true},
		{module + "internal/retry", module + "cmd/georag", false, false},
	} {
		if why := forbidden(c.importer, room(c.importer), c.imported, c.standard); (why == "") != c.allowed {
			t.Errorf("%s → %s: %q", c.importer, c.imported, why)
		}
	}
}

// TestDependenciesAreExplained: each direct dependency has its reason in the record of decisions.
func TestDependenciesAreExplained(t *testing.T) {
	root := filepath.Join("..", "..")
	content, err := os.ReadFile(filepath.Join(root, "docs", "adr", "0001-dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = root
	output, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(output, &file); err != nil {
		t.Fatal(err)
	}
	var direct []string
	for _, r := range file.Require {
		if !r.Indirect {
			direct = append(direct, r.Path)
		}
	}
	for _, path := range direct {
		if !strings.Contains(string(content), "`"+path+"`") {
			t.Errorf("docs/adr/0001-dependencies.md does not say why %s is there", path)
		}
	}
	for _, line := range strings.Split(string(content), "\n") {
		if path, ok := strings.CutPrefix(line, "| `"); ok {
			if path, _, _ = strings.Cut(path, "`"); !slices.Contains(direct, path) {
				t.Errorf("docs/adr/0001-dependencies.md explains %s, which is no direct dependency", path)
			}
		}
	}
}
