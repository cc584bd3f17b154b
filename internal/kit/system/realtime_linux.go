package system

import "golang.org/x/sys/unix"

// leastRealTime gives a thread of a process that chrt started the least real-time priority: there niceness means nothing, and what works beside the frame path
// would take a core from it for a tenth of a second at a time. It keeps one, because the frame path waits for this thread where memory is collected. What the
// system refuses is left.
func leastRealTime(thread int) {
	now, err := unix.SchedGetAttr(thread, 0)
	if err == nil && (now.Policy == unix.SCHED_FIFO || now.Policy == unix.SCHED_RR) {
		now.Priority = 1
		_ = unix.SchedSetAttr(thread, now, 0)
	}
}
