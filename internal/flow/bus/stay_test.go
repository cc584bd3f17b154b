package bus

import (
	"testing"

	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/bus/bustest"
)

// TestStay: a connection moves to another server after three consecutive failures, moves again only after more failures, and stays if there is only one server.
func TestStay(t *testing.T) {
	first, second := bustest.Start(t, ""), bustest.Start(t, "")
	c := connect(t, Options{URL: first.URL() + "," + second.URL()}).NATS()
	at := c.ConnectedUrl()
	moved := func(want bool) {
		t.Helper()
		if want {
			wait(t, "another server", func() bool { return c.Status() == nats.CONNECTED && c.ConnectedUrl() != at })
			at = c.ConnectedUrl()
		} else if is := c.ConnectedUrl(); is != at {
			t.Fatalf("at %s, expected to stay at %s", is, at)
		}
	}
	var s Stay
	for range mostTries - 1 {
		s.Failed(c)
	}
	s.Worked()
	for range mostTries - 1 {
		s.Failed(c)
	}
	moved(false)
	s.Failed(c)
	moved(true)
	for range 2*mostTries - 1 {
		s.Failed(c)
	}
	moved(false)
	s.Failed(c)
	moved(true)
	alone, here := connect(t, Options{URL: first.URL()}).NATS(), Stay{}
	for range 4 * mostTries {
		here.Failed(alone)
	}
	if n := alone.Stats().Reconnects; n != 0 {
		t.Errorf("a connection with one server has moved %d times", n)
	}
}
