//go:build cgo

package stream

import (
	"os"
	"runtime"

	"driftscope/infer"
	"driftscope/internal/flow/frame"
)

// ShareCores prepares a process that assembles streams while others run, which a worker does: what giveCores does for several lanes, before there is any.
func ShareCores() { giveCores(2) }

// giveCores prepares the process for so many lanes of frames. Where there are several, a call into OpenCV has its caller's core alone. Go runs
// twice as many goroutines at once as there are cores, unless the user says how many: a lane in OpenCV counts as one, and with all of them there
// the camera's frame, a command and the NATS server would wait.
func giveCores(lanes int) {
	frame.KeepMemory()
	if lanes > 1 {
		infer.SetThreads(1)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2 * runtime.NumCPU())
	}
}
