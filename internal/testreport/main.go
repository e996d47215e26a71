// Command testreport reads the events of `go test -json` and prints what a person needs of them: one line a package,
// the output of what failed, and at the end what was skipped and which real servers took part. It exits with 1 where
// anything failed.
//
// A test says "SKIPPED: reason" when it is left out and "SERVER: name" for a server it ran against.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// event is one line of `go test -json`; see `go doc test2json`.
type event struct {
	Action     string
	Package    string
	ImportPath string // of build output
	Test       string
	Output     string
	Elapsed    float64
}

// report is what has been read so far.
type report struct {
	out     io.Writer
	outputs map[string][]string // by package and test, until it is known whether they are wanted
	failed  int
	skipped map[string]int // by reason
	servers []string
}

func main() {
	if !run(os.Stdin, os.Stdout) {
		os.Exit(1)
	}
}

// run reports whether all went well.
func run(in io.Reader, out io.Writer) bool {
	r := &report{out: out, outputs: map[string][]string{}, skipped: map[string]int{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Fprintln(out, lines.Text()) // what the go command itself has to say
			continue
		}
		r.take(e)
	}
	r.conclude()
	return lines.Err() == nil && r.failed == 0
}

func (r *report) take(e event) {
	key := e.Package + "\x00" + e.Test
	switch e.Action {
	case "output":
		r.outputs[key] = append(r.outputs[key], e.Output)
		if _, server, ok := strings.Cut(e.Output, "SERVER: "); ok && !slices.Contains(r.servers, strings.TrimSpace(server)) {
			r.servers = append(r.servers, strings.TrimSpace(server))
		}
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "build-fail":
		r.failed++
	case "fail":
		r.failed++
		fmt.Fprint(r.out, strings.Join(r.outputs[key], ""))
		delete(r.outputs, key)
	case "skip":
		if e.Test != "" {
			r.skipped[reason(r.outputs[key])]++
		}
		delete(r.outputs, key)
	case "pass":
		if e.Test == "" {
			fmt.Fprintf(r.out, "ok  \t%s\t%s\n", e.Package, time.Duration(e.Elapsed*float64(time.Second)).Round(10*time.Millisecond))
		}
		delete(r.outputs, key)
	}
}

// reason is why a test was left out.
func reason(output []string) string {
	for _, line := range output {
		if _, why, ok := strings.Cut(line, "SKIPPED: "); ok {
			return strings.TrimSpace(why)
		}
	}
	return "no reason given"
}

func (r *report) conclude() {
	if len(r.servers) > 0 {
		slices.Sort(r.servers)
		fmt.Fprintln(r.out, "servers:", strings.Join(r.servers, "; "))
	}
	if len(r.skipped) == 0 {
		fmt.Fprintln(r.out, "skipped: nothing")
		return
	}
	total, reasons := 0, []string{}
	for why, n := range r.skipped {
		total += n
		reasons = append(reasons, fmt.Sprintf("%s (%d)", why, n))
	}
	slices.Sort(reasons)
	fmt.Fprintf(r.out, "skipped: %d tests: %s\n", total, strings.Join(reasons, "; "))
}
