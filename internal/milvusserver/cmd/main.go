// Command cmd runs another command with a real Milvus beside it, whose address the command finds in
// GEORAG_MILVUS_ADDR:
//
//	go run ./internal/milvusserver/cmd -- go test ./...
//
// A server already named by that variable is used as it is. Its own exit status is the command's.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"

	"github.com/georag/georag/internal/milvusserver"
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: cmd -- COMMAND [ARGUMENT…]")
		os.Exit(2)
	}
	status, err := run(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}

func run(args []string) (status int, err error) {
	signal.Ignore(os.Interrupt) // the command gets it too, and we must outlive it to stop the server
	environment := os.Environ()
	if os.Getenv(milvusserver.AddrVariable) == "" {
		server, err := milvusserver.Start()
		if err != nil {
			return 1, err
		}
		defer func() { err = errors.Join(err, server.Stop()) }()
		environment = append(environment, milvusserver.AddrVariable+"="+server.Addr())
	}
	command := exec.Command(args[0], args[1:]...)
	command.Env = environment
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = command.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}
