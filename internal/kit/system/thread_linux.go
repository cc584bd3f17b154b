package system

import (
	"runtime"
	"syscall"
)

// niceness is the niceness of a thread that yields to the frame path. Values of 10 and 19 did not reduce the latency of frames further (decision 83).
const niceness = 5

// Thread gives the calling goroutine its own thread with low priority, until the goroutine ends. A thread with an even lower priority keeps it. If the system
// refuses the niceness, the thread stays unchanged: only speed depends on it.
func Thread() {
	runtime.LockOSThread() // never unlocked: the thread ends with its niceness
	thread := syscall.Gettid()
	leastRealTime(thread)
	if now, err := syscall.Getpriority(syscall.PRIO_PROCESS, thread); err == nil && 20-now < niceness { // the call returns 20 minus the niceness
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, thread, niceness)
	}
}
