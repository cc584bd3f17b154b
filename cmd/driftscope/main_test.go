package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"driftscope/infer"
	"driftscope/internal/suite"
)

// TestMain fails the suite if a goroutine or, under -tags matprofile, a Mat outlives it. The same applies to every command that a
// test runs in a separate process, and to the processes that sources and models start.
func TestMain(m *testing.M) {
	capture := len(os.Args) == 2 && os.Args[1] == "capture"
	child := capture || len(os.Args) == 2 && os.Args[1] == infer.TrialCommand
	if os.Getenv(asDriftscope) == "" && !child {
		suite.Main(m)
	}
	if capture {
		if err := suite.WithoutRawSockets(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if child && !capture && os.Getenv(diesInTrial) != "" {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := execute(ctx, os.Args[1:])
	stop()
	notePeak()
	os.Exit(suite.Mats(suite.Goroutines(status)))
}

// peakFile names the environment variable with a file in which a command writes the peak resident memory of itself and its children, in bytes. The usage that
// the system reports for an ended process is unsuitable, because it starts with the parent's memory.
const peakFile = "DRIFTSCOPE_TEST_PEAK"

func notePeak() {
	path := os.Getenv(peakFile)
	if path == "" {
		return
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kB int
	fmt.Sscan(after, &kB)
	if before, err := os.ReadFile(path); err == nil { // of a child process that ended before
		child, _ := strconv.Atoi(string(before))
		kB = max(kB, child>>10)
	}
	os.WriteFile(path, strconv.AppendInt(nil, int64(kB)<<10, 10), 0o600)
}
