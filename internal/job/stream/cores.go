//go:build cgo

package stream

import (
	"os"
	"runtime"

	"driftscope/infer"
	"driftscope/internal/flow/frame"
)

// ShareCores prepares a worker's process, which assembles streams while others run. It calls giveCores for several lanes in advance.
func ShareCores() { giveCores(2) }

// giveCores prepares the process for the given number of lanes of frames. With several lanes, a call into OpenCV uses only its caller's core. Go runs
// two goroutines per core at once, unless the user sets GOMAXPROCS. A lane in OpenCV counts as a goroutine. With one per core, the camera's frames,
// commands and the NATS server would have to wait while all lanes are in OpenCV.
func giveCores(lanes int) {
	frame.KeepMemory()
	if lanes > 1 {
		infer.SetThreads(1)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2 * runtime.NumCPU())
	}
}
