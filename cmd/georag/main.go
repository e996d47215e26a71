// Command georag selects the passages that together cover what a question needs, next to a vector database.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/core"
)

// Exit codes, as documented in the help text.
const (
	exitDone     = 0
	exitFailed   = 1
	exitUsage    = 2 // wrong usage or configuration
	exitDegraded = 3 // done, but degraded, under --strict
)

func main() {
	// The first signal ends what runs in an orderly way, a second one at once.
	ctx, stop := httpapi.SignalContext(context.Background())
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, s streams) int {
	out := &output{Writer: s.out}
	s.out = out
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.err
	}
	switch {
	case err == nil:
		return exitDone
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(s.err, "georag: interrupted")
	default:
		fmt.Fprintln(s.err, "georag:", plain(err.Error()))
	}
	return exitCode(err)
}

// usageError is a command line that cannot be understood.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, values ...any) error { return usageError{fmt.Errorf(format, values...)} }

func exitCode(err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, core.ErrStrict):
		return exitDegraded
	case errors.As(err, &usage), errors.Is(err, core.ErrInvalid), errors.Is(err, core.ErrEmptyScope):
		return exitUsage
	case errors.Is(err, core.ErrDimension), errors.Is(err, core.ErrUnsupported):
		return exitUsage // the configuration puts together what does not belong together
	}
	return exitFailed
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "georag",
		Short: "Select the passages that together cover what a question needs",
		Long: `georag is a retrieval stage next to a vector database: of the nearest passages of a question it selects the k
that together cover what the question needs, and explains every choice.

Exit codes: 0 done; 1 failed; 2 wrong usage or configuration; 3 done, but degraded, under --strict.`,
		SilenceErrors: true, SilenceUsage: true,
		Version: version(),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q; see georag --help", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(newDemo(s), newSelect(s), newEval(s), newBatch(s), newIndex(s), newDataset(s), newTREC(s), newDiagnose(s), newServe(s), newMCP(s), newDoctor(s), newConfig(s), newVersion(s))
	return root
}

// arguments makes the checks of cobra usage errors.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}
