package natsink

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the suite if a goroutine outlives it, with two exceptions. On a busy machine nats.go 1.55.0 leaks a goroutine if an object is stored before
// that goroutine has started; it then waits on a nil channel. nats-server 2.15 waits 30 s for the source of a stream that is deleted at once.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"),
		goleak.IgnoreTopFunction("github.com/nats-io/nats-server/v2/server.(*stream).trySetupSourceConsumer.func3"))
}
