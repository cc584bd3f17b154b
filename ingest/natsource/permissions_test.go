package natsource

import (
	"os"
	"strings"
	"testing"

	"driftscope/ingest/ingesttest"
	"driftscope/ingest/wire"
	"driftscope/internal/bus/bustest"
	"driftscope/internal/frame"
)

// shipped runs a server with the configuration that is shipped, with some of its text replaced, and returns a way in for each of its users.
func shipped(t *testing.T, replaced ...string) (as func(user string) string) {
	t.Helper()
	text, err := os.ReadFile("../../configs/nats-server.conf")
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"DRIFTSCOPE", "CAMERA", "VIEWER", "OPERATOR", "READER", "MODELS", "POOL"} {
		t.Setenv(user+"_PASSWORD", "hunter2")
	}
	replaced = append(replaced, "./nats ", t.TempDir()+" ", "127.0.0.1:8080", "127.0.0.1:-1", "127.0.0.1:4222", "127.0.0.1:-1")
	s := bustest.Start(t, strings.NewReplacer(replaced...).Replace(string(text)))
	return func(user string) string {
		return "nats://" + user + ":hunter2@" + strings.TrimPrefix(s.URL(), "nats://")
	}
}

// TestDurablePermissions: by the configuration that is shipped, the run makes the stream of a camera in another account, and what that publishes is
// kept, without a confirmation. The camera itself cannot ask JetStream. A user with the rights of docs/howto/frames.md publishes with confirmations.
func TestDurablePermissions(t *testing.T) {
	as := shipped(t, "      {\n        # sees everything", `{user: trusted, password: hunter2, permissions {
		publish: ["camera.dot", "$JS.API.STREAM.INFO.frames_camera_dot", "$JS.API.STREAM.CREATE.frames_camera_dot", "$JS.API.DIRECT.GET.frames_camera_dot"]
		subscribe: ["_INBOX.>"]}}
		{ # sees everything`)
	trusted, camera := dialled(t, as("trusted")), dialled(t, as("camera"))
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
	o := Durably{Subject: "camera.bead", Keep: small, Warn: t.Logf}
	if _, err := NewDurablePublisher(t.Context(), camera, o); err == nil {
		t.Error("a camera asks JetStream")
	}
	o.Subject = "camera.dot"
	durable, err := NewDurablePublisher(t.Context(), trusted, o)
	if err != nil {
		t.Fatal(err)
	}
	defer durable.Close()
	if err := trusted.NATS().Publish("camera.dot", []byte("junk")); err != nil { // so that it has to ask for the last message
		t.Fatal(err)
	}
	give(t, durable, 0, 3)
}
