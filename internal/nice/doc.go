// Package nice has what works beside the frame path give way to it.
//
//	thread_linux.go    Thread: a thread that others go before
//	realtime_linux.go  the same where the process has a real-time priority
//	worker.go          Worker: jobs on such a thread, which rest by the processor time that they took
//	spent_linux.go     that time
package nice
