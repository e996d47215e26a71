// Package faultproxy puts network faults between a client and a server in one process, for tests: a TCP proxy on
// a loopback port that delays, throttles, slices, cuts, resets, refuses or swallows what passes through it.
package faultproxy

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Fault is what goes wrong between client and server. The zero Fault is a healthy line. Byte counts and delays
// are those of the answers (server to client); [Fault.Silent], [Fault.Reset] and [Fault.Refuse] hit both ways.
type Fault struct {
	// Latency delays each chunk of an answer; Jitter adds up to as much again, in an order that repeats.
	Latency, Jitter time.Duration
	// BytesPerSecond bounds the speed of answers. 0 is unbounded.
	BytesPerSecond int
	// ChunkBytes passes answers on in pieces of at most so many bytes. 0 is as they come.
	ChunkBytes int
	// CutAfter closes a connection after so many bytes of answers, counted from Set or from the connection's
	// start. 0 is never; 1 is before a whole message can pass.
	CutAfter int
	// SlowClose keeps the client's connection open for so long after the server closed its own.
	SlowClose time.Duration
	// Reset ends every connection, those open now and those to come, with a TCP reset.
	Reset bool
	// Refuse ends every connection and closes the port, so that new ones are refused.
	Refuse bool
	// Silent makes connections half-open: they accept everything and never answer again, even once healed, as
	// after a power cut or a forgotten NAT entry. Connections made while it lasts are silent from the start.
	Silent bool
}

// Proxy is a running proxy. It is safe for concurrent use.
type Proxy struct {
	addr string
	done chan struct{}

	mu       sync.Mutex // guards what follows and the listener's opening and closing
	target   string
	fault    *Fault
	listener net.Listener
	links    map[*link]struct{}
	closed   bool

	accepted atomic.Int64
	running  sync.WaitGroup
}

// Start listens on a free loopback port and passes connections on to target, "host:port".
func Start(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		addr:   listener.Addr().String(),
		done:   make(chan struct{}),
		target: target,
		fault:  new(Fault),
		links:  make(map[*link]struct{}),
	}
	p.serve(listener)
	return p, nil
}

// Addr is the address clients connect to. It stays the same for the proxy's life.
func (p *Proxy) Addr() string { return p.addr }

// Accepted is the number of connections accepted so far.
func (p *Proxy) Accepted() int64 { return p.accepted.Load() }

// Retarget sends new connections to another server and ends the present ones, as a server's restart does.
func (p *Proxy) Retarget(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
	p.endLinks(false)
}

// Set makes f the line's fault at once, for the connections that are open and those to come. The error is that of
// listening again after [Fault.Refuse].
func (p *Proxy) Set(f Fault) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = &f
	if f.Silent {
		for l := range p.links {
			l.dead.Store(true)
		}
	}
	if f.Reset || f.Refuse {
		p.endLinks(f.Reset)
	}
	if f.Refuse && p.listener != nil {
		err := p.listener.Close()
		p.listener = nil
		return err
	}
	if !f.Refuse && p.listener == nil && !p.closed {
		listener, err := net.Listen("tcp", p.addr)
		if err != nil {
			return err
		}
		p.serve(listener)
	}
	return nil
}

// Heal takes every fault away. Connections made silent stay so.
func (p *Proxy) Heal() error { return p.Set(Fault{}) }

// Close ends all connections and waits for the proxy's goroutines.
func (p *Proxy) Close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.done)
	}
	if p.listener != nil {
		p.listener.Close()
		p.listener = nil
	}
	p.endLinks(false)
	p.mu.Unlock()
	p.running.Wait()
}

func (p *Proxy) serve(listener net.Listener) {
	p.listener = listener
	p.running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.accepted.Add(1)
			p.running.Go(func() { p.connect(client.(*net.TCPConn)) })
		}
	})
}

// endLinks ends all connections; the caller holds mu.
func (p *Proxy) endLinks(reset bool) {
	for l := range p.links {
		l.end(reset)
	}
}

// now is the fault in force. Pumps compare the pointer to see that it changed.
func (p *Proxy) now() *Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault
}

// sleep waits for d and reports whether the proxy is still open.
func (p *Proxy) sleep(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.done:
		return false
	}
}
