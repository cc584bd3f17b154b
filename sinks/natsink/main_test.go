package natsink

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the suite when a goroutine outlives it, but for two. nats.go 1.55.0 leaves a goroutine behind where an object was put before that goroutine had begun, on a busy
// machine: it waits on a channel that is nil by then. nats-server 2.15 waits 30 s for the source of a stream that is deleted at once.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"),
		goleak.IgnoreTopFunction("github.com/nats-io/nats-server/v2/server.(*stream).trySetupSourceConsumer.func3"))
}
