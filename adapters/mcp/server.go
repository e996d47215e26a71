package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/georag/georag/core"
)

const instructions = `Selects, from the user's own vector database, the passages that together cover what a question needs, instead of
the nearest ones, which often repeat each other. Give sub_queries for questions with several parts. "degraded" tells
when the result is less than what was asked for.`

// Server offers one stage. It is safe for concurrent use.
type Server struct {
	stage  core.Stage
	config Config
	turns  chan struct{}
	server *sdk.Server
}

// New checks the configuration and the stage's settings. The error wraps [core.ErrInvalid].
func New(stage core.Stage, c Config) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := (Request{}).settings(stage.Settings).Validate(); err != nil {
		return nil, fmt.Errorf("adapters/mcp: %w", err)
	}
	c = c.withDefaults()
	s := &Server{stage: stage, config: c, turns: make(chan struct{}, c.Running)}
	s.server = sdk.NewServer(&sdk.Implementation{Name: "georag", Title: "georag", Version: c.Version},
		&sdk.ServerOptions{Instructions: instructions, Capabilities: &sdk.ServerCapabilities{}})
	sdk.AddTool(s.server, tool("search_passages", "Search passages",
		"Find the passages that together cover what a question needs, with the parts of the question each of them answers."),
		func(ctx context.Context, _ *sdk.CallToolRequest, r Request) (*sdk.CallToolResult, Answer, error) {
			selection, err := s.run(ctx, r)
			return nil, answerOf(selection), err
		})
	sdk.AddTool(s.server, tool("explain_selection", "Explain a selection",
		"Explain why search_passages selects what it selects for the same arguments: the steps and their runners-up, the sub-queries, and where the question needs evidence."),
		func(ctx context.Context, _ *sdk.CallToolRequest, r Request) (*sdk.CallToolResult, Explanation, error) {
			selection, err := s.run(ctx, r)
			return nil, explanationOf(selection), err
		})
	return s, nil
}

func tool(name, title, description string) *sdk.Tool {
	closed := false
	return &sdk.Tool{Name: name, Title: title, Description: description,
		Annotations: &sdk.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}}
}

// Serve speaks the protocol over in and out until the client closes in, which is no error, or ctx ends. Nothing but the
// protocol is written to out.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	err := s.server.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}, MaxLineLength: s.config.Message})
	if err == nil || errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("adapters/mcp: %w", err)
}

// Connect serves one session over a transport of the SDK.
func (s *Server) Connect(ctx context.Context, t sdk.Transport) (*sdk.ServerSession, error) {
	return s.server.Connect(ctx, t, nil)
}

// unclosed keeps what the caller owns open.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// run selects for a request within its deadline.
func (s *Server) run(ctx context.Context, r Request) (core.Selection, error) {
	if err := r.check(s.config.Text); err != nil {
		return core.Selection{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-ctx.Done():
		return core.Selection{}, s.told(ctx.Err())
	}
	stage := s.stage
	stage.Settings = r.settings(stage.Settings)
	selection, err := stage.Select(ctx, r.query())
	return selection, s.told(err)
}

// told puts an error in words that say what to do about it.
func (s *Server) told(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %v; ask again, or with a smaller k: %w", s.config.Timeout, err)
	case errors.Is(err, core.ErrEmptyScope):
		return fmt.Errorf("this store has tenants: give tenant: %w", err)
	case errors.Is(err, core.ErrUnavailable):
		return fmt.Errorf("the store or a model cannot be reached now: %w", err)
	}
	return err
}
