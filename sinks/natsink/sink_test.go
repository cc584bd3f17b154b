package natsink

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
	"driftscope/sinks/sinktest"
)

// TestNATS: a subscriber on another connection receives the written messages on the right subjects and in order.
func TestNATS(t *testing.T) {
	b := sinktest.Bus(t)
	other, err := nats.Connect(b.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	sub, err := other.SubscribeSync("driftscope.local.bead.*")
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Flush(); err != nil {
		t.Fatal(err)
	}
	s, err := New(sinktest.Decoder(t, nil), Env{Stream: "bead", Bus: b})
	if err != nil {
		t.Fatal(err)
	}
	messages := []latent.Message{sinktest.Estimate(0, 0), sinktest.Estimate(1, 1), sinktest.Estimate(2, 1), sinktest.Event(), sinktest.Health(), sinktest.View(), sinktest.Trigger(3), sinktest.Estimate(3, 2)}
	for _, m := range messages {
		if err := s.Write(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	sinktest.Close(t, s)
	kinds, want := sinktest.Lines(t, (&message.Encoder{Stream: "bead"}).Encode, messages...)
	glances := 0
	for i := 0; i < len(want); i++ {
		m, err := sub.NextMsg(5 * time.Second)
		if err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		if m.Subject == "driftscope.local.bead.glance" {
			if string(m.Data) != want[max(i-1, 0)] && !strings.Contains(string(m.Data), `"seq":2`) { // the latent before, or the last unsampled one
				t.Errorf("found a glance of %s after %s", m.Data, want[max(i-1, 0)])
			}
			glances++
			i--
			continue
		}
		if m.Subject != "driftscope.local.bead."+string(kinds[i]) || string(m.Data) != want[i] {
			t.Errorf("found %s %s\nexpected %s %s", m.Subject, m.Data, kinds[i], want[i])
		}
	}
	if glances < 2 { // the first latent, and the last one before health, however slow the machine is
		t.Errorf("found %d glances", glances)
	}
}

func TestNATSWhileServerIsAway(t *testing.T) {
	server, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	b, err := bus.Connect(t.Context(), bus.Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := New(sinktest.Decoder(t, nil), Env{Stream: "bead", Bus: b})
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	for end := time.Now().Add(5 * time.Second); err == nil; time.Sleep(time.Millisecond) {
		if err = s.Write(t.Context(), sinktest.Estimate(1, 0)); time.Now().After(end) {
			t.Fatal("no write failed after the server ended")
		}
	}
	if _, lost := errors.AsType[latent.Undelivered](err); !lost {
		t.Errorf("found %v, expected an error that costs one message", err)
	}
	sinktest.Close(t, s)
}
