//go:build cgo

package stream

import (
	"os"
	"runtime"

	"driftscope/infer"
	"driftscope/internal/flow/frame"
)

// ShareCores prepares a worker's process, which assembles streams while others run. It does the work of giveCores for several lanes in advance.
func ShareCores() { giveCores(2) }

// giveCores prepares the process for so many lanes of frames. With several lanes, a call into OpenCV uses only its caller's core. Go runs twice as many
// goroutines at once as there are cores, unless the user sets a number. A lane in OpenCV counts as one goroutine. If all lanes were in OpenCV, the
// camera's frame, a command and the NATS server would wait.
func giveCores(lanes int) {
	frame.KeepMemory()
	if lanes > 1 {
		infer.SetThreads(1)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2 * runtime.NumCPU())
	}
}
