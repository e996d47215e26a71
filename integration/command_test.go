package integration

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"

	"github.com/georag/georag/internal/milvusserver"
	"github.com/georag/georag/internal/qdranttest/conformance"
)

// program is georag, built once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "georag-integration-")
	if err != nil {
		return "", err
	}
	closers = append(closers, func() error { return os.RemoveAll(dir) })
	path := filepath.Join(dir, "georag")
	output, err := exec.Command("go", "build", "-o", path, "github.com/georag/georag/cmd/georag").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, output)
	}
	return path, nil
})

// commands runs georag in one folder, which holds its state files, on one server.
type commands struct {
	t     *testing.T
	dir   string
	store []string // of every command
	demo  string
}

func newCommands(t *testing.T, store ...string) *commands {
	t.Helper()
	demo, err := filepath.Abs(filepath.Join("..", "demo", "data"))
	if err != nil {
		t.Fatal(err)
	}
	return &commands{t: t, dir: t.TempDir(), store: store, demo: demo}
}

func (c *commands) command(ctx context.Context, args ...string) *exec.Cmd {
	c.t.Helper()
	path, err := program()
	if err != nil {
		c.t.Fatal(err)
	}
	command := exec.CommandContext(ctx, path, args...)
	command.Dir = c.dir
	return command
}

// run wants an exit code and returns what was printed.
func (c *commands) run(code int, args ...string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	command := c.command(ctx, args...)
	output, err := command.CombinedOutput()
	if command.ProcessState == nil || command.ProcessState.ExitCode() != code {
		c.t.Fatalf("georag %q: %v, want exit code %d\n%s", args, err, code, output)
	}
	return string(output)
}

// on adds the store to a command line.
func (c *commands) on(args ...string) []string { return append(args, c.store...) }

// imported copies the demonstration's passages, is killed on the way, and goes on.
func (c *commands) imported() {
	c.t.Helper()
	line := c.on("index", "import", "--passages", c.demo, "--batch", "1", "--exact")
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	first := c.command(ctx, line...)
	if err := first.Start(); err != nil {
		c.t.Fatal(err)
	}
	for !c.noted(10) {
		if err := c.t.Context().Err(); err != nil {
			c.t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	cancel() // kill -9
	if err := first.Wait(); err == nil {
		c.t.Fatal("the command was done before it was killed")
	}
	told := regexp.MustCompile(`155 passages, (\d+) written, (\d+) already there; the store holds 155`)
	m := told.FindStringSubmatch(c.run(0, line...))
	if m == nil {
		c.t.Fatal("no count")
	}
	written, _ := strconv.Atoi(m[1])
	kept, _ := strconv.Atoi(m[2])
	if kept < 10 || written == 0 || written+kept != 155 {
		c.t.Errorf("%d written, %d already there", written, kept)
	}
	if got := c.run(0, line...); !strings.Contains(got, "155 passages, 0 written, 155 already there") {
		c.t.Errorf("a third run: %s", got)
	}
}

// noted reports whether the state file knows n passages.
func (c *commands) noted(n int) bool {
	files, _ := filepath.Glob(filepath.Join(c.dir, "*.state"))
	if len(files) != 1 {
		return false
	}
	content, err := os.ReadFile(files[0])
	return err == nil && bytes.Count(content, []byte("\n")) > n
}

// chosen is what a selection prints above its times: the passages, their cosines and what they cover.
func chosen(output string) string {
	table, _, _ := strings.Cut(output, "preset default")
	return table
}

// answersAsFlat asks all questions of the demonstration here and in the embedded index.
func (c *commands) answersAsFlat() {
	c.t.Helper()
	for _, id := range []string{"q-voting-rights", "q-dams"} {
		line := []string{"select", "--questions", c.demo, "--question-id", id}
		got, want := c.run(0, c.on(line...)...), c.run(0, append(line, "--passages", c.demo)...)
		if chosen(got) != chosen(want) {
			c.t.Errorf("%s: %s\nwant %s", id, got, want)
		}
	}
	shares := regexp.MustCompile(`(?m)^ *(georag|facility|cosine|subq-max) +default +5 +(\S+)`)
	line := []string{"eval", "--questions", c.demo, "--selectors", "cosine,facility,georag,subq-max"}
	got := shares.FindAllString(c.run(0, c.on(line...)...), -1)
	want := shares.FindAllString(c.run(0, append(line, "--passages", c.demo)...), -1)
	if len(want) < 4 || strings.Join(got, "\n") != strings.Join(want, "\n") {
		c.t.Errorf("evaluation: %q, want %q", got, want)
	}
}

// refuses wants the configurations that ask for what the collection does not have told as such.
func (c *commands) refuses() {
	c.t.Helper()
	for says, line := range map[string][]string{
		"lexical retrieval": {"eval", "--questions", c.demo, "--pools", "lexical"},
		"hybrid retrieval":  {"eval", "--questions", c.demo, "--pools", "hybrid"},
		"wrong dimension":   {"select", "a question", "--set", "embedder.static=true"},
	} {
		if got := c.run(2, c.on(line...)...); !strings.Contains(got, says) {
			c.t.Errorf("%q: %s", line, got)
		}
	}
}

// ownFiles builds a collection of a person's own file, embedded by the static table, and asks it in words.
func (c *commands) ownFiles(store ...string) {
	c.t.Helper()
	text := "# Keys\nTo rotate the keys, write the new key beside the old one and remove the old key after a day.\n\n" +
		"# Night\nThe engineer on duty is called when the error rate stays above one percent for five minutes.\n"
	if err := os.WriteFile(filepath.Join(c.dir, "notes.md"), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	for _, want := range []string{"2 passages, 2 written, 0 already there; the store holds 2", "2 passages, 0 written, 2 already there"} {
		if got := c.run(0, append([]string{"index", "build", "--input", "notes.md"}, store...)...); !strings.Contains(got, want) || !strings.Contains(got, "embedder.static=true") {
			c.t.Errorf("build: %s", got)
		}
	}
	words := append([]string{"select", "how do I rotate keys, and who is called at night?", "--k", "2", "--set", "embedder.static=true", "--set", "writer.rules=true"}, store...)
	if got := c.run(0, words...); !strings.Contains(got, "Keys. To rotate") || !strings.Contains(got, "Night. The engineer") {
		c.t.Errorf("select: %s", got)
	}
	c.run(2, append([]string{"select", "who is called?"}, store...)...) // no embedder is named
}

func TestCommandOnQdrant(t *testing.T) {
	server := qdrantUnderTest(t)
	name := conformance.CollectionName()
	server.DropAtEnd(t, name)
	server.DropAtEnd(t, name+"-own")
	url := "qdrant://" + server.Addr + "/" + name
	c := newCommands(t, "--store", url, "--set", "store.qdrant.id_field=id", "--set", "store.qdrant.search.exact=true")
	// Text IDs need id_field; without it nothing is made.
	if got := c.run(2, "index", "import", "--passages", c.demo, "--store", url); !strings.Contains(got, "id_field") {
		t.Error(got)
	}
	if got := c.run(1, "doctor", "--store", url); !strings.Contains(got, "a name does not exist") {
		t.Error(got)
	}
	c.imported()
	if got := c.run(0, c.on("doctor")...); !strings.Contains(got, "dimension 384, metric Cosine") || !strings.Contains(got, "all well") {
		t.Error(got)
	}
	c.answersAsFlat()
	c.refuses()
	c.ownFiles("--store", "qdrant://"+server.Addr+"/"+name+"-own")
}

func TestCommandOnMilvus(t *testing.T) {
	addr := milvusserver.Addr(t)
	name := fmt.Sprintf("command_%d", time.Now().UnixNano())
	t.Cleanup(func() {
		for _, made := range []string{name, name + "_own"} {
			withAdmin(t, addr, func(ctx context.Context, c client.Client) error { return c.DropCollection(ctx, made) })
		}
	})
	c := newCommands(t, "--store", "milvus://"+addr+"/"+name, "--set", "store.milvus.timeout=20s") // as patient
	c.imported()
	if got := c.run(0, c.on("doctor")...); !strings.Contains(got, "dimension 384, metric COSINE") || !strings.Contains(got, "all well") {
		t.Error(got)
	}
	c.answersAsFlat()
	c.refuses()
	c.ownFiles("--store", "milvus://"+addr+"/"+name+"_own")
}
