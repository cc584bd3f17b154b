package system

import (
	"runtime"
	"syscall"
)

// niceness is the niceness of a thread that yields to the frame path: 10 and 19 reduced the latency of frames no further (decision 83).
const niceness = 5

// Thread gives the calling goroutine a thread of its own, for good, with low priority. The thread ends with the goroutine. A thread of even
// lower priority stays as it is, and so does one whose niceness the system refuses: only speed depends on it.
func Thread() {
	runtime.LockOSThread() // never unlocked: the thread ends with its niceness
	thread := syscall.Gettid()
	leastRealTime(thread)
	if now, err := syscall.Getpriority(syscall.PRIO_PROCESS, thread); err == nil && 20-now < niceness { // the call returns 20 minus the niceness
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, thread, niceness)
	}
}
