package main

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCPOverStandardInputAndOutput speaks to the command as a process of its own, by the official client: anything on
// its standard output that is not of the protocol would end the session.
func TestMCPOverStandardInputAndOutput(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "georag", "mcp", "--demo") // testscript.Main puts it there
	var complaints bytes.Buffer
	command.Stderr = &complaints
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(ctx, &sdk.CommandTransport{Command: command, TerminateDuration: time.Minute}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, &complaints)
	}
	if got := session.InitializeResult().ServerInfo.Name; got != "georag" {
		t.Errorf("the server is called %q", got)
	}
	result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "search_passages", Arguments: map[string]any{
		"question": "Which antibiotic did Fleming discover, and who turned it into a medicine?", "k": 3,
	}})
	if err != nil || result.IsError {
		t.Fatalf("%v %+v", err, result)
	}
	text := result.Content[0].(*sdk.TextContent).Text
	if strings.Count(text, `"cosine"`) != 3 || !strings.Contains(text, "penicillin") {
		t.Errorf("answer %s", text)
	}
	if err := session.Close(); err != nil {
		t.Errorf("the command did not end in order: %v\n%s", err, &complaints)
	}
	if complaints.Len() > 0 {
		t.Errorf("on standard error: %s", &complaints)
	}
}

func TestMCPNeedsAnEmbedder(t *testing.T) {
	var out, complaints bytes.Buffer
	code := run(t.Context(), []string{"mcp", "--passages", "../../demo/data"}, streams{strings.NewReader(""), &out, &complaints})
	if code != exitUsage || !strings.Contains(complaints.String(), "embedder") || out.Len() > 0 {
		t.Errorf("exit code %d, out %q, err %q", code, &out, &complaints)
	}
}
