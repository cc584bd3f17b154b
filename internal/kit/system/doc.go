// Package system wraps calls to the operating system. Its results survive crashes, power cuts and other processes.
//
//	atomicfile.go, bounded.go  whole files: a write that leaves the old or the new file after a power cut, and a bounded read
//	sharing.go                 files that other processes have open: opened without disturbing them, or held against them
//	child.go, child_run.go     this program as a child, for work that may crash or hang in a library; its parent survives
//	worker.go                  jobs beside the frame path, on a low-priority thread, with rests in proportion to their processor time
//	thread_linux.go            that thread
//	realtime_linux.go          that thread in a process with real-time priority
//
// Except on Windows, any process may write, rename and remove a file that another process has open. On Windows the process that opened the file decides.
// os.Open (Go 1.26) allows reads and writes, but not rename and remove: a microscope's program could then not rename or replace the file that Driftscope
// follows.
package system
