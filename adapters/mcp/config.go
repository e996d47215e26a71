package mcp

import (
	"cmp"
	"fmt"
	"time"

	"github.com/georag/georag/core"
)

// Config of the server. Its zero value is the default.
type Config struct {
	// Timeout bounds one call of a tool. 0 is 10 s.
	Timeout time.Duration
	// Running is how many calls are worked on at once; further ones wait within their Timeout. 0 is 4.
	Running int
	// Text is how many bytes a question or sub-query may have. 0 is 8 KiB.
	Text int
	// Message is how many bytes one message of the protocol may have. 0 is 1 MiB.
	Message int
	// Version is what the server says of itself.
	Version string
}

func (c Config) withDefaults() Config {
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	c.Running = cmp.Or(c.Running, 4)
	c.Text = cmp.Or(c.Text, 8<<10)
	c.Message = cmp.Or(c.Message, 1<<20)
	return c
}

// Validate reports the first setting out of its range, naming it and its value; the error wraps [core.ErrInvalid].
func (c Config) Validate() error {
	d := c.withDefaults()
	for _, number := range []struct {
		name        string
		value       int64
		least, most int64
	}{
		{"timeout", int64(d.Timeout), int64(time.Millisecond), int64(time.Hour)},
		{"running", int64(d.Running), 1, 1 << 10},
		{"text", int64(d.Text), 16, 1 << 20},
		{"message", int64(d.Message), 1 << 10, 1 << 30},
	} {
		if number.value < number.least || number.value > number.most {
			return fmt.Errorf("adapters/mcp: %w: %s is %d, want %d to %d", core.ErrInvalid, number.name, number.value, number.least, number.most)
		}
	}
	return nil
}
