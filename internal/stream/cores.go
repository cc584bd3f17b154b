package stream

import (
	"os"
	"runtime"

	"driftscope/infer"
	"driftscope/internal/frame"
)

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
