// Package milvusserver gives tests a real Milvus: the one GEORAG_MILVUS_ADDR names, or an embedded one that it
// starts from the PyPI package through integration/milvus_server.py.
//
// Starting takes seconds and 300 MB of memory, so a test binary shares one server ([Addr]), and
//
//	go run ./internal/milvusserver/cmd -- go test ./...
//
// shares one among all packages.
package milvusserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// AddrVariable names a running Milvus to use, "host:port".
const AddrVariable = "GEORAG_MILVUS_ADDR"

const script = "integration/milvus_server.py"

// Server is an embedded Milvus that this process started. It dies with this process, however that ends.
type Server struct {
	addr string

	mu      sync.Mutex // one request at a time
	process *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
	pipe    io.Closer // behind output
}

// ErrAbsent: no embedded Milvus can be started here, and the message says what is missing.
var ErrAbsent = errors.New("embedded Milvus is absent")

// Start starts a server with empty data on a free loopback port and waits until it is healthy. Settings are
// "name=value" of milvus.yaml, such as "common.security.authorizationEnabled=true".
func Start(settings ...string) (*Server, error) {
	root, err := repositoryRoot()
	if err != nil {
		return nil, err
	}
	python, err := exec.LookPath("python3.11")
	if err != nil {
		return nil, fmt.Errorf("internal/milvusserver: %w: its package needs Python 3.11: %w", ErrAbsent, err)
	}
	const anyPort = "0"
	args := append([]string{filepath.Join(root, script), filepath.Join(root, ".cache"), anyPort}, settings...)
	s := &Server{process: exec.Command(python, args...)}
	s.process.Stderr = os.Stderr
	if s.input, err = s.process.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.output, s.pipe = bufio.NewReader(output), output
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("internal/milvusserver: %w: %w", ErrAbsent, err)
	}
	answer, err := s.ask("start")
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	s.addr = answer
	return s, nil
}

// Addr is "127.0.0.1:port", the same for the server's life.
func (s *Server) Addr() string { return s.addr }

// Kill ends the server process with SIGKILL and keeps its data. Connections to its address are then reset.
func (s *Server) Kill() error {
	_, err := s.ask("kill")
	return err
}

// Restart starts the killed server on the same data and address, and waits until it is healthy.
func (s *Server) Restart() error {
	_, err := s.ask("start")
	return err
}

// Stop ends the server and deletes its data.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.input.Close() // the script stops at the end of its input
	_, drained := io.Copy(io.Discard, s.output)
	s.pipe.Close()
	return errors.Join(drained, s.process.Wait())
}

// ask sends one request and returns what follows the first word of its answer.
func (s *Server) ask(request string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := fmt.Fprintln(s.input, request); err != nil {
		return "", fmt.Errorf("internal/milvusserver: %w: %s: %w", ErrAbsent, request, err)
	}
	line, err := s.output.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("internal/milvusserver: %w: %s ended without an answer: %w", ErrAbsent, script, err)
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if word == "error" {
		return "", fmt.Errorf("internal/milvusserver: %w: %s", ErrAbsent, rest)
	}
	return rest, nil
}

// repositoryRoot is the nearest parent of the working directory that holds the script.
func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, script)); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("internal/milvusserver: %w: no parent folder holds %s", ErrAbsent, script)
		}
		dir = parent
	}
}
