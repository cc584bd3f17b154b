package system

import (
	"runtime"
	"syscall"
)

// niceness is the niceness of a thread that yields to the frame path: 10 and 19 reduced the latency of frames no further (decision 83).
const niceness = 5

// Thread gives the calling goroutine a thread of its own, for good, which others go before where they want a core. The thread ends with the
// goroutine. One that gives way more already is left as it is, and so is one whose niceness the system refuses: nothing but time is at stake.
func Thread() {
	runtime.LockOSThread() // and never unlocked: the thread ends with its niceness
	thread := syscall.Gettid()
	leastRealTime(thread)
	if now, err := syscall.Getpriority(syscall.PRIO_PROCESS, thread); err == nil && 20-now < niceness { // the call gives 20 less the niceness
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, thread, niceness)
	}
}
