// Package system has what a program asks of the operating system with care.
//
//	atomicfile.go, bounded.go  whole files: written so that a power cut leaves the old or the new one, and read within a bound
//	sharing.go                 files that other processes have open: opened so that none is disturbed, held so that no other has them
//	child.go, child_run.go     this program again, for work that may crash or hang in a library; its parent outlives it
//	worker.go                  jobs beside the frame path, on a thread that gives way, which rest by the processor time that they took
//	thread_linux.go            that thread
//	realtime_linux.go          the same where the process has a real-time priority
//
// Elsewhere than on Windows a file that is open may be written, renamed and removed by anybody. There its opener says what others may, and os.Open
// (Go 1.26) says read and write, not rename and remove: a microscope's program that renames or replaces the file that is followed would fail.
package system
