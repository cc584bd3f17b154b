// Package nice has what works beside the frame path give way to it.
package nice

import (
	"runtime"
	"syscall"
)

// beside is the niceness of a thread that gives way: at 10 and at 19 a frame comes no sooner (docs/decisions/0041).
const beside = 5

// Thread gives the calling goroutine a thread of its own, for good, which others go before where they want a core. The thread ends with the
// goroutine. A system that refuses leaves the thread as it is: nothing but time is at stake.
func Thread() {
	runtime.LockOSThread() // and never unlocked: the thread ends with its niceness
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), beside)
}
