// Package suite is what the tests of several packages and the laboratory share: which tests are long, and what none may leave behind.
//
//	fakecamera.go  Aravis' simulated GigE Vision camera on the loopback interface: a real protocol, and pixels that tell which frame they are of
//	port.go        ports of this machine for servers that are started soon, each for one of them
//	pty_linux.go   pseudo-terminals: what a serial device is to the program that writes to it, with its other end here
//	wallclock_linux_amd64.go  steps the wall clock of one process and of no other. Go reads the clock in the vDSO, so neither a time namespace nor a
//	                          preloaded library reaches it: the process's own copy of the vDSO is rewritten
package suite

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Long skips a test under -short, which make test asks for, and make test-long under the race detector: there it takes several times as long, and
// shorter ones watch the same goroutines.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long: make test-long runs it")
	}
}

// Calculation skips a test under the race detector with -short, as make test-long runs it: what it does is one goroutine's, or shorter tests watch the same ones,
// and there it takes some ten seconds. make race has it.
func Calculation(t testing.TB) {
	t.Helper()
	if raced && testing.Short() {
		t.Skip("a calculation: make race runs it under the race detector")
	}
}

// Unsound is the status of a process that left something behind.
const Unsound = 99

// Goroutines is status, or Unsound where a goroutine was left behind, but for one: nats.go 1.55.0 leaves a goroutine behind where an object was
// put before that goroutine had begun, on a busy machine: it waits on a channel that is nil by then.
func Goroutines(status int) int {
	if err := goleak.Find(goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return Unsound
	}
	return status
}
