package system

import (
	"time"

	"golang.org/x/sys/unix"
)

// spent is the processor time of the calling thread. Time in which other threads have the core is not part of it.
func spent() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // of the calling thread it does not fail
	return time.Duration(t.Nano())
}
