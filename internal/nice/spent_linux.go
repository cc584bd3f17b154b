package nice

import (
	"time"

	"golang.org/x/sys/unix"
)

// spent is the processor time of the calling thread. Time in which other threads have the core is not part of it.
func spent() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return elapsed()
	}
	return time.Duration(t.Nano())
}
