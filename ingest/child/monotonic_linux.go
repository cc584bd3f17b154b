package child

import "golang.org/x/sys/unix"

// monotonic returns the machine's monotonic clock in nanoseconds. All processes share it.
func monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}
