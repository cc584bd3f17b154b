package natsource

import (
	"testing"

	"driftscope/ingest/ingesttest"
	"driftscope/ingest/wire"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/frame"
)

// TestDurablePermissions: with the shipped server configuration, a run can create the stream of a camera in another account, and the camera can publish to it,
// with and without confirmations.
func TestDurablePermissions(t *testing.T) {
	as := bustest.Shipped(t)
	camera := dialled(t, as("camera"))
	s := &Durable{assembly: assembly{options: natsOptions{Subject: "camera.bead", URL: as("driftscope"), Durable: &small}}}
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p, err := NewPublisher(camera, "camera.bead", wire.Raw)
	if err != nil {
		t.Fatal(err)
	}
	for seq := range uint64(3) {
		if err := p.Publish(ingesttest.Noisy(t, seq, 3, 2, frame.MatTypeCV8UC1)); err != nil {
			t.Fatal(err)
		}
	}
	if got := story(t, s, 3); got != "0+0 1+0 2+0" {
		t.Error(got)
	}
	durable, err := NewDurablePublisher(t.Context(), camera, Durably{Subject: "camera.bead", Keep: small, Warn: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	defer durable.Close()
	if err := camera.NATS().Publish("camera.bead", []byte("junk")); err != nil { // makes the publisher request the last message
		t.Fatal(err)
	}
	give(t, durable, 0, 3)
}
