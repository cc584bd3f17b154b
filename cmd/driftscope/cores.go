package main

import (
	"os"
	"runtime"
	"syscall"

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

// yieldCores starts the program anew with OMP_WAIT_POLICY=PASSIVE, unless the user has set a policy. oneDNN's threads wait for
// each other many times a step; by default they spin, and on a machine that does anything else besides training takes three
// times as long. The OpenMP runtime reads the variable when it is loaded, which is before main.
func yieldCores() error {
	const policy = "OMP_WAIT_POLICY"
	if os.Getenv(policy) != "" {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, append(os.Environ(), policy+"=PASSIVE"))
}
