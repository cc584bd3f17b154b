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

	"go.uber.org/goleak"

	"driftscope/infer"
	"driftscope/internal/fakecamera"
)

// TestMain fails the suite when a goroutine or, under -tags matprofile, a Mat outlives it. The same goes for every command that a
// test drives in a process of its own, and for the processes that sources and models start.
func TestMain(m *testing.M) {
	capture := len(os.Args) == 2 && os.Args[1] == "capture"
	child := capture || len(os.Args) == 2 && os.Args[1] == infer.TrialCommand
	if os.Getenv(asDriftscope) == "" && !child {
		os.Exit(sound(m.Run()))
	}
	if capture {
		if err := fakecamera.WithoutRawSockets(); err != nil {
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
	os.Exit(sound(status))
}

// peakFile names the file in which a command leaves the most memory that it had resident, in bytes. The account of a process that has ended
// would not do: it begins with that of its parent.
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
	os.WriteFile(path, strconv.AppendInt(nil, int64(kB)<<10, 10), 0o600)
}

// sound is status, or 99 where something was left behind, but for one goroutine: nats.go 1.55.0 leaves a goroutine behind where an object was put before that goroutine had begun, on a busy
// machine: it waits on a channel that is nil by then.
func sound(status int) int {
	if err := goleak.Find(goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 99
	}
	if n := leakedMats(); n != 0 {
		fmt.Fprintf(os.Stderr, "%d Mats were not closed\n", n)
		status = 99
	}
	return status
}

// long skips a test under -short, which make test asks for beside the race detector: there it takes several times as long, and shorter ones
// watch the same goroutines.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long beside the race detector: run without -short")
	}
}
