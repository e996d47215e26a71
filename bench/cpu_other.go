//go:build !linux

package bench

import "time"

var start = time.Now()

// CPU returns the time since the program started: there is no clock of the thread's own here, so measure on an idle
// machine.
func CPU() time.Duration { return time.Since(start) }
