package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/georag/georag/adapters/mcp"
	"github.com/georag/georag/core"
)

func newMCP(s streams) *cobra.Command {
	f := &configFlags{}
	var sample bool
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Offer selections to language models over the Model Context Protocol, on standard input and output",
		Long: `Offer the tools search_passages and explain_selection to a program that speaks the Model Context Protocol, over
standard input and output. An embedder must be configured, since models ask in words. Messages for people go to
standard error.`,
		Example: `  {"mcpServers": {"georag": {"command": "georag", "args": ["mcp", "--config", "georag.yaml"]}}}`,
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.read()
			if err != nil {
				return err
			}
			return serveMCP(cmd.Context(), s, c, sample)
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&sample, "demo", false, "serve the small corpus that is part of the program")
	return cmd
}

func serveMCP(ctx context.Context, s streams, c Config, sample bool) (err error) {
	stage, open, err := serving{demo: sample}.openStage(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, open.Close()) }()
	if stage.Planner.Embedder == nil {
		return errNoEmbedder
	}
	if err := checkDimension(ctx, stage); err != nil {
		return err
	}
	server, err := mcp.New(stage, mcp.Config{Timeout: c.Timeout, Version: version()})
	if err != nil {
		return err
	}
	return server.Serve(ctx, s.in, s.out)
}

// errNoEmbedder tells what to do where questions come in words and nothing can embed them.
var errNoEmbedder = usagef("%w: questions in words need an embedder: set embedder.openai, or embedder.static for an index that georag index built with the static table", core.ErrInvalid)
