package httpapi

import (
	"cmp"
	"fmt"
	"net"
	"runtime"
	"time"

	"github.com/georag/georag/core"
)

// Config of the service. Its zero value is the default: 127.0.0.1:8333, no TLS, no keys.
type Config struct {
	// Listen is the address to serve at. "" is 127.0.0.1:8333.
	Listen   string         `koanf:"listen"`
	TLS      TLSConfig      `koanf:"tls"`
	Auth     AuthConfig     `koanf:"auth"`
	Limits   Limits         `koanf:"limits"`
	Timeouts Timeouts       `koanf:"timeouts"`
	Load     LoadConfig     `koanf:"load"`
	Log      LogConfig      `koanf:"log"`
	Rerank   RerankSettings `koanf:"rerank"`
}

// DefaultListen is reachable from this machine only.
const DefaultListen = "127.0.0.1:8333"

// Limits bound what one request may ask for. 0 is the default.
type Limits struct {
	Body       int `koanf:"body"`       // bytes of a body, after decompression; 4 MiB
	Headers    int `koanf:"headers"`    // bytes of all headers; 16 KiB
	Nesting    int `koanf:"nesting"`    // depth of arrays and objects; 8
	Candidates int `koanf:"candidates"` // K, and candidates given; 1,000
	K          int `koanf:"k"`          // passages selected; 100
	SubQueries int `koanf:"subqueries"` // 64
	Dimension  int `koanf:"dimension"`  // of any vector; 4,096
	Floats     int `koanf:"floats"`     // of all vectors of a request together; 1,048,576
	Text       int `koanf:"text"`       // bytes of a question or sub-query; 8 KiB
	Documents  int `koanf:"documents"`  // of a rerank request; 1,000
}

// Timeouts of connections and requests. 0 is the default.
type Timeouts struct {
	Header  time.Duration `koanf:"header"`  // until all headers are there; 5 s
	Body    time.Duration `koanf:"body"`    // from the headers until all of the body is there; 10 s
	Write   time.Duration `koanf:"write"`   // for writing an answer; 10 s
	Idle    time.Duration `koanf:"idle"`    // of a kept connection; 60 s
	Request time.Duration `koanf:"request"` // of a request that names none; 2 s
	Most    time.Duration `koanf:"most"`    // that a request may name; 10 s
	// Drain is how long the service, once told to stop, still accepts while /readyz says 503: nil is 1 s.
	Drain *time.Duration `koanf:"drain"`
	// Shutdown is how long requests under way may then take; 10 s.
	Shutdown time.Duration `koanf:"shutdown"`
}

// LoadConfig bounds how much is done at once. 0 is the default.
type LoadConfig struct {
	Running     int           `koanf:"running"`     // requests worked on; 2 per processor
	Queue       *int          `koanf:"queue"`       // requests that wait: nil is 64, 0 is none
	Wait        time.Duration `koanf:"wait"`        // how long one waits; 100 ms
	Connections int           `koanf:"connections"` // open at once, more wait to be accepted; 512
	Buffered    int64         `koanf:"buffered"`    // bytes of bodies held at once; 128 MiB
}

// LogConfig says what may be logged.
type LogConfig struct {
	// Queries allows questions, and errors that may quote them, in the log.
	Queries bool `koanf:"queries"`
}

// RerankSettings of the rerank protocols.
type RerankSettings struct {
	// Greedy is how many documents, at most, are put in selection order; the others follow by cosine. 0 is 20.
	Greedy int `koanf:"greedy"`
}

// withDefaults returns c with every 0 replaced.
func (c Config) withDefaults() Config {
	c.Listen = cmp.Or(c.Listen, DefaultListen)
	c.Limits = c.Limits.withDefaults()
	c.Timeouts = c.Timeouts.withDefaults()
	c.Load.Running = cmp.Or(c.Load.Running, 2*runtime.GOMAXPROCS(0))
	c.Load.Queue = orDefault(c.Load.Queue, 64)
	c.Load.Wait = cmp.Or(c.Load.Wait, 100*time.Millisecond)
	c.Load.Connections = cmp.Or(c.Load.Connections, 512)
	c.Load.Buffered = cmp.Or(c.Load.Buffered, 128<<20)
	c.Rerank.Greedy = cmp.Or(c.Rerank.Greedy, 20)
	c.Auth.Reload = cmp.Or(c.Auth.Reload, time.Second)
	c.TLS.Reload = cmp.Or(c.TLS.Reload, time.Minute)
	return c
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Body: cmp.Or(l.Body, 4<<20), Headers: cmp.Or(l.Headers, 16<<10), Nesting: cmp.Or(l.Nesting, 8),
		Candidates: cmp.Or(l.Candidates, 1000), K: cmp.Or(l.K, core.MaxK), SubQueries: cmp.Or(l.SubQueries, core.MaxSubQueries),
		Dimension: cmp.Or(l.Dimension, 4096), Floats: cmp.Or(l.Floats, 1<<20), Text: cmp.Or(l.Text, 8<<10),
		Documents: cmp.Or(l.Documents, 1000),
	}
}

func (t Timeouts) withDefaults() Timeouts {
	return Timeouts{
		Header: cmp.Or(t.Header, 5*time.Second), Body: cmp.Or(t.Body, 10*time.Second), Write: cmp.Or(t.Write, 10*time.Second),
		Idle: cmp.Or(t.Idle, time.Minute), Request: cmp.Or(t.Request, 2*time.Second), Most: cmp.Or(t.Most, 10*time.Second),
		Drain: orDefault(t.Drain, time.Second), Shutdown: cmp.Or(t.Shutdown, 10*time.Second),
	}
}

func orDefault[T any](p *T, def T) *T {
	if p == nil {
		return &def
	}
	return p
}

// Validate reports the first setting out of its range, naming it and its value; the error wraps [core.ErrInvalid].
func (c Config) Validate() error {
	d := c.withDefaults()
	for _, number := range []struct {
		name        string
		value       int64
		least, most int64
	}{
		{"limits.body", int64(d.Limits.Body), 1 << 10, 1 << 30},
		{"limits.headers", int64(d.Limits.Headers), 1 << 10, 1 << 20},
		{"limits.nesting", int64(d.Limits.Nesting), 4, 64},
		{"limits.candidates", int64(d.Limits.Candidates), 1, core.MaxCandidates},
		{"limits.k", int64(d.Limits.K), 1, core.MaxK},
		{"limits.subqueries", int64(d.Limits.SubQueries), 1, core.MaxSubQueries},
		{"limits.dimension", int64(d.Limits.Dimension), 1, 1 << 16},
		{"limits.floats", int64(d.Limits.Floats), 1, 1 << 28},
		{"limits.text", int64(d.Limits.Text), 16, 1 << 20},
		{"limits.documents", int64(d.Limits.Documents), 1, core.MaxCandidates},
		{"timeouts.header", int64(d.Timeouts.Header), int64(time.Millisecond), int64(time.Hour)},
		{"timeouts.body", int64(d.Timeouts.Body), int64(time.Millisecond), int64(time.Hour)},
		{"timeouts.write", int64(d.Timeouts.Write), int64(time.Millisecond), int64(time.Hour)},
		{"timeouts.idle", int64(d.Timeouts.Idle), int64(time.Millisecond), int64(24 * time.Hour)},
		{"timeouts.request", int64(d.Timeouts.Request), int64(time.Millisecond), int64(d.Timeouts.Most)},
		{"timeouts.most", int64(d.Timeouts.Most), int64(time.Millisecond), int64(time.Hour)},
		{"timeouts.drain", int64(*d.Timeouts.Drain), 0, int64(time.Hour)},
		{"timeouts.shutdown", int64(d.Timeouts.Shutdown), int64(time.Millisecond), int64(time.Hour)},
		{"load.running", int64(d.Load.Running), 1, 1 << 16},
		{"load.queue", int64(*d.Load.Queue), 0, 1 << 20},
		{"load.wait", int64(d.Load.Wait), int64(time.Millisecond), int64(time.Minute)},
		{"load.connections", int64(d.Load.Connections), 1, 1 << 20},
		{"load.buffered", d.Load.Buffered, int64(d.Limits.Body), 1 << 40},
		{"rerank.greedy", int64(d.Rerank.Greedy), 1, core.MaxK},
		{"auth.reload", int64(d.Auth.Reload), int64(time.Millisecond), int64(24 * time.Hour)},
		{"tls.reload", int64(d.TLS.Reload), int64(time.Millisecond), int64(24 * time.Hour)},
	} {
		if number.value < number.least || number.value > number.most {
			return fmt.Errorf("adapters/httpapi: %w: %s is %d, want %d to %d", core.ErrInvalid, number.name, number.value, number.least, number.most)
		}
	}
	if err := c.TLS.validate(); err != nil {
		return err
	}
	return d.validateExposure()
}

// validateExposure refuses to serve everyone on the network by mistake.
func (c Config) validateExposure() error {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("adapters/httpapi: %w: listen is %q, want host:port: %w", core.ErrInvalid, c.Listen, err)
	}
	ip := net.ParseIP(host)
	local := host == "localhost" || ip != nil && ip.IsLoopback()
	if !local && c.Auth.KeysFile == "" && c.TLS.ClientCAFile == "" && !c.Auth.Anonymous {
		return fmt.Errorf("adapters/httpapi: %w: listen is %q, which others can reach: set auth.keys_file or tls.client_ca_file, or auth.anonymous to serve everyone", core.ErrInvalid, c.Listen)
	}
	return nil
}
