package system

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A thread that gives way in a process with a real-time priority has the least of them.
func TestRealTime(t *testing.T) {
	seen := make(chan unix.SchedAttr, 2)
	go func() {
		defer close(seen)
		runtime.LockOSThread() // and never unlocked: the thread ends with its priority
		if err := unix.SchedSetAttr(0, &unix.SchedAttr{Policy: unix.SCHED_RR, Priority: 3}, 0); err != nil {
			return // the system lets this user set none
		}
		for _, step := range []func(){func() {}, Thread} {
			step()
			if now, err := unix.SchedGetAttr(0, 0); err == nil {
				seen <- *now
			}
		}
	}()
	before, set := <-seen
	if !set {
		t.Skip("this user may set no real-time priority")
	}
	if after := <-seen; before.Priority != 3 || after.Policy != unix.SCHED_RR || after.Priority != 1 {
		t.Errorf("found %+v, before %+v, expected the least priority", after, before)
	}
}
