package system

import "golang.org/x/sys/unix"

// leastRealTime gives a thread the lowest real-time priority, if chrt started the process with a real-time priority. There, niceness has no effect, and
// background work would take a core from the frame path for a tenth of a second at a time. The thread keeps some real-time priority, because the frame path
// waits for it during garbage collection. If the system refuses, the thread stays unchanged.
func leastRealTime(thread int) {
	now, err := unix.SchedGetAttr(thread, 0)
	if err == nil && (now.Policy == unix.SCHED_FIFO || now.Policy == unix.SCHED_RR) {
		now.Priority = 1
		_ = unix.SchedSetAttr(thread, now, 0)
	}
}
