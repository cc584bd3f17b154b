package natsink

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
	"driftscope/sinks/sinktest"
)

// TestTriggersAreKept: with durability a trigger is published live, before its frame's latent, and stored once. A trigger made while the server was away is
// also stored, but never published late.
func TestTriggersAreKept(t *testing.T) {
	t.Parallel()
	server := keeper(t)
	s, b := newDurableSink(t, server.URL(), t.TempDir(), nil)
	write := func(messages ...latent.Message) {
		t.Helper()
		for _, m := range messages {
			if err := s.Write(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
	}
	nc := dial(t, server.URL())
	live, err := nc.SubscribeSync("driftscope.local.bead.*")
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	write(sinktest.Trigger(1), sinktest.Estimate(1, 0))
	for _, want := range []string{"driftscope.local.bead.trigger", "driftscope.local.bead.latent"} {
		if m, err := live.NextMsg(5 * time.Second); err != nil || m.Subject != want {
			t.Fatalf("found %v, %v, expected %s", m, err, want)
		}
	}
	server.Kill()
	for end := time.Now().Add(10 * time.Second); b.Connected() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	write(sinktest.Trigger(2))
	server.Run()
	suite.Until(t, func() bool { return !(!b.Connected() || !s.durable.spool.Empty()) }, func() string { return fmt.Sprintf("not all is confirmed: %+v", s.durable.kept()) })
	if m, err := live.NextMsg(200 * time.Millisecond); err == nil && m.Subject == "driftscope.local.bead.trigger" {
		t.Errorf("an old trigger was published live: %s", m.Data)
	}
	js, err := jetstream.New(dial(t, server.URL()))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := js.Stream(t.Context(), "driftscope_local_bead")
	if err != nil {
		t.Fatal(err)
	}
	for sequence, want := range map[uint64]uint64{1: 1, 3: 2} { // 2 is the latent
		m, err := kept.GetMsg(t.Context(), sequence)
		if err != nil {
			t.Fatal(err)
		}
		r, err := message.Decode(latent.KindTrigger, m.Data)
		if err != nil || m.Subject != "driftscope.local.bead.kept.trigger" || r.(*message.TriggerRecord).Seq != want {
			t.Errorf("%s %s (%v), expected the trigger of frame %d", m.Subject, m.Data, err, want)
		}
	}
	if last := kept.CachedInfo().State.LastSeq; last != 3 {
		t.Errorf("%d messages are kept, expected 3", last)
	}
	sinktest.Close(t, s)
}
