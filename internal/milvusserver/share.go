package milvusserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Share runs a command with a Milvus beside it, whose address the command finds in [AddrVariable], and returns its
// exit status. A server that the variable names already is used as it is. Where none can be had, the command runs
// without one, and with CI=true not at all.
func Share(command *exec.Cmd) (status int, err error) {
	command.Env = os.Environ()
	if os.Getenv(AddrVariable) == "" {
		server, err := Start()
		switch {
		case err == nil:
			defer func() { err = errors.Join(err, server.Stop()) }()
			command.Env = append(command.Env, AddrVariable+"="+server.Addr())
		case required() || !errors.Is(err, ErrAbsent):
			return 1, err
		default:
			fmt.Fprintln(os.Stderr, "SKIPPED: no Milvus:", err)
		}
	}
	return run(command)
}

func run(command *exec.Cmd) (status int, err error) {
	err = command.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode(), nil
	case err != nil:
		return 1, err
	default:
		return 0, nil
	}
}
