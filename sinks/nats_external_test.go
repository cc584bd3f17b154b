package sinks

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/internal/bus"
	"driftscope/internal/bus/bustest"
)

// accounts starts a server with the configuration that is shipped, and returns a way in for each of its users.
func accounts(t *testing.T) (as func(user string) string) {
	t.Helper()
	text, err := os.ReadFile("../configs/nats-server.conf")
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"DRIFTSCOPE", "VIEWER", "OPERATOR"} {
		t.Setenv(user+"_PASSWORD", "hunter2")
	}
	s := bustest.Start(t, strings.Replace(string(text), "/var/lib/nats", t.TempDir(), 1))
	host := strings.TrimPrefix(s.URL(), "nats://")
	return func(user string) string { return "nats://" + user + ":hunter2@" + host }
}

func dial(t *testing.T, at string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(at, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // refusals are what is tested
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// TestPermissions: by the configuration that is shipped, a viewer sees and asks and cannot command, publish or listen to commands; an
// operator commands.
func TestPermissions(t *testing.T) {
	as := accounts(t)
	b, err := bus.Connect(t.Context(), bus.Options{URL: as("driftscope")})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, applied := newControlled(t, Env{Stream: "bead", Bus: b})
	defer closeSink(t, s)
	if err := b.NATS().Flush(); err != nil {
		t.Fatal(err)
	}
	viewer, operator := dial(t, as("viewer")), dial(t, as("operator"))
	request := func(nc *nats.Conn, name string) (string, error) {
		m, err := nc.Request("driftscope.local.bead.cmd."+name, nil, 500*time.Millisecond)
		if err != nil {
			return "", err
		}
		return string(m.Data), nil
	}
	seen, err := viewer.SubscribeSync("driftscope.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := viewer.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pause", "reset", "stop", "dance"} {
		if text, err := request(viewer, name); err == nil {
			t.Errorf("a viewer commands %s: %s", name, text)
		}
	}
	if len(applied) != 0 {
		t.Fatal("a viewer's command reached the runner")
	}
	if text, err := request(operator, "pause"); err != nil || text != "ok" {
		t.Errorf("an operator's command: %q, %v", text, err)
	}
	for _, nc := range []*nats.Conn{viewer, operator} {
		if text, err := request(nc, "info"); err != nil || !strings.Contains(text, `"kind":"info"`) {
			t.Errorf("info: %q, %v", text, err)
		}
		if found := askServices(t, nc, 1); found["bead"].Name != "driftscope" {
			t.Errorf("micro: %v", found)
		}
		if err := nc.Publish("driftscope.local.bead.latent", []byte("forged")); err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Write(t.Context(), event()); err != nil {
		t.Fatal(err)
	}
	m, err := seen.NextMsg(5 * time.Second)
	if err != nil || m.Subject != "driftscope.local.bead.event" {
		t.Errorf("a viewer sees %v, %v: expected the event, and neither commands nor what was forged", m, err)
	}
	if _, err := nats.Connect(strings.Replace(as("viewer"), "hunter2", "hunter3", 1)); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("a wrong password: found %v", err)
	}
}

// TestViewersRead: by the same configuration the program may keep, and a viewer may read what is kept.
func TestViewersRead(t *testing.T) {
	as := accounts(t)
	s, _ := newDurableSink(t, as("driftscope"), t.TempDir(), nil)
	for i := range 20 {
		if err := s.Write(t.Context(), estimate(uint64(i), uint64(i/10)+1)); err != nil {
			t.Fatal(err)
		}
	}
	closeSink(t, s)
	audit(t, as("viewer"), 20)
	audit(t, as("operator"), 20)
}

// TestModelPermissions: by the same configuration an operator keeps models, the program fetches them, and a viewer does neither.
func TestModelPermissions(t *testing.T) {
	as := accounts(t)
	models := func(user string) *bus.Models {
		b, err := bus.Connect(t.Context(), bus.Options{URL: as(user)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		m, err := b.Models()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	operator, large := models("operator"), bytes.Repeat([]byte("model"), 4<<20)
	for range 2 { // the second takes the place of the first
		if err := operator.Put(t.Context(), "spot", "", large); err != nil {
			t.Fatal(err)
		}
	}
	for _, user := range []string{"operator", "driftscope"} {
		got, err := models(user).Get(t.Context(), "spot", int64(len(large)))
		if err != nil || !bytes.Equal(got, large) {
			t.Errorf("%s gets %d bytes of %d: %v", user, len(got), len(large), err)
		}
	}
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := models("viewer").Put(short, "spot", "", []byte("forged")); err == nil {
		t.Error("a viewer keeps a model")
	}
	if kept, err := operator.List(t.Context()); err != nil || len(kept) != 1 || kept[0].Size != int64(len(large)) {
		t.Errorf("the operator lists %v, %v", kept, err)
	}
	if err := operator.Remove(t.Context(), "spot"); err != nil {
		t.Error(err)
	}
}
