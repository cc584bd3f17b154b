package system

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// In a process with a real-time priority, Thread gives its thread the lowest real-time priority.
func TestRealTime(t *testing.T) {
	seen := make(chan unix.SchedAttr, 2)
	go func() {
		defer close(seen)
		runtime.LockOSThread() // never unlocked: the thread ends with its priority
		if err := unix.SchedSetAttr(0, &unix.SchedAttr{Policy: unix.SCHED_RR, Priority: 3}, 0); err != nil {
			return // this user may not set a real-time priority
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
