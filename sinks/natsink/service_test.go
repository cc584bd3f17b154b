package natsink

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
	"driftscope/sinks/sinktest"
)

// asker returns a function that sends a command to stream bead and checks the answer.
func asker(t *testing.T, b *bus.Conn) func(name, payload, code, want string) []byte {
	return func(name, payload, code, want string) []byte {
		t.Helper()
		m, err := b.NATS().Request("driftscope.local.bead.cmd."+name, []byte(payload), 5*time.Second)
		if err != nil || !strings.Contains(string(m.Data), want) || m.Header.Get(micro.ErrorCodeHeader) != code {
			t.Fatalf("%s: found %+v, %v, expected code %q and %q", name, m, err, code, want)
		}
		return m.Data
	}
}

// TestStay: one service answers without a gap while the stream runs, is stopped, starts and runs again. Its counters continue.
func TestStay(t *testing.T) {
	b := sinktest.Bus(t)
	service, err := NewService(b, "bead")
	if err != nil {
		t.Fatal(err)
	}
	env := Env{Stream: "bead", Bus: b, Service: service, About: func() About { return About{Source: "sim:one"} }}
	ask := asker(t, b)
	if _, err := b.NATS().Request("driftscope.local.bead.cmd.stop", nil, 5*time.Second); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("before the first run: %v, expected nobody who answers", err)
	}
	s, _ := newControlled(t, env)
	ask("pause", "", "", "ok")
	ask("info", "", "", "sim:one")
	last := sinktest.Health()
	last.State, last.Problem = "stopped", "source: gone"
	if err := s.Write(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	sinktest.Close(t, s)

	// Before any Wait, a request still gets an answer.
	ask("stats", "", "", `"state":"stopped","problem":"source: gone"`)
	ask("info", "", "", "sim:one")
	ask("snapshot", "", "", `"state":"stopped","problem":"source: gone"`)
	for _, name := range []string{"pause", "stop"} {
		ask(name, "", "409", name+": the stream is stopped: send start")
	}
	ask("dance", "", "404", "is not known")

	heard, err := b.NATS().SubscribeSync("driftscope.local.bead.health")
	if err != nil {
		t.Fatal(err)
	}
	started := make(chan Start)
	go func() {
		for range 2 {
			start, ok := service.Wait(t.Context(), *last)
			if !ok {
				t.Error("Wait ended")
			}
			started <- start
		}
		close(started)
	}()
	for range 2 {
		m, err := heard.NextMsg(5 * time.Second)
		var h latent.Health
		if err != nil || json.Unmarshal(m.Data, &h) != nil || h.State != "stopped" || h.Problem != "source: gone" || h.Frames != 20 || time.Since(h.Time) > 5*time.Second {
			t.Fatalf("found %+v, %v", h, err)
		}
	}
	if err := heard.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	ask("start", `{"config": "kv"}`, "400", `send nothing, or {"config": true}`)
	ask("start", `{"config": true}}`, "400", `send nothing, or {"config": true}`)
	ask("start", `{} {}`, "400", "send nothing")
	go func() {
		start := <-started
		start.Reply(latent.Refuse(latent.Conflict, "start: config %v: no such camera", start.Config))
	}()
	ask("start", `{"config": true}`, "409", "config true: no such camera")
	go func() {
		start := <-started
		env.About = func() About { return About{Source: "sim:two"} }
		s, _ = newControlled(t, env)
		start.Reply(nil)
	}()
	ask("start", "", "", "ok")
	ask("info", "", "", "sim:two")
	ask("pause", "", "", "ok")
	<-started
	if found := askServices(t, b.NATS(), 1); found["bead"].Name != "driftscope" {
		t.Errorf("found %+v", found)
	} else {
		for _, e := range found["bead"].Endpoints {
			if e.Name == "start" && e.NumRequests != 5 {
				t.Errorf("%d starts are counted, expected 5", e.NumRequests)
			}
		}
	}
	sinktest.Close(t, s)

	// A start that comes after the last Wait is refused at the end.
	inbox, err := b.NATS().SubscribeSync(nats.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.NATS().PublishRequest("driftscope.local.bead.cmd.start", inbox.Subject, nil); err != nil {
		t.Fatal(err)
	}
	ask("info", "", "", "sim:two")
	if err := service.Close(); err != nil {
		t.Error(err)
	}
	if m, err := inbox.NextMsg(5 * time.Second); err != nil || !strings.Contains(string(m.Data), "the process is ending") || m.Header.Get(micro.ErrorCodeHeader) != "503" {
		t.Errorf("a start at the end was answered %v, %v", m, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok := service.Wait(ended, *last); ok {
		t.Error("Wait found a start after its end")
	}
}

// TestStartWhileEnding: a start that arrives while a run ends is accepted after its end.
func TestStartWhileEnding(t *testing.T) {
	b := sinktest.Bus(t)
	service, err := NewService(b, "bead")
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	s, err := New(sinktest.Decoder(t, nil), Env{Stream: "bead", Bus: b, Service: service}) // nothing applies its commands
	if err != nil {
		t.Fatal(err)
	}
	inbox, err := b.NATS().SubscribeSync(nats.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.NATS().PublishRequest("driftscope.local.bead.cmd.start", inbox.Subject, nil); err != nil {
		t.Fatal(err)
	}
	asker(t, b)("info", "", "", `"kind":"info"`) // by another queue than start's, but after
	sinktest.Close(t, s)
	start, ok := service.Wait(t.Context(), *sinktest.Health())
	if !ok {
		t.Fatal("Wait ended")
	}
	start.Reply(nil)
	if m, err := inbox.NextMsg(5 * time.Second); err != nil || string(m.Data) != "ok" {
		t.Errorf("found %v, %v", m, err)
	}
}
