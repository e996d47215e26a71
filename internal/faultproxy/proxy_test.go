package faultproxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo serves connections that send back what they receive.
func echo(t *testing.T) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				io.Copy(conn, conn)
			}()
		}
	}()
	return listener.Addr().String()
}

func start(t *testing.T) *Proxy {
	t.Helper()
	p, err := Start(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func dial(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func set(t *testing.T, p *Proxy, f Fault) {
	t.Helper()
	if err := p.Set(f); err != nil {
		t.Fatal(err)
	}
}

// exchange sends n bytes and returns how many came back before the connection failed or went quiet.
func exchange(t *testing.T, conn net.Conn, n int) (int, error) {
	t.Helper()
	sent := bytes.Repeat([]byte("0123456789"), n/10+1)[:n]
	if _, err := conn.Write(sent); err != nil {
		return 0, err
	}
	conn.SetReadDeadline(time.Now().Add(2 * time.Second))
	got := make([]byte, n)
	read, err := io.ReadFull(conn, got)
	if !bytes.Equal(got[:read], sent[:read]) {
		t.Error("the bytes that came back are not those sent")
	}
	return read, err
}

func TestPassesEverythingUnchanged(t *testing.T) {
	for name, fault := range map[string]Fault{
		"healthy":   {},
		"slices":    {ChunkBytes: 7},
		"latency":   {Latency: time.Millisecond, Jitter: time.Millisecond},
		"bandwidth": {BytesPerSecond: 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			set(t, p, fault)
			if n, err := exchange(t, dial(t, p), 10_000); n != 10_000 {
				t.Errorf("%d bytes came back: %v", n, err)
			}
		})
	}
}

func TestDelaysAtLeast(t *testing.T) {
	for name, fault := range map[string]Fault{
		"latency":   {Latency: 50 * time.Millisecond},
		"bandwidth": {BytesPerSecond: 20_000}, // 1,000 bytes take 50 ms
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			conn := dial(t, p)
			set(t, p, fault)
			begun := time.Now()
			if _, err := exchange(t, conn, 1000); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begun); took < 50*time.Millisecond {
				t.Errorf("came back after %v, want 50ms or more", took)
			}
		})
	}
}

func TestCutsAfterSoManyBytes(t *testing.T) {
	p := start(t)
	conn := dial(t, p)
	set(t, p, Fault{CutAfter: 100})
	if n, err := exchange(t, conn, 1000); n != 100 || err == nil {
		t.Errorf("%d bytes came back and then %v, want 100 and an end", n, err)
	}
}

func TestResets(t *testing.T) {
	p := start(t)
	conn := dial(t, p)
	if _, err := exchange(t, conn, 10); err != nil {
		t.Fatal(err)
	}
	set(t, p, Fault{Reset: true})
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("error %v, want a reset", err)
	}
}

func TestRefusesAndComesBack(t *testing.T) {
	p := start(t)
	set(t, p, Fault{Refuse: true})
	if conn, err := net.Dial("tcp", p.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dialling gave %v, %v; want a refusal", conn, err)
	}
	if err := p.Heal(); err != nil {
		t.Fatal(err)
	}
	if n, err := exchange(t, dial(t, p), 10); n != 10 {
		t.Errorf("after healing %d bytes came back: %v", n, err)
	}
}

func TestSilenceOutlastsHealing(t *testing.T) {
	p := start(t)
	before := dial(t, p)
	if _, err := exchange(t, before, 10); err != nil {
		t.Fatal(err)
	}
	set(t, p, Fault{Silent: true})
	if err := p.Heal(); err != nil {
		t.Fatal(err)
	}
	before.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	before.Write([]byte("anybody?"))
	var late net.Error
	if n, err := before.Read(make([]byte, 8)); n != 0 || !errors.As(err, &late) || !late.Timeout() {
		t.Errorf("the silent connection gave %d bytes and %v, want a time-out", n, err)
	}
	if n, err := exchange(t, dial(t, p), 10); n != 10 {
		t.Errorf("a new connection gave %d bytes: %v", n, err)
	}
}

func TestRetargetEndsConnections(t *testing.T) {
	p := start(t)
	conn := dial(t, p)
	if _, err := exchange(t, conn, 10); err != nil {
		t.Fatal(err)
	}
	p.Retarget(echo(t))
	if n, err := exchange(t, conn, 10); err == nil {
		t.Errorf("the old connection still passed %d bytes", n)
	}
	if n, err := exchange(t, dial(t, p), 10); n != 10 {
		t.Errorf("the new server gave %d bytes: %v", n, err)
	}
}

func TestSlowClose(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			conn.Close()
		}
	}()
	p, err := Start(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	set(t, p, Fault{SlowClose: 50 * time.Millisecond})
	begun := time.Now()
	if _, err := dial(t, p).Read(make([]byte, 1)); err != io.EOF || time.Since(begun) < 50*time.Millisecond {
		t.Errorf("%v after %v, want EOF after 50ms or more", err, time.Since(begun))
	}
}
