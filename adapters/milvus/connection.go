package milvus

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/georag/georag/core"
)

// connection hands out the present link to the server and replaces one that has gone dead. It never blocks:
// dialling happens in the background, and a call on a link that is not up yet fails or waits within its deadline.
type connection struct {
	dial func(*link) (server, error)

	mu      sync.Mutex
	current *link
	open    map[*link]struct{} // current, and retired ones still in use
	closed  bool
}

// link is one client connection with what was learnt over it.
type link struct {
	server   server
	schema   atomic.Pointer[collection]
	answered atomic.Int64 // when the last answer came, in Unix nanoseconds
	users    int          // guarded by connection.mu
	retired  bool         // guarded by connection.mu
}

// acquire returns the present link, made at need; release gives it back.
func (c *connection) acquire() (l *link, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, fmt.Errorf("adapters/milvus: %w: the store is closed", core.ErrUnavailable)
	}
	if c.current == nil {
		l := &link{}
		if l.server, err = c.dial(l); err != nil {
			return nil, err
		}
		if c.open == nil {
			c.open = make(map[*link]struct{})
		}
		c.current = l
		c.open[l] = struct{}{}
	}
	c.current.users++
	return c.current, nil
}

func (c *connection) release(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.users--
	c.reap(l)
}

// retire has the next call dial anew, unless l answered anything since the given time. Calls still waiting on l
// may go on.
func (c *connection) retire(l *link, since time.Time) {
	if l.answered.Load() >= since.UnixNano() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l.retired = true
	if c.current == l {
		c.current = nil
	}
	c.reap(l)
}

// reap closes a retired link that nobody uses any more.
func (c *connection) reap(l *link) {
	if _, open := c.open[l]; open && l.retired && l.users == 0 {
		delete(c.open, l)
		_ = l.server.close() // of a connection already given up there is nothing to tell
	}
}

// close ends every link at once; calls in flight fail.
func (c *connection) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	var failures []error
	for l := range c.open {
		failures = append(failures, l.server.close())
	}
	c.open, c.current = nil, nil
	return errors.Join(failures...)
}
