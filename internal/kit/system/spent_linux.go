package system

import (
	"time"

	"golang.org/x/sys/unix"
)

// spent returns the processor time of the calling thread. It excludes the time of other threads on the core.
func spent() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // it cannot fail for the calling thread
	return time.Duration(t.Nano())
}
