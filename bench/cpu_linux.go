package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPU returns the processor time that the calling thread has used. On a busy machine it tells what a computation
// costs, where the clock on the wall tells how long it had to wait; the caller stays on one thread with
// [runtime.LockOSThread].
func CPU() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic("bench: thread CPU clock: " + err.Error()) // Linux has had it since 2.6.12
	}
	return time.Duration(t.Nano())
}
