package faultproxy

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const bufferBytes = 32 << 10

// link is one client's connection and the proxy's own to the server.
type link struct {
	client, server *net.TCPConn
	dead           atomic.Bool // half-open: nothing passes any more
}

// end closes both sides, the client's with a reset if so asked.
func (l *link) end(reset bool) {
	if reset {
		l.client.SetLinger(0) // unsent data is dropped and the peer gets RST
	}
	l.client.Close()
	l.server.Close()
}

// connect carries one client's connection until either side ends it.
func (p *Proxy) connect(client *net.TCPConn) {
	l, ok := p.open(client)
	if !ok {
		client.Close()
		return
	}
	var forwarding sync.WaitGroup
	forwarding.Go(func() { p.forward(l) })
	p.answer(l)
	forwarding.Wait()
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

// open dials the server and registers the link under the fault in force.
func (p *Proxy) open(client *net.TCPConn) (*link, bool) {
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	server, err := net.DialTimeout("tcp", target, time.Second)
	if err != nil {
		client.SetLinger(0)
		return nil, false
	}
	l := &link{client: client, server: server.(*net.TCPConn)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.fault.Reset || p.fault.Refuse {
		l.end(p.fault.Reset)
		return nil, false
	}
	l.dead.Store(p.fault.Silent)
	p.links[l] = struct{}{}
	return l, true
}

// forward copies the client's bytes to the server until the client ends.
func (p *Proxy) forward(l *link) {
	defer l.end(false)
	buffer := make([]byte, bufferBytes)
	for {
		n, err := l.client.Read(buffer)
		if n > 0 && !l.dead.Load() {
			if _, failed := l.server.Write(buffer[:n]); failed != nil && !l.dead.Load() {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// answer copies the server's bytes to the client with the fault in force.
func (p *Proxy) answer(l *link) {
	buffer := make([]byte, bufferBytes)
	var fault *Fault
	passed, chunks := 0, 0
	for {
		n, err := l.server.Read(buffer)
		for rest := buffer[:n]; len(rest) > 0 && !l.dead.Load(); {
			if now := p.now(); now != fault {
				fault, passed = now, 0
			}
			chunk := rest[:fault.chunk(len(rest), passed)]
			rest = rest[len(chunk):]
			chunks++
			if !p.sleep(fault.delay(len(chunk), chunks)) || !l.pass(chunk) {
				l.end(false)
				return
			}
			passed += len(chunk)
			if fault.CutAfter > 0 && passed >= fault.CutAfter {
				l.end(false)
				return
			}
		}
		if err != nil {
			p.serverEnded(l, err)
			return
		}
	}
}

// pass writes a chunk to the client, unless the link died while the chunk was delayed.
func (l *link) pass(chunk []byte) bool {
	if l.dead.Load() {
		return true
	}
	_, err := l.client.Write(chunk)
	return err == nil
}

// serverEnded tells the client that the server closed; a dead link tells nothing, so the client has to end it.
func (p *Proxy) serverEnded(l *link, err error) {
	if l.dead.Load() {
		return
	}
	if errors.Is(err, io.EOF) && !p.sleep(p.now().SlowClose) {
		return
	}
	l.end(false)
}

// chunk is how many of the n bytes at hand go out next, after so many have passed.
func (f *Fault) chunk(n, passed int) int {
	if f.ChunkBytes > 0 {
		n = min(n, f.ChunkBytes)
	}
	if f.BytesPerSecond > 0 {
		n = min(n, max(1, f.BytesPerSecond/20)) // twenty steps a second look like a slow line, not like bursts
	}
	if f.CutAfter > 0 {
		n = min(n, f.CutAfter-passed)
	}
	return n
}

// delay is how long a chunk of n bytes takes; the jitter runs through a fixed order so that tests repeat.
func (f *Fault) delay(n, chunks int) time.Duration {
	d := f.Latency + f.Jitter*time.Duration(chunks*7%10)/10
	if f.BytesPerSecond > 0 {
		d += time.Duration(n) * time.Second / time.Duration(f.BytesPerSecond)
	}
	return d
}
