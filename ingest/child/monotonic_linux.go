package child

import "golang.org/x/sys/unix"

// monotonic is the machine's clock that never jumps, in nanoseconds, the same for every process.
func monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}
