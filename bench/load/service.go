package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/bench"
)

// service is a process of `georag serve`.
type service struct {
	url     string
	command *exec.Cmd
	log     bytes.Buffer // complete once the process has ended
	ended   chan error
	end     sync.Once
}

// startTimeout bounds how long a process takes until it answers.
const startTimeout = time.Minute

// serve starts a process at a free port and waits until it answers. The caller ends it.
func serve(ctx context.Context, o options, arguments ...string) (*service, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &service{url: "http://" + address, ended: make(chan error, 1)}
	s.command = exec.Command(o.georag, append([]string{"serve", "--no-ui", "--listen", address}, arguments...)...)
	s.command.Stderr = &s.log
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	go func() { s.ended <- s.command.Wait() }()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		if _, err := s.get(ctx, "/healthz"); err == nil {
			return s, nil
		}
		select {
		case err := <-s.ended:
			return nil, fmt.Errorf("the service ended: %w: %s", err, &s.log)
		case <-ctx.Done():
			_ = s.kill()
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// terminate sends SIGTERM and waits for the end, which must be in order.
func (s *service) terminate() (err error) {
	s.end.Do(func() {
		if err = s.command.Process.Signal(syscall.SIGTERM); err == nil {
			err = <-s.ended
		}
	})
	return err
}

// kill ends a process that is not ended already.
func (s *service) kill() (err error) {
	s.end.Do(func() {
		err = errors.Join(s.command.Process.Signal(os.Kill))
		<-s.ended
	})
	return err
}

func (s *service) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

// gauge reads one metric without labels.
func (s *service) gauge(ctx context.Context, name string) (float64, error) {
	text, err := s.get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("/metrics has no %s", name)
}

// questions are the bodies of requests over the corpus: K = 200, k = 5, every vector in base64.
func questions(c bench.Corpus, selector string) ([][]byte, error) {
	k, candidates := 5, 200
	bodies := make([][]byte, len(c.Questions))
	for i, q := range c.Questions {
		request := httpapi.SelectRequest{Query: q.Text, Vector: httpapi.NewVector(q.Vector), K: &k, Candidates: &candidates, Selector: selector}
		for _, sub := range q.Query().SubQueries {
			request.SubQueries = append(request.SubQueries, httpapi.SubQuery{Text: sub.Text, Vector: httpapi.NewVector(sub.Vector)})
		}
		var err error
		if bodies[i], err = json.Marshal(request); err != nil {
			return nil, err
		}
	}
	return bodies, nil
}
