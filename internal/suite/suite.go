// Package suite contains the shared parts of tests and the laboratory, such as skipping long tests and checking for leftovers.
//
//	fakecamera.go  Aravis' simulated GigE Vision camera on the loopback interface: a real protocol, and pixels that identify their frame
//	link.go        forwards TCP connections to servers, and fails like a network, for tests and studies of network failures
//	matprofile.go  counts OpenCV's open matrices under -tags matprofile, so that a test that leaves one open fails (mats.go)
//	port.go        reserves ports of this machine for servers that start soon
//	pty_linux.go   pseudo-terminals: a serial device for the program that writes to it, with its other end here
//	wallclock_linux_amd64.go  steps the wall clock of one process only. Go reads the clock in the vDSO, so neither a time namespace nor a
//	                          preloaded library works: it rewrites the process's own copy of the vDSO
package suite

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Long skips a test with -short. make test sets -short. make test-long also sets it for the race detector, because the test takes several times as long there
// and shorter tests run the same goroutines.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long: make test-long runs it")
	}
}

// Calculation skips a test under the race detector with -short, as in make test-long. Such a test takes some ten seconds there, and uses only one goroutine, or
// goroutines that shorter tests also run. make race runs the test.
func Calculation(t testing.TB) {
	t.Helper()
	if raced && testing.Short() {
		t.Skip("a calculation: make race runs it under the race detector")
	}
}

// Unsound is the exit status of a test process that left something behind.
const Unsound = 99

// Goroutines returns status, or Unsound if a goroutine is left. One leak is allowed: on a busy machine nats.go 1.55.0 leaks a goroutine if an object is stored
// before that goroutine has started. It then waits on a nil channel.
func Goroutines(status int) int {
	if err := goleak.Find(goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return Unsound
	}
	return status
}
