package ingest

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// executable is this program's file, also after another was put in its place: parent and child stay of one build.
func executable() (string, error) { return "/proc/self/exe", nil }

// alone has a child end with its parent, and keeps the terminal's Ctrl-C from it: the parent ends it in order.
func alone() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// monotonic is the machine's clock that never jumps, in nanoseconds, the same for every process.
func monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}
