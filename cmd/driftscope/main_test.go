package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"testing"

	"go.uber.org/goleak"

	"driftscope/internal/fakecamera"
)

// TestMain fails the suite when a goroutine or, under -tags matprofile, a Mat outlives it. The same goes for every command that a
// test drives in a process of its own, and for the processes that sources start.
func TestMain(m *testing.M) {
	child := len(os.Args) == 2 && os.Args[1] == "capture"
	if os.Getenv(asDriftscope) == "" && !child {
		os.Exit(sound(m.Run()))
	}
	if child {
		if err := fakecamera.WithoutRawSockets(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := execute(ctx, os.Args[1:])
	stop()
	os.Exit(sound(status))
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
