package site

import (
	"time"

	"golang.org/x/sys/unix"
)

// elapsed is time by the clock that goes on while the machine is suspended, which Go's own does not: a worker on a notebook that was shut holds nothing when
// it wakes.
func elapsed() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return awake()
	}
	return time.Duration(now.Nano())
}
