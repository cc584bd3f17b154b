package natsink

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the suite when a goroutine outlives it, but for one: nats.go 1.55.0 leaves a goroutine behind where an object was put before that goroutine had begun, on a busy
// machine: it waits on a channel that is nil by then.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"))
}
