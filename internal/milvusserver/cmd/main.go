// Command cmd runs another command with a real Milvus beside it, whose address the command finds in
// GEORAG_MILVUS_ADDR:
//
//	go run ./internal/milvusserver/cmd -- go test ./...
//
// A server already named by that variable is used as it is. The exit status is the command's.
package main

import (
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
	// The command gets an interrupt too, and we must outlive it to stop the server.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	command := exec.Command(args[0], args[1:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	status, err := milvusserver.Share(command)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = max(status, 1)
	}
	os.Exit(status)
}
