package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestLostOutputIsAFailure: every command that prints says so where it could not.
func TestLostOutputIsAFailure(t *testing.T) {
	const data = "../../demo/data"
	for _, line := range []string{
		"version", "demo", "--help", "config check ../../configs/flat.yaml",
		"select --passages " + data + " --questions " + data + " --question-id q-dams --explain",
		"select --passages " + data + " --questions " + data + " --question-id q-dams --json",
		"eval --passages " + data + " --questions " + data + " --selectors cosine",
	} {
		var complaints bytes.Buffer
		code := run(context.Background(), strings.Fields(line), streams{strings.NewReader(""), full{}, &complaints})
		if code != exitFailed || strings.Count(complaints.String(), "no space left") != 1 {
			t.Errorf("georag %s: exit code %d, says %q", line, code, complaints.String())
		}
	}
}

// TestMessagesNameNoPackage: a person at a command line is told field and value.
func TestMessagesNameNoPackage(t *testing.T) {
	const data = "../../demo/data"
	for line, want := range map[string]string{
		"config check nowhere.yaml": "georag: invalid: there is no file nowhere.yaml\n",
		"select --query-vectors " + data + "/questions.npy --passages " + data + " --k 0":                  "georag: invalid: k is 0, want 1 to 100\n",
		"select --query-vectors " + data + "/questions.npy --passages " + data + " --where nosuch=1 --k 1": "georag: search: filter \"nosuch=1\": not found: no passage has the field \"nosuch\"; there are text, title, topic\n",
		"select --query-vectors nowhere.npy --passages " + data:                                            "georag: --query-vectors: invalid: open nowhere.npy: no such file or directory\n",
	} {
		var complaints bytes.Buffer
		run(context.Background(), strings.Fields(line), streams{strings.NewReader(""), io.Discard, &complaints})
		if complaints.String() != want {
			t.Errorf("georag %s: says %q, want %q", line, complaints.String(), want)
		}
	}
}

// TestInterruptIsToldAsOne: nobody is told in which call the interrupt arrived.
func TestInterruptIsToldAsOne(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	const data = "../../demo/data"
	var complaints bytes.Buffer
	code := run(ctx, strings.Fields("eval --passages "+data+" --questions "+data), streams{strings.NewReader(""), io.Discard, &complaints})
	if code != exitFailed || complaints.String() != "georag: interrupted\n" {
		t.Errorf("exit code %d, says %q", code, complaints.String())
	}
}
