// Package batch answers a file of questions offline: one JSON object a line in, one selection a line out, in the same
// order, on all cores, in memory that does not grow with the file. A run that was interrupted goes on where the output
// ends: the lines written are its whole state.
package batch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/jsonl"
)

// ErrResume: the output that is there was not made from these questions.
var ErrResume = errors.New("output belongs to other questions")

// Selector is what answers; [*core.Stage] is one. It is called from Workers goroutines at once.
type Selector interface {
	Select(ctx context.Context, q core.Query) (core.Selection, error)
}

var _ Selector = (*core.Stage)(nil)

// Job is one run.
type Job struct {
	Selector Selector
	// Workers select at the same time; 0 is one for each processor.
	Workers int
	// KeepGoing writes a line with the error of a question that cannot be answered and goes on. Without it the first
	// such question ends the run, after everything before it has been written.
	KeepGoing bool
	// Progress, where set, is called after each line written, with the number of lines the output has.
	Progress func(lines int)
}

// Validate reports a field out of range.
func (j Job) Validate() error {
	if j.Selector == nil || j.Workers < 0 {
		return fmt.Errorf("internal/batch: %w: selector %v, workers %d", core.ErrInvalid, j.Selector, j.Workers)
	}
	return nil
}

// Run answers the questions of in, whose name is for messages, and appends to out. What out holds already is taken as
// the answers to the first questions; a last line without its end is cut off and answered again. It returns how many
// lines out has, with the first error in the order of the questions: one of a malformed line ([jsonl.ErrFormat]) or of
// the selector, both with the line's number, [ErrResume], or the context's.
func (j Job) Run(ctx context.Context, in io.Reader, name string, out *os.File) (lines int, err error) {
	if err := j.Validate(); err != nil {
		return 0, err
	}
	before, err := resume(out)
	if err != nil {
		return 0, err
	}
	workers := j.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := pipeline{Job: j, ctx: ctx, before: before, work: make(chan *task), order: make(chan *task, 2*workers)}
	var running sync.WaitGroup
	for range workers {
		running.Go(p.answer)
	}
	running.Go(func() { p.read(in, name) })
	written, err := p.write(out)
	cancel()
	for range p.order { // what was read beyond an error
	}
	running.Wait()
	return before.lines + written, err
}

// task is one question on its way from the input to the output.
type task struct {
	line int
	question
	answer []byte
	err    error
	done   chan struct{}
}

// pipeline hands every question to two channels: to the workers, and in order to the writer, which waits for each. The
// length of the second bounds how far the reader runs ahead.
type pipeline struct {
	Job
	ctx    context.Context
	before written
	work   chan *task
	order  chan *task
}

// read sends all questions that are not answered yet.
func (p *pipeline) read(in io.Reader, name string) {
	defer close(p.order)
	defer close(p.work)
	last := 0
	err := jsonl.Each(in, name, func(l jsonl.Line) error {
		last = l.Number
		if l.Number < p.before.lines {
			return nil
		}
		q, err := parse(l.Data)
		if err != nil {
			return jsonl.Errorf(name, l.Number, "%w", err)
		}
		if l.Number == p.before.lines {
			return p.before.check(q, name, l.Number)
		}
		t := &task{line: l.Number, question: q, done: make(chan struct{})}
		for _, next := range []chan *task{p.order, p.work} {
			select {
			case next <- t:
			case <-p.ctx.Done():
				t.err = p.ctx.Err()
				if next == p.work {
					close(t.done) // it is in order already, and nobody will answer it
				}
				return p.ctx.Err()
			}
		}
		return nil
	})
	if err == nil && last < p.before.lines {
		err = fmt.Errorf("internal/batch: %w: %s has %d lines, the output %d", ErrResume, name, last, p.before.lines)
	}
	if err != nil {
		t := &task{line: last, err: err, done: make(chan struct{})}
		close(t.done)
		select {
		case p.order <- t:
		case <-p.ctx.Done():
		}
	}
}

// answer selects for one question after the other.
func (p *pipeline) answer() {
	for t := range p.work {
		selection, err := p.Selector.Select(p.ctx, t.query)
		switch {
		case err == nil:
			t.answer, t.err = json.Marshal(newAnswer(t.id, selection))
		case p.KeepGoing && p.ctx.Err() == nil:
			t.answer, t.err = json.Marshal(failure{ID: t.id, Error: err.Error()})
		default:
			t.err = fmt.Errorf("internal/batch: line %d, question %s: %w", t.line, t.id, err)
		}
		close(t.done)
	}
}

// write puts the answers out in order, until the first error.
func (p *pipeline) write(out io.Writer) (lines int, err error) {
	buffer := bufio.NewWriter(out)
	defer func() { err = errors.Join(err, buffer.Flush()) }()
	for t := range p.order {
		<-t.done
		if t.err != nil {
			return lines, t.err
		}
		if _, err := buffer.Write(append(t.answer, '\n')); err != nil {
			return lines, fmt.Errorf("internal/batch: write the answer to line %d: %w", t.line, err)
		}
		lines++
		if len(p.order) == 0 {
			if err := buffer.Flush(); err != nil {
				return lines, fmt.Errorf("internal/batch: write the answer to line %d: %w", t.line, err)
			}
		}
		if p.Progress != nil {
			p.Progress(p.before.lines + lines)
		}
	}
	return lines, p.ctx.Err()
}
